// One sweep or one drain of an app, by the command line: what the app must export, and what is printed and answered.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayClient, SweepHandler } from 'payment-gateway-sdk';
import { ConfigurationError } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../src/cli/program.ts';

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
let complaints: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'app-'));
  doubles = { drain: vi.fn(() => DRAINED), sweep: vi.fn(() => SWEPT), close: vi.fn(), handler };
  Object.assign(globalThis, { doublesOfWorkTest: doubles });
  printed = [];
  complaints = [];
  vi.spyOn(console, 'error').mockImplementation(line => void complaints.push(line));
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
const drain = (app: string, ...options: string[]) => run(['drain', '--app', app, ...options]);
const sweep = (app: string, ...options: string[]) => run(['sweep', '--app', app, ...options]);
const SDK = 'payment-gateway-sdk: ';

describe('a drain of an app', () => {
  it('has its options, prints one line, and closes the app when it is done', async () => {
    expect(await drain(appOf(), '--limit', '5', '--concurrency', '2', '--follow')).toBe(0);
    const signal = expect.any(AbortSignal);
    expect(doubles.drain).toHaveBeenCalledExactlyOnceWith({ limit: 5, concurrency: 2, follow: true, signal });
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
    expect(await drain(appOf())).toBe(code);
    const waiting = `${SDK}1 creates wait for their next try. Earlier warnings give the reasons.`;
    expect(complaints).toEqual(counts.postponed ? [waiting] : []);
  });
});

describe('a sweep of an app', () => {
  it('has its options and its handler, and prints one line', async () => {
    const limits = ['--limit', '7', '--concurrency', '3', '--older-than', '0', '--give-up-after', '5'];
    expect(await sweep(appOf(), ...limits)).toBe(0);
    expect(doubles.sweep).toHaveBeenCalledExactlyOnceWith({
      ...{ limit: 7, concurrency: 3, olderThan: 0, giveUpAfter: 5 },
      ...{ handler, signal: expect.any(AbortSignal) },
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
    expect(await sweep(appOf())).toBe(code);
  });

  it('needs the handler, and closes the app without it too', async () => {
    delete doubles.handler;
    const app = appOf();
    expect(await sweep(app)).toBe(2);
    expect(complaints).toEqual([`${SDK}${app} exports no handler: the result of createWebhookHandler.`]);
    expect(doubles.close).toHaveBeenCalledOnce();
    expect(doubles.sweep).not.toHaveBeenCalled();
  });
});

describe('the module of an app', () => {
  it('may be CommonJS, have a default export, and need no closing', async () => {
    const gateway = '{ drain: options => globalThis.doublesOfWorkTest.drain(options) }';
    expect(await drain(appOf(`exports.gateway = ${gateway};`, 'app.cjs'))).toBe(0);
    expect(await drain(appOf(`export default { gateway: ${gateway} };`))).toBe(0);
    expect(doubles.drain).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['exports nothing', '', ' must export gateway, handler, and close if it has one.'],
    [
      'exports another gateway',
      'export const gateway = {};',
      ' must export gateway, handler, and close if it has one.',
    ],
    ['exports null', 'export const gateway = null;', ' must export gateway, handler, and close if it has one.'],
    ['throws an error', 'throw new Error("no DATABASE_URL");', ' cannot be loaded: no DATABASE_URL'],
    ['throws a text', 'throw "gone";', ' cannot be loaded: gone'],
  ])('is refused if it %s', async (_, text, problem) => {
    const app = appOf(text);
    expect(await drain(app)).toBe(2);
    expect(complaints).toEqual([SDK + app + problem]);
  });

  it.each([
    ['nowhere.ts', true],
    ['nowhere.mts', true],
    ['nowhere.cts', true],
    ['nowhere.tsx', true],
    ['nowhere.ts.js', false],
  ])('%s that does not load says how TypeScript does: %s', async (file, isTypeScript) => {
    expect(await drain(file)).toBe(2);
    expect(complaints).toEqual([expect.stringContaining(`${file} cannot be loaded: `)]);
    expect(/Load its compiled file, or set NODE_OPTIONS="--import tsx"$/.test(complaints[0] ?? '')).toBe(isTypeScript);
  });

  it.each(['scope', 'table'])('has its own %s, unless the environment names one for other commands', async option => {
    expect(await drain(appOf(), `--${option}`, 'eu')).toBe(2);
    expect(complaints).toEqual([`${SDK}--${option} is for a drain without --app.`]);
    expect(doubles.drain).not.toHaveBeenCalled();
    vi.stubEnv(`PAYMENT_GATEWAY_JOURNAL_${option.toUpperCase()}`, 'eu');
    expect(await drain(appOf())).toBe(0);
  });
});

describe('a failure', () => {
  it.each(['drain', 'sweep'] as const)('in the middle of a %s is reported, and the app is closed', async name => {
    doubles[name] = () => Promise.reject(new Error('connection refused'));
    expect(await run([name, '--app', appOf()])).toBe(2);
    expect([complaints, printed]).toEqual([[`${SDK}Failed: connection refused. Check the database.`], []]);
    expect(doubles.close).toHaveBeenCalledOnce();
  });

  it('of the SDK has its own words', async () => {
    doubles.drain = () => Promise.reject(new ConfigurationError('journal: none'));
    expect(await drain(appOf())).toBe(2);
    expect(complaints).toEqual([`${SDK}journal: none`]);
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', signal => {
  it('lets the work end with what has begun', async () => {
    const before = process.listenerCount(signal);
    doubles.drain = vi.fn(async ({ signal: stopped } = {}) => {
      expect([process.listenerCount(signal), stopped?.aborted]).toEqual([before + 1, false]);
      process.emit(signal);
      // The next one ends the process.
      expect([process.listenerCount(signal), stopped?.aborted]).toEqual([before, true]);
      return DRAINED;
    });
    expect(await drain(appOf())).toBe(0);
    expect(doubles.drain).toHaveBeenCalledOnce();
  });

  it('stops what has not begun, also while the app is loaded', async () => {
    const drained = vi.fn<Doubles['drain']>(() => DRAINED);
    doubles.drain = drained;
    expect(await drain(appOf(`process.emit('${signal}');\n${EXPORTS}`))).toBe(0);
    expect(drained.mock.calls[0]?.[0]?.signal?.aborted).toBe(true);
  });
});
