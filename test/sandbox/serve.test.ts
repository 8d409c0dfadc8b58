// The sandbox as the command line runs it, in this process: what it prints, what it is told, and how it ends.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { GatewayClient } from 'payment-gateway-sdk';
import { type Played, Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ServeOptions, serve } from '../../src/sandbox/cli/serve.ts';
import { CommandError } from '../../src/terminal/program.ts';
import { CARD, errorOf } from '../support/fixtures.ts';
import { fakeTimers } from '../support/passing-time.ts';
import { openShop } from '../support/shop.ts';
import { certificate } from '../support/tls.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(options: Partial<ServeOptions> = {}) {
  const lines: string[] = [];
  const complaints: string[] = [];
  const { url, close } = await serve(
    { port: 0, ...options },
    line => lines.push(stripVTControlCharacters(line)),
    line => complaints.push(line),
  );
  closing.push(close);
  const { apiKey, signKey } = new Sandbox().clientOptions;
  const gateway = new GatewayClient({ baseUrl: url, apiKey, signKey });
  return { url, close, lines, complaints, gateway };
}

/** A shop that takes callbacks with this status. */
async function shopThat(status: number) {
  const shop = await openShop(() => status);
  onTestFinished(shop.close);
  return shop;
}

const askFor = (url: string, path: string, body: object) =>
  fetch(`${url}/_sandbox${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const moveBy = (url: string, id: string, move: string) => askFor(url, `/payments/${id}/moves`, { move });
/** The next callback is held back for so many milliseconds. */
const delayNext = (url: string, ms: number) => askFor(url, '/faults', { fault: 'callback-delay', ms });

/** How many callbacks are posted while so many milliseconds pass on the faked clock. */
async function postsWithin(ms: number): Promise<number> {
  const fetched = vi.spyOn(globalThis, 'fetch');
  vi.advanceTimersByTime(ms);
  await new Promise(setImmediate);
  const { length } = fetched.mock.calls;
  fetched.mockRestore();
  return length;
}

const folderOf = () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

it('the greeting says where callbacks go, what is kept, and what a client must be told', async () => {
  const state = join(folderOf(), 'state.json');
  const { lines } = await open({
    forwardTo: 'http://127.0.0.1:1/callbacks',
    signatureEncoding: 'base64',
    terminal: 'onramp',
    state,
  });
  const greeting = lines[0]?.split('\n') ?? [];
  expect(greeting).toContain('  Callbacks go to        http://127.0.0.1:1/callbacks');
  expect(greeting).toContain(`  Everything is kept in  ${state} (0 payments)`);
  expect(greeting.slice(-2)).toEqual([
    "  and  new GatewayClient({ signatureEncoding: 'base64', terminal: 'onramp' })",
    '',
  ]);
  const [encoded] = (await open({ signatureEncoding: 'base64' })).lines;
  expect(encoded).toContain("  and  new GatewayClient({ signatureEncoding: 'base64' })\n");
});

describe('what happens', () => {
  it('is a line each', async () => {
    const shop = await shopThat(200);
    const { lines, gateway, url } = await open({ forwardTo: shop.url });
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    await moveBy(url, payment.id, 'complete');
    await expect.poll(() => lines.length).toBe(4);
    expect(lines.slice(1).map(line => line.slice(9))).toEqual([
      expect.stringMatching(new RegExp(`^201 POST /api/v1/payments {2}${payment.id} {2}\\d+ ms$`)),
      `    COMPLETED  order-1  ${payment.id}`,
      expect.stringMatching(/^200 callback COMPLETED → .* delivery 1$/),
    ]);
    expect(shop.posts).toHaveLength(1);
  });

  it('is told no more once it is closed, and no move and no callback comes late', async () => {
    fakeTimers();
    const { url, lines, gateway, close } = await open({ auto: [{ move: 'complete', ms: 500 }] });
    const { payment } = await gateway.createDeposit(CARD);
    await delayNext(url, 600);
    await moveBy(url, payment.id, 'authorize');
    const told = [...lines];
    expect(told.at(-1)).toContain('waits for');
    await close();
    expect(lines).toEqual(told);
    expect(await postsWithin(1_000)).toBe(0);
    expect(lines).toEqual(told);
  });
});

it('--auto moves each new payment, one move after the other, and leaves those of scenarios alone', async () => {
  const { url, gateway, lines } = await open({
    auto: [
      { move: 'complete', ms: 40 },
      { move: 'authorize', ms: 5 },
    ],
  });
  const played = await askFor(url, '/scenarios', {
    scenario: 'create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 1, currency: EUR }',
  });
  const { payment: scene } = (await played.json()) as { payment: { id: string } };
  const { payment } = await gateway.createDeposit(CARD);
  await expect.poll(async () => (await gateway.getPayment(payment.id)).paymentStatus).toBe('COMPLETED');
  expect(
    lines.filter(line => line.includes(`  ${payment.id}`) && !line.includes('POST')).map(line => line.slice(13, 22)),
  ).toEqual(['AUTHORIZE', 'COMPLETED']);
  expect(await gateway.getPayment(scene.id)).toMatchObject({ paymentStatus: 'PENDING' });
});

it('the sandbox is as the options say', async () => {
  const { url, lines } = await open({
    ...{ json: true, apiKey: 'k', signKey: 's', signatureEncoding: 'base64', terminal: 'onramp' },
    ...{ shape: 'unwrapped', latency: 30, seed: 'a' },
    ...{ maxPayments: 2, maxDeliveries: 1, callbackRetries: [5, 10] },
    ...{ forwardTo: (await shopThat(500)).url, allowHost: ['sandbox'], host: '127.0.0.1' },
  });
  const gateway = new GatewayClient({
    baseUrl: url,
    apiKey: 'k',
    signKey: 's',
    signatureEncoding: 'base64',
    terminal: 'onramp',
  });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const { payment } = await gateway.createDeposit(CARD);
  expect(timers.mock.calls.filter(([, ms]) => ms === 30)).toHaveLength(1);
  timers.mockRestore();
  // printf 'a 1' | sha256sum, shaped as a UUID
  expect(payment.id).toBe('042a5f2e-7634-44c8-8a75-691b6b89dfe4');
  const bare = await fetch(`${url}/api/v1/payments/${payment.id}`, { headers: { authorization: 'Bearer k' } });
  expect(await bare.json()).toMatchObject({ id: payment.id });
  expect(
    (await gateway.createDeposit({ ...CARD, paymentMethod: 'ONRAMP_PIX', currency: 'BRL' })).payment.paymentMethod,
  ).toBe('ONRAMP_PIX');
  const webhookUrl = 'https://shop.example/callbacks?token=x';
  const last = await gateway.createDeposit({ ...CARD, webhookUrl });
  await moveBy(url, last.payment.id, 'complete');
  const posts = () => lines.map(line => JSON.parse(line)).filter(({ type }) => type === 'callback');
  await expect.poll(() => posts().length).toBe(3);
  expect(posts().map(({ delivery }) => [delivery.status, delivery.repeats])).toEqual([
    [500, undefined],
    [500, 1],
    [500, 2],
  ]);
  const { deliveries } = (await (await fetch(`${url}/_sandbox/deliveries`)).json()) as {
    deliveries: { url: string }[];
  };
  expect(deliveries).toHaveLength(1);
  expect(deliveries[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=x$/);
  // Of four payments one was final: it has made way.
  await gateway.createDeposit(CARD);
  expect(await (await fetch(`${url}/_sandbox/payments`)).json()).toMatchObject({ total: 3 });
  const asked = request(`${url}/_sandbox/info`, { headers: { host: 'sandbox' } }).end();
  const [{ statusCode }] = await once(asked, 'response');
  expect(statusCode).toBe(200);
});

describe('--state', () => {
  it.each([
    ['is of something else', '{"name":"my-shop"}'],
    ['is damaged', '{'],
  ])('is left as it is, if it %s', async (_, contents) => {
    const state = join(folderOf(), 'state.json');
    writeFileSync(state, contents);
    const error = await errorOf(open({ state }));
    expect(error).toBeInstanceOf(CommandError);
    expect((error as Error).message).toMatch(`--state: ${state} is damaged, or not a file of this sandbox.`);
    expect(readFileSync(state, 'utf8')).toBe(contents);
  });

  it('that cannot be written ends it, and its port is free again', async () => {
    const port = Number(new URL((await open()).url).port);
    await closing.pop()?.();
    const state = join(folderOf(), 'nowhere', 'state.json');
    const error = await errorOf(open({ port, state }));
    expect(error).toBeInstanceOf(CommandError);
    expect((error as Error).message).toMatch(`--state: ${state} cannot be written`);
    await open({ port });
  });
});

describe('a place where it cannot listen', () => {
  it.each([
    ['EADDRINUSE', 'Port 80 is in use, perhaps by another sandbox. --port 0 picks a free one.'],
    ['EMFILE', 'listen EMFILE'],
  ])('is told: %s', async (code, message) => {
    vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function (this: Server) {
      process.nextTick(() => this.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
      return this;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const error = await errorOf(open({ port: 80, host: 'shop' }));
    expect(error).toBeInstanceOf(CommandError);
    expect((error as Error).message).toBe(message);
  });

  it('leaves the callbacks that wait in its file to the one that listens', async () => {
    fakeTimers();
    const state = join(folderOf(), 'state.json');
    const { url, gateway, close } = await open({ state });
    const { payment } = await gateway.createDeposit({ ...CARD, webhookUrl: 'http://127.0.0.1:1/' });
    await delayNext(url, 500);
    await moveBy(url, payment.id, 'complete');
    await close();
    const port = Number(new URL((await open()).url).port);
    expect(await errorOf(open({ state, port }))).toBeInstanceOf(CommandError);
    expect(existsSync(`${state}.lock`)).toBe(false);
    expect(await postsWithin(1_000)).toBe(0);
    await open({ state });
    expect(await postsWithin(1_000)).toBe(1);
  });

  it.each(['203.0.113.7', 'nowhere.invalid'])('is told: the address %s', async host => {
    const error = await errorOf(open({ host }));
    expect(error).toBeInstanceOf(CommandError);
    expect((error as Error).message).toContain(host);
  });
});

it('an option that the sandbox refuses is told by its own words', async () => {
  const error = await errorOf(open({ latency: -1 }));
  expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining('latency') });
});

describe('--skip-verify', () => {
  it('posts callbacks to a server with a certificate of its own', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const shop = createTlsServer(certificate('elsewhere'), (_, response) => response.end()).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    onTestFinished(() => void shop.close());
    const forwardTo = `https://127.0.0.1:${(shop.address() as AddressInfo).port}/callbacks`;
    const answersOf = async (options: Partial<ServeOptions>) => {
      const { url } = await open({ forwardTo, ...options });
      const { deliveries } = (await (await askFor(url, '/scenarios/deposit-completed', {})).json()) as Played;
      return deliveries.map(({ status, error }) => status ?? error);
    };
    expect(await answersOf({})).toEqual([expect.stringMatching(/certificate/)]);
    expect(await answersOf({ skipVerify: true })).toEqual([200]);
  });

  it('is refused without an https address', async () => {
    expect(await errorOf(open({ skipVerify: true, forwardTo: 'http://localhost:3000/' }))).toMatchObject({
      name: 'CommandError',
      message: '--skip-verify is for --forward-to https://….',
    });
  });
});

it('a file of --state belongs to one running server; the lock of a crashed one does not count', async () => {
  const state = join(folderOf(), 'state.json');
  writeFileSync(`${state}.lock`, String(process.ppid));
  const error = await errorOf(open({ state }));
  expect(error).toBeInstanceOf(CommandError);
  expect((error as Error).message).toBe(
    `--state: ${state} belongs to the sandbox with the process id ${process.ppid}, which is running. Stop that one, or name another file.`,
  );
  expect(existsSync(state)).toBe(false);
  const crashed = spawnSync(process.execPath, ['--version']).pid;
  for (const owner of [crashed, 'nobody', '']) {
    writeFileSync(`${state}.lock`, String(owner));
    const { close } = await open({ state });
    expect(readFileSync(`${state}.lock`, 'utf8')).toBe(String(process.pid));
    await close();
    closing.pop();
    expect(existsSync(`${state}.lock`)).toBe(false);
  }
});
