// One command line of the sandbox from its arguments to its exit code, in this process; cli.test.ts starts it for real.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type Listening, Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { run as runCommand } from '../../src/sandbox/cli/program.ts';
import { SCENARIOS } from '../../src/sandbox/scenarios/library.ts';
import { CREATE } from '../support/eventful.ts';
import { errorOf } from '../support/fixtures.ts';

const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: answer }), seed: 'work' });
let answer: number;
let server: Listening;
let told: Record<'log' | 'error', string[]>;

beforeAll(async () => {
  server = await sandbox.listen();
});
afterAll(() => server.close());
beforeEach(() => {
  answer = 200;
  sandbox.reset();
  told = { log: [], error: [] };
  for (const name of ['log', 'error'] as const)
    vi.spyOn(console, name).mockImplementation(line => void told[name].push(stripVTControlCharacters(String(line))));
});
afterEach(() => vi.restoreAllMocks());

/** Runs it to its end. */
async function run(...args: string[]) {
  for (const lines of Object.values(told)) lines.length = 0;
  const code = await runCommand(args);
  return { code, out: told.log.join('\n'), err: told.error.join('\n') };
}
/** Against the sandbox of this file. */
const ask = (...args: string[]) => run(...args, '--url', server.url);

/** A command line against the sandbox of this file: its exit code, and what it printed. */
async function line(text: string) {
  const { code, out, err } = await ask(...text.split(' '));
  return { code, out, json: () => JSON.parse(out), refusal: `${code} ${err.replace('payment-gateway-sandbox: ', '')}` };
}
const create = async (reference: string) => (await sandbox.play({ create: { ...CREATE, reference } })).payment;

/** A server that answers so. */
async function openServer(status: number, headers: Record<string, string>, body: string) {
  const opened = createServer((_, response) => response.writeHead(status, headers).end(body)).listen(0, '127.0.0.1');
  await once(opened, 'listening');
  onTestFinished(() => {
    opened.closeAllConnections();
    opened.close();
  });
  return `http://127.0.0.1:${(opened.address() as AddressInfo).port}`;
}

describe('a command', () => {
  it('that asks nobody prints, and ends well', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await run('--version')).toEqual({ code: 0, out: version, err: '' });
    const usage = expect.stringMatching(/^Usage: payment-gateway-sandbox trigger /);
    expect(await run('help', 'trigger')).toEqual({ code: 0, out: usage, err: '' });
  });

  it('that is not understood ends with 2', async () => {
    expect(await run('srve')).toEqual({
      code: 2,
      out: '',
      err: 'payment-gateway-sandbox: unknown command "srve" (did you mean "serve"?)',
    });
  });

  it('that meets a fault of its own says so in full', async () => {
    const broken = new TypeError('a bug');
    vi.spyOn(Response.prototype, 'text').mockRejectedValue(broken);
    expect(await errorOf(ask('list'))).toBe(broken);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('that serves goes on until %s, and then frees its port', async signal => {
    // Other files of this process have listeners too.
    const listening = () => (['SIGINT', 'SIGTERM'] as const).flatMap(name => process.listeners(name) as unknown[]);
    const others = new Set(listening());
    const running = run('--port', '0', '--json');
    onTestFinished(async () => {
      process.emit(signal);
      await running;
    });
    await expect.poll(() => told.log.length).toBe(1);
    const { url } = JSON.parse(told.log[0] ?? '');
    expect((await fetch(`${url}/_sandbox/info`)).status).toBe(200);
    const own = listening().filter(listener => !others.has(listener));
    expect(own).toHaveLength(2);
    process.emit(signal);
    await new Promise(setImmediate);
    expect(listening().filter(listener => own.includes(listener))).toEqual([]);
    expect(await running).toMatchObject({ code: 0, err: '' });
    await expect(fetch(`${url}/_sandbox/info`)).rejects.toThrow();
    const free = await new Sandbox().listen({ port: Number(new URL(url).port) });
    await free.close();
  });
});

