// One command line of the sandbox from its arguments to its exit code, in this process; cli.test.ts starts it for real.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type Listening, Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { run as runCommand } from '../../src/sandbox/cli/program.ts';
import { call } from '../../src/sandbox/cli/remote.ts';
import { LIBRARY } from '../../src/sandbox/scenarios/library.ts';
import { errorOf } from '../support/fixtures.ts';

const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: answer }) });
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
  const code = await runCommand(args);
  return { code, out: told.log.join('\n'), err: told.error.join('\n') };
}
/** Against the sandbox of this file. */
const ask = (...args: string[]) => run(...args, '--url', server.url);

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
    told.log.length = 0;
    const usage = expect.stringMatching(/^Usage: payment-gateway-sandbox trigger /);
    expect(await run('help', 'trigger')).toEqual({ code: 0, out: usage, err: '' });
  });

  it('that is not understood ends with 2', async () => {
    expect(await run('srve')).toEqual({
      code: 2,
      out: '',
      err: 'payment-gateway-sandbox: No command is called "srve". Did you mean serve?',
    });
  });

  it('that the SDK refuses ends with 2, too', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await run('--port', '0')).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^payment-gateway-sandbox: The sandbox does not start under NODE_ENV=production/),
    });
  });

  it('whose wait was in vain ends with 1', async () => {
    const { payment } = await sandbox.play('deposit-completed');
    const waited = await ask('wait', '--id', payment.id, '--status', 'FAILED', '--timeout', '5ms');
    expect(waited).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^payment-gateway-sandbox: .* is COMPLETED/),
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
  it('is at one place', async () => {
    expect(await ask('list', '--port', '5')).toMatchObject({
      code: 2,
      err: "payment-gateway-sandbox: option '--url <url>' cannot be used with option '--port <number>'",
    });
    expect(await run('list', '--port', new URL(server.url).port)).toMatchObject({ code: 0, out: 'No such payment.' });
  });

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

  it('is asked at its own port, unless another place is named', async () => {
    const seen = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('down'));
    for (const place of [{}, { port: 5 }, { url: 'http://sandbox:80/' }]) await call(place, 'getInfo').catch(() => {});
    await call({}, 'listCalls', { paymentId: undefined, limit: 1 }).catch(() => {});
    await call({}, 'disarmFault', {}, 'a/b').catch(() => {});
    await call({}, 'armFault', { fault: 'drop' }).catch(() => {});
    const asked = (url: string) => [url, { method: 'GET', redirect: 'manual' }];
    expect(seen.mock.calls.map(([url, init]) => [String(url), init])).toEqual([
      asked('http://127.0.0.1:4010/_sandbox/info'),
      asked('http://127.0.0.1:5/_sandbox/info'),
      asked('http://sandbox/_sandbox/info'),
      asked('http://127.0.0.1:4010/_sandbox/calls?limit=1'),
      ['http://127.0.0.1:4010/_sandbox/faults/a%2Fb', { method: 'DELETE', redirect: 'manual' }],
      [
        'http://127.0.0.1:4010/_sandbox/faults',
        {
          ...{ method: 'POST', redirect: 'manual', body: '{"fault":"drop"}' },
          headers: { 'content-type': 'application/json' },
        },
      ],
    ]);
    const error = await errorOf(call({ url: 'http://127.0.0.1' }, 'getInfo'));
    expect((error as Error).message).toMatch(
      /at http:\/\/127\.0\.0\.1\. Start one: npx payment-gateway-sandbox --port 80$/,
    );
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
    const refusal = { code: 'final', message: 'It is final.\nTo move it anyway: { force: true }.' };
    told.error.length = 0;
    expect(await run('list', '--url', await openServer(409, headers, JSON.stringify(refusal)))).toMatchObject({
      code: 2,
      err: 'payment-gateway-sandbox: It is final.·To move it anyway: --force.',
    });
    told.error.length = 0;
    const late = { code: 'timeout', message: 'too\nlate' };
    expect(await run('list', '--url', await openServer(408, headers, JSON.stringify(late)))).toMatchObject({
      code: 1,
      err: 'payment-gateway-sandbox: too·late',
    });
  });
});

