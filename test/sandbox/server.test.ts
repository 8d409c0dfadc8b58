// The sandbox over HTTP: which names it answers to, and what becomes of those who leave.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { ConfigurationError } from 'payment-gateway-sdk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ListenOptions, listen } from '../../src/sandbox/api/server.ts';
import { errorOf } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';

type Handler = Parameters<typeof listen>[0];

async function serving(handler: Handler = async () => new Response('here'), options: ListenOptions = {}) {
  const server = await listen(handler, options);
  onTestFinished(() => server.close());
  return server;
}

async function answerOf(url: string, options: object = {}) {
  const outgoing = request(url, { agent: false, ...options });
  outgoing.on('error', () => {});
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return incoming;
}

describe('the name in the Host header', () => {
  const REFUSED = 'The sandbox answers on loopback names only, and on those it is told to: --allow-host.';

  it.each([
    ...['localhost', 'LOCALHOST:4010', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:4010', 'sandbox', 'sandbox:1'],
  ])('%s is answered', async host => {
    const { url } = await serving(undefined, { allowHosts: ['sandbox'] });
    const answer = await answerOf(url, { headers: { host } });
    expect([answer.statusCode, answer.headers.server, await text(answer)]).toEqual([
      200,
      'payment-gateway-sandbox',
      'here',
    ]);
  });

  it.each([
    ...['shop.example', 'evil.localhost', 'localhost.evil', 'localhost:4010.evil', '127.0.0.1:123456', 'x127.0.0.1'],
    ...['sandbox.evil', 'sandbox:123456', 'sand:80box', 'a@localhost'],
  ])('%s is refused', async host => {
    const handler = vi.fn<Handler>();
    const { url } = await serving(handler, { allowHosts: ['sandbox'] });
    const answer = await answerOf(url, { headers: { host } });
    expect([answer.statusCode, await text(answer)]).toEqual([403, REFUSED]);
    expect(handler).not.toHaveBeenCalled();
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some(list => list?.some(({ family }) => family === 'IPv6'));

describe('the address', () => {
  it.each<[string, RegExp]>([
    ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['localhost', /^http:\/\/localhost:\d+$/],
  ])('of %s can be called from this machine', async (host, url) => {
    expect((await serving(undefined, { host })).url).toMatch(url);
  });

  it.skipIf(lacks(hasIpv6, 'the sandbox at ::1: no IPv6', true)).each<[string, RegExp]>([
    ['::', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['::1', /^http:\/\/\[::1\]:\d+$/],
  ])('of %s can be called, too', async (host, url) => {
    expect((await serving(undefined, { host })).url).toMatch(url);
  });

  it.each([
    [{ port: 65_536 }, 'port must be a number from 0 to 65535'],
    [{ host: '' }, 'host must be a name or an address, without a port'],
    [{ host: 7 }, 'host must be a name or an address, without a port'],
    [{ allowHosts: 'shop' }, 'allowHosts must be a list of names'],
    [{ allowHosts: ['shop:80'] }, 'must be a name or an address, without a port'],
  ])('%j is refused', async (options, problem) => {
    const error = await errorOf(listen(async () => new Response(), options as never));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(new RegExp(`^sandbox\\.listen: .*${problem}`));
  });
});

/** A stream that writes one piece and then waits. */
function waiting() {
  const cancel = vi.fn();
  let controller: ReadableStreamDefaultController | undefined;
  const body = new ReadableStream({
    start(own) {
      controller = own;
      own.enqueue(new TextEncoder().encode('one'));
    },
    cancel,
  });
  return { body, cancel, fail: () => controller?.error(new Error('cut')) };
}

describe('a connection', () => {
  it('that its caller ends aborts the request, and nothing more of the answer is made', async () => {
    const { body, cancel } = waiting();
    const signals: AbortSignal[] = [];
    const { url } = await serving(async ({ signal }) => {
      signals.push(signal);
      return new Response(body);
    });
    const answer = await answerOf(url);
    await once(answer, 'data');
    expect(signals[0]?.aborted).toBe(false);
    answer.destroy();
    await vi.waitFor(() => expect([signals[0]?.aborted, cancel.mock.calls.length]).toEqual([true, 1]), 60_000);
  });

  it('is cut where the answer breaks: what came before it arrives', async () => {
    const { body, fail } = waiting();
    const { url } = await serving(async () => new Response(body));
    const answer = await answerOf(url);
    const [piece] = await once(answer, 'data');
    fail();
    const error = await errorOf(once(answer, 'end'));
    expect([String(piece), error]).toEqual(['one', expect.objectContaining({ code: 'ECONNRESET' })]);
  });

  it('is cut where the handler fails', async () => {
    const { url } = await serving(async () => {
      throw new Error('broken');
    });
    const outgoing = request(url).end();
    const [error] = await once(outgoing, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });

  it('is ended with the server, also while it is answered', async () => {
    const { body } = waiting();
    const server = await serving(async () => new Response(body));
    const answer = await answerOf(server.url);
    await once(answer, 'data');
    const ended = errorOf(once(answer, 'end'));
    await server.close();
    expect(await ended).toMatchObject({ code: 'ECONNRESET' });
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
  });
});