describe('a sandbox', () => {
  it.each<[string[], string]>([
    [['--port', '1'], 'at http://127.0.0.1:1. Start one: npx payment-gateway-sandbox --port 1'],
    [['--url', 'http://127.0.0.1:1/path'], 'at http://127.0.0.1:1. Start one: npx payment-gateway-sandbox --port 1'],
    [['--url', 'http://localhost:1'], 'at http://localhost:1. Start one: npx payment-gateway-sandbox'],
  ])('that is not there can be started: %j', async (place, advice) => {
    expect(await run('list', ...place)).toMatchObject({
      code: 2,
      err: `payment-gateway-sandbox: No sandbox answers ${advice}`,
    });
  });

  it('is asked where the command line says, then the environment, then at its usual port', async () => {
    const seen = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('down'));
    await run('list');
    vi.stubEnv('PAYMENT_GATEWAY_URL', 'http://sandbox:80/');
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const place of [[], ['--port', '5'], ['--url', 'http://other:7']]) await run('list', ...place);
    expect(seen.mock.calls.map(([url]) => new URL(String(url)).origin)).toEqual([
      ...['http://127.0.0.1:4010', 'http://sandbox', 'http://127.0.0.1:5', 'http://other:7'],
    ]);
  });

  it('is not any server', async () => {
    const url = await openServer(200, {}, '{}');
    expect(await run('reset', '--url', url)).toMatchObject({
      code: 2,
      err: `payment-gateway-sandbox: The server at ${url} is not the sandbox: pass its --port or its --url.`,
    });
  });

  it('refuses in its own words, on one line', async () => {
    const headers = { server: 'payment-gateway-sandbox' };
    expect(await run('list', '--url', await openServer(400, headers, 'no\n\u001b[2J'))).toMatchObject({
      code: 2,
      err: 'payment-gateway-sandbox: no··[2J',
    });
    const late = { code: 'timeout', message: 'too\nlate' };
    expect(await run('list', '--url', await openServer(408, headers, JSON.stringify(late)))).toMatchObject({
      code: 1,
      err: 'payment-gateway-sandbox: too·late',
    });
  });
});

it('a move by reference moves its only payment, and lists several', async () => {
  const first = await create('order/1');
  expect((await ask('authorize', 'order/1')).code).toBe(0);
  const second = await create('order/1');
  expect(await ask('complete', 'order/1')).toMatchObject({
    code: 2,
    err: `payment-gateway-sandbox: Several payments have the reference order/1: ${second.id} (PENDING), ${first.id} (AUTHORIZED). Pass the id of one.`,
  });
  expect((await ask('show', 'order/1')).out).toContain(second.id);
});

describe('trigger', () => {
  it('plays a scenario of the library, and prints each delivery', async () => {
    const to = 'http://127.0.0.1:1/callbacks';
    const { code, out, err } = await ask('trigger', 'deposit-completed', '--to', to);
    const [payment] = sandbox.payments;
    expect([code, err, out.split('\n')]).toEqual([
      0,
      '',
      [
        `COMPLETED  ${payment?.reference}  ${payment?.id}`,
        expect.stringMatching(/^200 callback COMPLETED → http:\/\/127\.0\.0\.1:1\/callbacks {2}\d+ ms {2}delivery 1$/),
      ],
    ]);
  });

  it('ends with 1, and says why, where the server is wrong', async () => {
    answer = 500;
    const { code, out } = await ask('trigger', 'deposit-completed', '--to', 'http://127.0.0.1:1/');
    expect([code, out.split('\n').slice(1)]).toEqual([
      1,
      [
        expect.stringMatching(/^500 callback COMPLETED/),
        expect.stringMatching(
          /^Not as expected: expect, callback 1 of 1 \(COMPLETED\): expected taken, but it was answered 500\./,
        ),
      ],
    ]);
  });

  it('ends with 2 where a fault of callbacks has met no server', async () => {
    const alone = await new Sandbox().listen();
    onTestFinished(() => alone.close());
    const { code, out } = await run('trigger', 'callback-forged', '--url', alone.url);
    expect([code, out]).toEqual([2, expect.stringContaining('No callback was posted')]);
  });

  it('plays a file, also from standard input', async () => {
    const scenario = 'create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 5, currency: EUR, reference: mine }';
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([scenario]) as never);
    const { code, out } = await ask('trigger', '-', '--json');
    expect([code, JSON.parse(out)]).toMatchObject([0, { payment: { reference: 'mine' }, problems: [] }]);
    expect(await ask('trigger', 'nowhere.yaml')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^payment-gateway-sandbox: nowhere\.yaml cannot be read: ENOENT/),
    });
  });
});

