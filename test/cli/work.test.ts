// One sweep or one drain of an app, by the command line: what the app must export, and what is printed and answered.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayClient, SweepHandler } from 'payment-gateway-sdk';
import { ConfigurationError } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Values, WorkCommand } from '../../src/cli/commands.ts';
import { work } from '../../src/cli/work.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';
import { errorOf } from '../support/fixtures.ts';

const DRAINED = { created: 3, refused: 0, postponed: 0, inDoubt: 0 };
const SWEPT = { processed: 2, open: 1, gaveUp: 0, failed: 0 };
const handler: SweepHandler = { process: () => Promise.reject(new Error('No payment is processed here.')) };

/** What the app of a test does. */
interface Doubles {
  drain(options: Parameters<GatewayClient['drain']>[0]): unknown;
  sweep(options: Parameters<GatewayClient['sweep']>[0]): unknown;
  close(): unknown;
  handler?: SweepHandler;
}
let folder: string;
let doubles: Doubles;
let printed: unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'app-'));
  doubles = { drain: vi.fn(() => DRAINED), sweep: vi.fn(() => SWEPT), close: vi.fn(), handler };
  Object.assign(globalThis, { doublesOfWorkTest: doubles });
  printed = [];
  vi.spyOn(console, 'log').mockImplementation(line => void printed.push(JSON.parse(line)));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const EXPORTS = `const { doublesOfWorkTest: doubles } = globalThis;
export const gateway = { drain: async options => doubles.drain(options), sweep: async options => doubles.sweep(options) };
export const handler = doubles.handler;
export const close = async () => doubles.close();`;

