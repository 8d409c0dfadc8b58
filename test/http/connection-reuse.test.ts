// When a connection is used again and when it is not, where a new one goes, and what a clock that jumps does to it.
import { getEventListeners, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { GatewayClient } from 'payment-gateway-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CARD, errorOf, ID, KEYS, OTHER_ID, record } from '../support/fixtures.ts';
import { type Connection, http, type Script } from '../support/tcp.ts';
import { certificate, distrustOurs, trustOurs } from '../support/tls.ts';
import { answers, created, sleep, withGateway } from './connection-cases.ts';
import type { ThreadedGateway } from './threaded-gateway.ts';

beforeAll(trustOurs);
afterAll(distrustOurs);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** What the gateway announces, how much later the next create comes, and whether the connection is used again. */
it.each([
  ['', 3_999, true],
  ['', 4_000, false],
  ['timeout=10', 8_999, true],
  ['timeout=10', 9_000, false],
  ['timeout=10, max=100', 8_900, true],
  ['max=100, timeout=10', 9_000, false],
  ['Timeout=10', 8_900, true],
  ['max=100', 3_900, true],
  ['timeout=1', 0, false],
  // More than a timer takes.
  ['timeout=2592000', 3_600_000, true],
  [`timeout=${'9'.repeat(400)}`, 3_600_000, true],
])('an idle connection with "%s" announced is after %i ms used again: %s', async (announced, ms, isUsed) => {
  const header = announced && `keep-alive: ${announced}\r\n`;
  const onRequest = ({ socket }: Connection) =>
    void socket.write(http(created).replace('content-type', `${header}content-type`));
  await withGateway({ onRequest }, undefined, { retries: 0 }, async (client, gateway) => {
    // It stands still otherwise: how long the calls take must not count.
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    await client.createDeposit(CARD);
    now += ms;
    await client.createDeposit(CARD);
    vi.restoreAllMocks();
    expect(gateway.connections).toBe(isUsed ? 1 : 2);
    if (!isUsed) await expect.poll(() => gateway.ends.length, { interval: 5 }).toBe(1);
  });
});

describe('a connection of which the gateway, while this process is busy,', () => {
  const unasked = http(created).replaceAll(ID, OTHER_ID);
  /** The two ways for a create to begin: by something read, after which the event loop does not look at sockets; by a timer. */
  const begins = { read: () => readFile(import.meta.filename), timer: () => sleep(1) };
  it.each([
    ['takes leave', 'read', undefined, undefined],
    ['takes leave', 'timer', undefined, undefined],
    ['takes leave over TLS', 'read', undefined, 'server'],
    ['tells something unasked', 'read', unasked, undefined],
    ['tells something unasked', 'timer', unasked, undefined],
    ['tells something unasked over TLS', 'read', unasked, 'server'],
    ["takes leave of the merchant's own agent", 'read', undefined, undefined, new Agent({ keepAlive: true })],
    ["tells the merchant's own agent something unasked", 'read', unasked, undefined, new Agent({ keepAlive: true })],
  ] as const)('%s is not used for the next create (begun by a %s)', async (_, begin, unasked, certificate, agent?) => {
    const isDone = new Int32Array(new SharedArrayBuffer(4));
    const workerData: ThreadedGateway = { certificate, answer: http(created), unasked, isDone };
    const gateway = new Worker(new URL('./threaded-gateway.ts', import.meta.url), { workerData });
    onTestFinished(() => void gateway.terminate());
    const [baseUrl] = await once(gateway, 'message');
    const client = new GatewayClient({ ...KEYS, baseUrl, retries: 0, timeout: 20_000, agent });
    await client.createDeposit(CARD);
    await begins[begin]();
    gateway.postMessage('go');
    Atomics.wait(isDone, 0, 0);
    // For the kernel to deliver it, where others keep it busy.
    Atomics.wait(isDone, 0, 1, 100);
    expect((await client.createDeposit(CARD)).payment.id).toBe(ID);
    gateway.postMessage('tell');
    expect(await once(gateway, 'message')).toEqual([[2, 2]]);
  });
});

describe('a new connection', () => {
  it.each([new Error('the shop closes'), 0, 'enough'])(
    'is given up at once, while TLS begins, for the reason %s',
    async reason => {
      const controller = new AbortController();
      const script: Script = { onConnect: () => setTimeout(() => controller.abort(reason), 20) };
      await withGateway(script, undefined, { timeout: 20_000 }, async ({ baseUrl }, gateway) => {
        const client = new GatewayClient({ ...KEYS, baseUrl: baseUrl.replace('http:', 'https:'), timeout: 20_000 });
        const error = await errorOf(client.createDeposit(CARD, { signal: controller.signal }));
        expect(error).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
        await expect.poll(() => gateway.ends.length, { interval: 5 }).toBe(1);
        expect([gateway.connections, getEventListeners(controller.signal, 'abort')]).toEqual([1, []]);
      });
    },
  );

  it('is made for each call on Deno, which sends a POST again if a reused one breaks', async () => {
    vi.stubGlobal('Deno', { version: { deno: '2.9.0' } });
    onTestFinished(() => void vi.unstubAllGlobals());
    await withGateway({ onRequest: answers }, undefined, {}, async (client, gateway) => {
      for (let call = 0; call < 2; call++) await client.createDeposit(CARD);
      expect([gateway.creates, gateway.connections]).toEqual([2, 2]);
    });
  });

  it.each([
    ['http://127.0.0.1', { host: '127.0.0.1', port: 80 }],
    ['https://127.0.0.1', { host: '127.0.0.1', port: 443 }],
    ['https://127.0.0.1:8443', { host: '127.0.0.1', port: 8443 }],
    ['https://[::1]', { host: '::1', port: 443 }],
  ])('to %s goes there, and sends without delay', async (baseUrl, expected) => {
    const asked: object[] = [];
    vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
      asked.push((args[0] as [object])[0]);
      return this.destroy(
        Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect', code: 'ECONNREFUSED' }),
      );
    });
    const error = await errorOf(new GatewayClient({ ...KEYS, baseUrl, retries: 0 }).createDeposit(CARD));
    expect(error).toMatchObject({ code: 'ECONNREFUSED', outcome: 'not_sent' });
    expect(asked).toEqual([{ ...expected, noDelay: true }]);
  });

  /** An agent whose first connections do not come about. */
  class Unreachable extends Agent {
    #failures: number;
    constructor(failures: number) {
      super();
      this.#failures = failures;
    }
    override createConnection(...args: Parameters<Agent['createConnection']>) {
      const [, callback] = args;
      if (this.#failures-- <= 0) return super.createConnection(...args);
      const refused = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect', code: 'ECONNREFUSED' });
      process.nextTick(() => callback?.(refused, undefined as never));
      return undefined;
    }
  }

  it.each<[string, object | undefined]>([
    ['the SDK’s own', undefined],
    ['an agent', { agent: new Unreachable(2) }],
  ])('that is refused twice brings the create at the third time, once: %s', async (_, options) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let refused = 0;
    const { connect } = Socket.prototype;
    if (!options) {
      vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
        if (refused++ >= 2) return Reflect.apply(connect, this, args);
        return this.destroy(Object.assign(new Error('refused'), { syscall: 'connect', code: 'ECONNREFUSED' }));
      });
    }
    await withGateway({ onRequest: answers }, undefined, { retries: 2, ...options }, async (client, gateway) => {
      expect((await client.createDeposit(CARD)).payment.id).toBe(ID);
      expect(gateway.creates).toBe(1);
    });
  });

  it('that is refused, and then breaks, leaves the create in doubt, and unrepeated', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const breaks: Script = { onRequest: ({ rst }) => rst() };
    const options = { retries: 9, agent: new Unreachable(1) };
    await withGateway(breaks, undefined, options, async (client, gateway) => {
      expect(await errorOf(client.createDeposit(CARD))).toMatchObject({ outcome: 'unknown' });
      expect(gateway.creates).toBe(1);
    });
  });

  it('over TLS names the host, speaks HTTP/1.1 alone, and goes on with the session of the one before', async () => {
    const seen: unknown[] = [];
    const server = createTlsServer(
      { ...certificate('server'), ALPNProtocols: ['h2', 'http/1.1'] },
      (request, response) => {
        const { servername, alpnProtocol, isSessionReused } = request.socket as TLSSocket & { servername: unknown };
        seen.push([servername, alpnProtocol, isSessionReused.call(request.socket)]);
        response.writeHead(201, { connection: 'close' }).end(created);
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
    const client = new GatewayClient({ ...KEYS, baseUrl });
    for (let call = 0; call < 2; call++) await client.createDeposit(CARD);
    expect(seen).toEqual([
      ['localhost', 'http/1.1', false],
      ['localhost', 'http/1.1', true],
    ]);
    server.close();
  });
});

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
])('a base address at %s keeps its path and its name', async (address, host) => {
  const seen: unknown[] = [];
  const keys: unknown[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    const { host, 'content-length': length, 'transfer-encoding': coding } = headers;
    seen.push([method, url, host, Number(length) > 100, coding]);
    keys.push(headers.authorization);
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(method === 'POST' ? created : record('completed lookup'));
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new GatewayClient({ ...KEYS, baseUrl: `http://${host}:${port}/shop/` });
  await client.createDeposit(CARD);
  await client.getPayment(ID);
  expect(seen).toEqual([
    ['POST', '/shop/api/v1/payments', `${host}:${port}`, true, undefined],
    ['GET', `/shop/api/v1/payments/${ID}`, `${host}:${port}`, false, undefined],
  ]);
  expect(keys).toEqual([`Bearer ${KEYS.apiKey}`, `Bearer ${KEYS.apiKey}`]);
  server.close();
  server.closeAllConnections();
});

it.each([
  ['forward while the create connects: nothing is sent any more', 60_000, 0, 'not_sent'],
  ['back: nothing changes', -60_000, 1, undefined],
])('a clock that jumps %s', async (_, ms, creates, outcome) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const script: Script = { onConnect: () => void vi.setSystemTime(Date.now() + ms), onRequest: answers };
  await withGateway(script, 'server', { timeout: 20_000, retries: 0 }, async (client, gateway) => {
    const ended: unknown = await client.createDeposit(CARD).catch(error => error);
    expect((ended as { outcome?: string }).outcome).toBe(outcome);
    expect(gateway.creates).toBe(creates);
    if (creates === 0) await expect.poll(() => gateway.ends.length, { interval: 5 }).toBe(1);
  });
});