describe('logs', () => {
  const typesOf = (lines: string[]) => lines.map(line => JSON.parse(line).type);

  it('follows what happens, tells nothing twice, and ends with the sandbox', async () => {
    const own = new Sandbox({ fetch: async () => new Response() });
    const opened = await own.listen();
    await own.play('deposit-completed');
    const following = run('logs', '--follow', '--json', '--url', opened.url);
    const events = ['request', 'move', 'callback', 'scenario'];
    await expect.poll(() => typesOf(told.log)).toEqual(events);
    own.reset();
    await own.play('deposit-completed');
    await expect.poll(() => typesOf(told.log)).toEqual([...events, 'fault', 'reset', ...events]);
    await opened.close();
    expect(await following).toMatchObject({ code: 0, err: '' });
  });

  it('prints the latest, the oldest of them first, as many as are wanted', async () => {
    await sandbox.play('deposit-authorized');
    await sandbox.fetch(`${server.url}/api/v1/payments/x`);
    const { code, out } = await ask('logs', '--limit', '3');
    expect([code, out.split('\n').map(line => line.slice(9, 25).trim())]).toEqual([
      0,
      ['200 callback COM', 'deposit-auth', '401 GET /api/v1/'],
    ]);
    for (let count = 0; count < 60; count++) sandbox.clock.advance(1);
    expect((await ask('logs')).out.split('\n')).toHaveLength(50);
  });

  it('reads events that come in pieces, and passes over those of a later version', async () => {
    const event = { type: 'request', at: 0, callId: 1, method: 'GET', path: '/bücher', status: 200, durationMs: 1 };
    const stream = Buffer.from(`\n{"type":"unheard-of","at":0}\n${JSON.stringify(event)}\n`);
    const opened = createServer(async (_, response) => {
      response.setHeader('server', 'payment-gateway-sandbox');
      response.flushHeaders();
      // In the middle of a line, and of a letter.
      for (const cut of [10, stream.indexOf('ü') + 1, stream.length]) {
        response.write(stream.subarray(written, cut));
        written = cut;
        await new Promise(setImmediate);
      }
      response.end();
    }).listen(0, '127.0.0.1');
    let written = 0;
    await once(opened, 'listening');
    onTestFinished(() => void opened.close());
    const { out } = await run('logs', '--port', String((opened.address() as AddressInfo).port));
    expect(out.slice(9)).toBe('200 GET /bücher  1 ms');
  });
});

it.each([
  ['is not answered', 0, 1],
  ['is answered 200', 200, 0],
  ['is answered 299', 299, 0],
  ['is answered 300', 300, 1],
])('redeliver says with its exit code whether a callback that %s was taken', async (_, status, code) => {
  await sandbox.play('deposit-completed');
  // No Response can have the status 0: it throws, as a connection that fails.
  answer = status;
  expect((await ask('redeliver', '1')).code).toBe(code);
});

it('lists payments, by state, reference and words', async () => {
  expect((await line('list')).out).toBe('No such payment.');
  const { id } = await create('order-1');
  await sandbox.complete((await create('order-2')).id);
  const { out, code } = await line('list');
  expect(code).toBe(0);
  expect(out).toMatch(
    new RegExp(`STATE +REFERENCE[\\s\\S]*COMPLETED +order-2 [\\s\\S]*PENDING +order-1 +25.50 EUR +CARD .* ${id}`),
  );
  for (const only of ['--status PENDING', '--reference order-1', '--search ER-1']) {
    expect((await line(`list ${only} --json`)).json()).toMatchObject({ total: 1, payments: [{ id }] });
  }
  expect((await line('list --limit 1')).out).toContain('2 in all: --limit shows more.');
});

it('shows a payment by its id or its reference, and moves it', async () => {
  const { id } = await create('order-1');
  expect(await line('authorize order-1')).toMatchObject({ code: 0, out: `AUTHORIZED  order-1  ${id}` });
  expect((await line(`fail ${id} --reason Unpaid --json`)).json()).toMatchObject({ errorMessage: 'Unpaid' });
  expect((await line('complete order-1')).refusal).toContain(
    'is FAILED, which is final. To move it anyway, pass force.',
  );
  await line('complete order-1 --force --amount 20');
  await line('cancel order-1 --force');
  await sandbox.idle();
  const { out } = await line('show order-1');
  for (const line of [
    'state         CANCELED',
    'asked for     DEPOSIT by CARD, 25.50 EUR\n  amount        20.00 EUR',
    '201 POST',
    '200 callback FAILED',
  ]) {
    expect(out).toContain(line);
  }
  expect((await line(`show ${id} --json`)).json()).toMatchObject({ payment: { id }, timeline: expect.any(Array) });
  expect((await line('show order-9')).refusal).toContain('The sandbox has no payment order-9');
});