/** A module of an app. */
function appOf(text = EXPORTS, name = 'app.mjs'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
const commandOf =
  (name: WorkCommand['name']) =>
  (app?: string, values: Values = {}): WorkCommand => ({ name, args: [], values: { ...(app && { app }), ...values } });
const drain = commandOf('drain');
const sweep = commandOf('sweep');

describe('a drain of an app', () => {
  it('has its options, prints one line, and closes the app when it is done', async () => {
    expect(await work(drain(appOf(), { limit: 5, concurrency: 2, follow: true }))).toBe(0);
    expect(doubles.drain).toHaveBeenCalledExactlyOnceWith({
      limit: 5,
      concurrency: 2,
      follow: true,
      signal: expect.any(AbortSignal),
    });
    expect(printed).toEqual([{ time: expect.stringMatching(/^\d{4}-.*Z$/), command: 'drain', ...DRAINED }]);
    expect(doubles.close).toHaveBeenCalledAfter(doubles.drain as never);
    expect(doubles.sweep).not.toHaveBeenCalled();
  });

  it.each<[Partial<typeof DRAINED>, number]>([
    [{ refused: 1 }, 1],
    [{ inDoubt: 1 }, 1],
    [{ inDoubt: 1, postponed: 1 }, 1],
    [{ postponed: 1 }, 2],
    [{}, 0],
  ])('that ends with %o has the exit code %d', async (counts, code) => {
    doubles.drain = () => ({ ...DRAINED, ...counts });
    const complained = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(await work(drain(appOf()))).toBe(code);
    const waiting =
      'payment-gateway-sdk: 1 planned, and not sent yet: each waits for its next try. The warnings of the drain that tried say why.';
    expect(complained.mock.calls.flat()).toEqual(counts.postponed ? [waiting] : []);
  });
});

describe('a sweep of an app', () => {
  it('has its options and its handler, and prints one line', async () => {
    expect(await work(sweep(appOf(), { limit: 7, concurrency: 3, 'older-than': 0, 'give-up-after': 5 }))).toBe(0);
    expect(doubles.sweep).toHaveBeenCalledExactlyOnceWith({
      limit: 7,
      concurrency: 3,
      olderThan: 0,
      giveUpAfter: 5,
      handler,
      signal: expect.any(AbortSignal),
    });
    expect(printed).toEqual([{ time: expect.any(String), command: 'sweep', ...SWEPT }]);
    expect(doubles.close).toHaveBeenCalledOnce();
    expect(doubles.drain).not.toHaveBeenCalled();
  });

  it.each<[Partial<typeof SWEPT>, number]>([
    [{ gaveUp: 1 }, 1],
    [{ gaveUp: 1, failed: 1 }, 1],
    [{ failed: 1 }, 2],
    [{ open: 9 }, 0],
  ])('that ends with %o has the exit code %d', async (counts, code) => {
    doubles.sweep = () => ({ ...SWEPT, ...counts });
    expect(await work(sweep(appOf()))).toBe(code);
  });

  it('needs the handler, and closes the app all the same', async () => {
    delete doubles.handler;
    const app = appOf();
    const error = await errorOf(work(sweep(app)));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty('message', `${app} exports no handler: what createWebhookHandler returned.`);
    expect(doubles.close).toHaveBeenCalledOnce();
    expect(doubles.sweep).not.toHaveBeenCalled();
  });
});

describe('the module of an app', () => {
  it('may be CommonJS, have a default export, and need no closing', async () => {
    const gateway = '{ drain: options => globalThis.doublesOfWorkTest.drain(options) }';
    expect(await work(drain(appOf(`exports.gateway = ${gateway};`, 'app.cjs')))).toBe(0);
    expect(await work(drain(appOf(`export default { gateway: ${gateway} };`)))).toBe(0);
    expect(doubles.drain).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['exports nothing', ''],
    ['exports a gateway that is none', 'export const gateway = {};'],
    ['exports null', 'export const gateway = null;'],
  ])('is refused if it %s', async (_, text) => {
    const app = appOf(text);
    const error = await errorOf(work(drain(app)));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty(
      'message',
      `${app} exports no gateway: your GatewayClient. Export gateway, handler, and close if it has one.`,
    );
  });

  it.each([
    ['an error', 'throw new Error("no DATABASE_URL");', 'no DATABASE_URL'],
    ['anything else', 'throw "gone";', 'gone'],
  ])('that throws %s is refused with its words', async (_, text, words) => {
    const app = appOf(text);
    const error = await errorOf(work(drain(app)));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty('message', `${app} cannot be loaded: ${words}`);
  });

  it('of TypeScript that does not load says how it does', async () => {
    const advice = /^nowhere\.ts cannot be loaded: .*\. Load what it compiles to, or set NODE_OPTIONS="--import tsx"$/s;
    await expect(work(drain('nowhere.ts'))).rejects.toThrow(advice);
    for (const file of ['nowhere.mts', 'nowhere.cts', 'nowhere.tsx'])
      await expect(work(drain(file))).rejects.toThrow('NODE_OPTIONS="--import tsx"');
    for (const file of ['nowhere.xts', 'nowhere.ts.js'])
      await expect(work(drain(file))).rejects.toThrow(/^(?!.*NODE_OPTIONS)/s);
  });
});

it.each(['scope', 'table'] as const)('the journal of an app has its own %s', async option => {
  const error = await errorOf(work(drain(appOf(), { [option]: 'eu' })));
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toHaveProperty(
    'message',
    `--${option} is for a drain without --app: the journal of an app has its own.`,
  );
  expect(doubles.drain).not.toHaveBeenCalled();
});

describe('a failure', () => {
  it.each<[WorkCommand['name'], unknown, string]>([
    ['drain', new Error('connection refused'), 'connection refused'],
    ['sweep', 'gone', 'gone'],
  ])('in the middle of a %s is told, and the app is closed', async (name, failure, words) => {
    doubles[name] = () => Promise.reject(failure);
    const app = appOf();
    const error = await errorOf(work(commandOf(name)(app)));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty('message', `The ${name} of ${app} failed: ${words}. The next one does the rest.`);
    expect([doubles.close, printed]).toEqual([expect.toSatisfy(close => close.mock.calls.length === 1), []]);
  });

  it('of the SDK says itself what it is', async () => {
    const failure = new ConfigurationError('journal: none');
    doubles.drain = () => Promise.reject(failure);
    expect(await errorOf(work(drain(appOf())))).toBe(failure);
  });
});

describe('without an app', () => {
  it('there is no sweep', async () => {
    const error = await errorOf(work(sweep()));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty(
      'message',
      'sweep lets payments take effect by your onPayment: pass --app <file>, a module of your app that exports its gateway and its handler.',
    );
  });

  it('a drain needs a scope', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://127.0.0.1:1/x');
    vi.stubEnv('PAYMENT_GATEWAY_JOURNAL_SCOPE', '');
    const error = await errorOf(work(drain()));
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty(
      'message',
      'drain needs the scope of the journal: --scope <scope>, or PAYMENT_GATEWAY_JOURNAL_SCOPE.',
    );
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', signal => {
  it('lets the work end with what has begun', async () => {
    const before = process.listenerCount(signal);
    doubles.drain = vi.fn(async ({ signal: stopped } = {}) => {
      expect([process.listenerCount(signal), stopped?.aborted]).toEqual([before + 1, false]);
      process.emit(signal);
      expect([process.listenerCount(signal), stopped?.aborted]).toEqual([before, true]);
      return DRAINED;
    });
    expect(await work(drain(appOf()))).toBe(0);
    expect(doubles.drain).toHaveBeenCalledOnce();
  });

  it('stops what has not begun, also while the app is loaded', async () => {
    const before = process.listenerCount(signal);
    const drained = vi.fn<Doubles['drain']>(() => DRAINED);
    doubles.drain = drained;
    expect(await work(drain(appOf(`process.emit('${signal}');\n${EXPORTS}`)))).toBe(0);
    expect(drained.mock.calls[0]?.[0]?.signal?.aborted).toBe(true);
    expect(process.listenerCount(signal)).toBe(before);
  });

  it('is waited for no longer, whatever the app does', async () => {
    const before = process.listenerCount(signal);
    doubles.close = () => {
      throw new Error('closing failed');
    };
    await expect(work(drain(appOf()))).rejects.toThrow('closing failed');
    expect(process.listenerCount(signal)).toBe(before);
  });
});