describe('a move by reference', () => {
  const reference = 'order-1';
  const create = async () => {
    const { payment } = await sandbox.play({
      create: { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 5, currency: 'EUR', reference },
    });
    return payment.id;
  };

  it('moves its only payment, and lists several', async () => {
    const first = await create();
    expect((await ask('authorize', reference)).code).toBe(0);
    const second = await create();
    expect(await ask('complete', reference)).toMatchObject({
      code: 2,
      err: `payment-gateway-sandbox: Several payments have the reference order-1: ${second} (PENDING), ${first} (AUTHORIZED). Pass the id of one.`,
    });
    expect((await ask('show', reference)).out).toContain(second);
  });
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

  it('says that nothing was checked, where nobody was called back', async () => {
    const alone = await new Sandbox().listen();
    onTestFinished(() => alone.close());
    const { code, out } = await run('trigger', 'deposit-completed', '--url', alone.url);
    const [payment, note, ...rest] = out.split('\n');
    expect([code, payment, note, rest]).toEqual([
      0,
      expect.stringMatching(/^COMPLETED {2}deposit-completed-/),
      expect.stringMatching(/^Nobody was called back, so nothing was checked/),
      [],
    ]);
  });

  it('ends with 2 where a fault of callbacks has met no server', async () => {
    const alone = await new Sandbox().listen();
    onTestFinished(() => alone.close());
    const { code, out } = await run('trigger', 'callback-forged', '--url', alone.url);
    expect([code, out]).toEqual([2, expect.stringContaining('Nobody was called back')]);
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
  it('follows what happens, tells nothing twice, and ends with the sandbox', async () => {
    const own = new Sandbox({ fetch: async () => new Response() });
    const opened = await own.listen();
    await own.play('deposit-completed');
    const following = run('logs', '--follow', '--json', '--url', opened.url);
    const events = () => told.log.map(line => JSON.parse(line));
    await expect.poll(() => events().length).toBe(2);
    own.reset();
    const { payment } = await own.play('deposit-completed');
    await expect.poll(() => events().filter(({ type }) => type === 'callback').length).toBe(2);
    await own.idle();
    await opened.close();
    expect(await following).toMatchObject({ code: 0, err: '' });
    expect(events().map(({ type, paymentId }) => (type === 'move' ? paymentId : type))).toEqual([
      'request',
      'callback',
      // All of them are disarmed.
      'fault',
      'reset',
      'request',
      payment.id,
      'callback',
      'scenario',
    ]);
  });

  it('prints the latest, the oldest of them first, as many as are wanted', async () => {
    for (let count = 0; count < 3; count++) {
      await sandbox.play('deposit-completed');
      sandbox.clock.advance(1_000);
    }
    const { code, out } = await ask('logs', '--limit', '3');
    expect([code, out.split('\n').map(line => line.slice(9, 21))]).toEqual([
      0,
      ['200 callback', '201 POST /ap', '200 callback'],
    ]);
    told.log.length = 0;
    expect((await ask('logs')).out.split('\n')).toHaveLength(6);
  });

  it('tells nothing of what is still under way, and of calls in the order in which they came', async () => {
    const own = new Sandbox({ fetch: () => new Promise(() => {}) });
    const opened = await own.listen();
    onTestFinished(() => opened.close());
    for (const path of ['one', 'two', 'three']) await fetch(`${opened.url}/api/v1/payments/${path}`);
    const { payment } = await own.play({
      create: { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 1, currency: 'EUR' },
    });
    await own.complete(payment.id);
    own.faults.next('slow', { on: 'lookup', ms: 60_000 });
    const waiting = fetch(`${opened.url}/api/v1/payments/${payment.id}`, {
      headers: { authorization: `Bearer ${own.clientOptions.apiKey}` },
    }).catch(() => {});
    await expect.poll(() => own.calls.length).toBe(5);
    const { out } = await run('logs', '--url', opened.url);
    expect(out.split('\n').map(line => / \/api\/v1\/payments(\S*)/.exec(line)?.[1])).toEqual([
      '/one',
      '/two',
      '/three',
      '',
    ]);
    own.reset();
    await waiting;
  });

  it('prints what came within a millisecond in the order in which it came', async () => {
    const own = new Sandbox({ fetch: async () => new Response(), now: () => Date.UTC(2026, 10, 25) });
    const opened = await own.listen();
    onTestFinished(() => opened.close());
    await own.play('deposit-authorized');
    for (const path of ['one', 'two']) await own.fetch(`${opened.url}/api/v1/payments/${path}`);
    expect(own.deliveries.map(({ at }) => at)).toEqual([own.clock.now(), own.clock.now()]);
    const { out } = await run('logs', '--url', opened.url);
    expect(out.split('\n').map(line => line.slice(9).replace(/ {2}.*/, ''))).toEqual([
      '201 POST /api/v1/payments',
      '401 GET /api/v1/payments/one',
      '401 GET /api/v1/payments/two',
      expect.stringMatching(/^200 callback AUTHORIZED/),
      expect.stringMatching(/^200 callback COMPLETED/),
    ]);
  });

  it('prints as many as are wanted, also more than it does by itself', async () => {
    for (let count = 0; count < 51; count++) await sandbox.play('deposit-completed');
    const { out } = await ask('logs', '--limit', '102');
    expect(out.match(/201 POST/g)).toHaveLength(51);
    expect(out.match(/200 callback/g)).toHaveLength(51);
  });

  it('follows events that come in pieces, and passes over those of a later version', async () => {
    const call = { id: 1, at: 0, method: 'GET', path: '/seen', answer: { status: 200 }, durationMs: 1 };
    const event = { type: 'request', at: 0, callId: 1, method: 'GET', path: '/seen', status: 200, durationMs: 1 };
    const lines = [
      { type: 'unheard-of', at: 0 },
      { ...event, path: '/seen', callId: 1 },
      { type: 'reset', at: 0 },
      { ...event, path: '/bücher' },
    ];
    const stream = Buffer.from(`\n${lines.map(line => `${JSON.stringify(line)}\n`).join('')}`);
    // In the middle of a line, and of a letter.
    const cuts = [0, 10, stream.indexOf('ü') + 1, stream.length];
    const answers: Record<string, string> = {
      '/_sandbox/calls': JSON.stringify({ calls: [call] }),
      '/_sandbox/deliveries': JSON.stringify({ deliveries: [] }),
    };
    const opened = createServer(async ({ url = '' }, response) => {
      response.setHeader('server', 'payment-gateway-sandbox');
      const answer = answers[url.replace(/\?.*/, '')];
      if (answer !== undefined) return response.end(answer);
      for (const [index, begin] of cuts.slice(0, -1).entries()) {
        response.write(stream.subarray(begin, cuts[index + 1]));
        await new Promise(resolve => setTimeout(resolve, 20));
      }
      return response.end();
    }).listen(0, '127.0.0.1');
    await once(opened, 'listening');
    onTestFinished(() => void opened.close());
    const { port } = opened.address() as AddressInfo;
    const { out } = await run('logs', '--follow', '--port', String(port));
    expect(out.split('\n').map(line => line.slice(9))).toEqual([
      '200 GET /seen  1 ms',
      '    reset',
      '200 GET /bücher  1 ms',
    ]);
  });

  it('tells why a call was refused, by which fault, and why a callback did not arrive', async () => {
    const own = new Sandbox({
      fetch: async () => {
        throw new Error('connect ECONNREFUSED');
      },
    });
    const opened = await own.listen();
    onTestFinished(() => opened.close());
    own.faults.next('reject-422');
    await own.fetch(`${opened.url}/api/v1/payments`, { method: 'POST', body: '{}' });
    await own.play(
      {
        create: { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 1, currency: 'EUR' },
        steps: [{ move: 'complete' }],
      },
      { to: 'http://127.0.0.1:1/' },
    );
    const { out } = await run('logs', '--url', opened.url);
    expect(out.split('\n').map(line => line.slice(9).replace(/\d+ ms/, 'n ms'))).toEqual([
      expect.stringMatching(/^4\d\d POST \/api\/v1\/payments {2}n ms {2}.*\w/),
      expect.stringMatching(/^201 POST/),
      expect.stringMatching(/^--- callback COMPLETED → http:\/\/127\.0\.0\.1:1\/ {2}.*ECONNREFUSED.* delivery 1$/),
    ]);
  });
});

it('scenarios prints one as JSON, too', async () => {
  const { out } = await run('scenarios', 'callback-forged', '--json');
  expect(JSON.parse(out)).toEqual({
    name: 'callback-forged',
    does: 'A card deposit is authorised, and somebody forges a callback of ten times its amount.',
    text: LIBRARY['callback-forged'],
  });
});

it('list says how many there are beyond those that it shows', async () => {
  for (let count = 0; count < 3; count++) await sandbox.play('deposit-completed');
  expect((await ask('list', '--limit', '2')).out).toMatch(/\n3 in all: --limit shows more\.$/);
  told.log.length = 0;
  const { out } = await ask('list', '--limit', '3');
  expect(out).not.toContain('in all');
  expect(out).toMatch(new RegExp(`${sandbox.payments[0]?.id}$`));
  told.log.length = 0;
  expect((await ask('list', '--limit', '3')).out.split('\n')).toHaveLength(4);
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

it.each([
  ['redeliver', 'first', 'redeliver takes a number, and not "first".'],
  ['redeliver', '1st', 'redeliver takes a number, and not "1st".'],
  ['redeliver', 'a1', 'redeliver takes a number, and not "a1".'],
])('%s %s is refused', async (name, given, message) => {
  expect(await ask(name, given)).toMatchObject({ code: 2, err: `payment-gateway-sandbox: ${message}` });
});