it('waits for a payment, and says what there is instead', async () => {
  const { id } = await create('order-1');
  const coming = line('wait --reference order-1 --status COMPLETED --answered');
  await sandbox.complete(id);
  expect(await coming).toMatchObject({ code: 0, out: `COMPLETED  order-1  ${id}` });
  expect((await line(`wait --id ${id} --status FAILED --timeout 5ms`)).refusal).toMatch(/^1 .* is COMPLETED/);
  expect((await line('wait')).refusal).toBe('2 Say which payment to wait for: pass its id or reference.');
});

it('arms faults, lists them, and disarms one or all', async () => {
  const arming = 'fault reject-429 --on lookup --count 3 --probability 0.5 --reference order-1';
  expect((await line(arming)).out).toBe('armed: reject-429');
  await line('fault slow --ms 250ms');
  expect((await line('faults')).out).toBe(
    '  1  The next 3 lookups with reference order-1 meet `reject-429`, with probability 0.5 each time.\n' +
      '  2  The next create meets `slow`, of 250 ms.',
  );
  expect((await line('faults --disarm 1 --json')).json()).toMatchObject({
    faults: [{ id: 2, fault: 'slow', ms: 250 }],
  });
  expect((await line('faults --disarm first')).refusal).toContain('--disarm takes a number, and not "first".');
  expect((await line('faults --disarm 9')).refusal).toContain('No fault 9 is armed');
  expect((await line('faults --disarm all')).out).toBe('No fault is armed.');
  expect((await line('fault drop --ms 5')).refusal).toMatch(/^2 ms is for slow and callback-delay, and not for drop\./);
});

it('posts a callback again, also with the body of a file', async () => {
  await sandbox.play('deposit-completed');
  expect(await line('redeliver 1')).toMatchObject({ code: 0, out: expect.stringContaining('again 1') });
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'body.json');
  writeFileSync(file, '{"paymentStatus":"COMPLETED"}');
  answer = 400;
  const { code, json } = await line(`redeliver 1 --body ${file} --json`);
  expect([code, json()]).toEqual([
    1,
    expect.objectContaining({ body: '{"paymentStatus":"COMPLETED"}', isEdited: true }),
  ]);
  expect((await line('redeliver 1 --body nowhere.json')).refusal).toContain('nowhere.json cannot be read');
  expect((await line('redeliver first')).refusal).toBe('2 redeliver takes a number, and not "first".');
  expect((await line('redeliver 99')).refusal).toContain('The sandbox has made no delivery 99.');
});

it('moves the clock, and forgets everything', async () => {
  await create('order-1');
  expect((await line('clock --advance 5m --json')).json()).toMatchObject({ offset: 300_000 });
  expect((await line('clock --at 2031-01-01T00:00:00Z')).out).toMatch(/^2031-01-01T00:00:00\.\d+Z {2}moved by \d+ ms$/);
  expect((await line('clock --advance 1s --at 2031-01-01')).refusal).toContain('pass one');
  expect((await line('reset')).out).toBe('reset');
  expect([sandbox.payments, sandbox.clock.offset]).toEqual([[], 0]);
  expect((await line('clock --json')).json()).toMatchObject({ offset: 0 });
});

it('lists the scenarios, and prints one as the file that it is', async () => {
  expect((await run('scenarios')).out).toMatch(/^ {2}deposit-completed +A card deposit is paid\.$/m);
  expect((await run('scenarios', 'callback-forged')).out).toMatch(
    /^does: A card deposit is authorised, and .*\ncreate: {/,
  );
  expect(JSON.parse((await run('scenarios', '--json')).out)).toEqual(SCENARIOS);
});

it.each([
  ['show order-9', 2, 'unknown_payment', /^The sandbox has no payment order-9/],
  ['wait --reference order-9 --timeout 5ms', 1, 'timeout', /the sandbox has no such payment/],
  ['wait', 2, 'refused', /^Say which payment to wait for/],
  ['list --limit many', 2, 'usage', /^option '--limit <limit>' argument 'many' is invalid/],
  ['redeliver first', 2, 'failed', /^redeliver takes a number/],
  ['scenarios nope', 2, 'unknown_scenario', /^unknown scenario "nope"; there are: /],
])('under --json, the error of %s is JSON', async (command, code, name, message) => {
  const place = command.startsWith('scenarios') ? [] : ['--url', server.url];
  const { out, err, code: exitCode } = await run(...command.split(' '), ...place, '--json');
  expect([exitCode, err, JSON.parse(out)]).toEqual([code, '', { code: name, message: expect.stringMatching(message) }]);
});
