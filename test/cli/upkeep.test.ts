// The upkeep of an app by the command line: the exports of the app, the printed line and the exit code.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { ConfigurationError } from '../../src/errors.ts';
import type { UpkeepOptions } from '../../src/upkeep/upkeep.ts';

const SENT = { created: 3, refused: 0, postponed: 0, inDoubt: 0 };
const SWEPT = { processed: 2, open: 1, gaveUp: 0, failed: 0, rechecked: 0 };
const handler = () => {};

/** What the app of a test does. */
interface Doubles {
  upkeep(options: UpkeepOptions): unknown;
  close(): unknown;
  handler?: () => void;
}
let folder: string;
let doubles: Doubles;
let printed: unknown[];
let complaints: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'app-'));
  doubles = { upkeep: vi.fn(() => ({ swept: SWEPT, sent: SENT })), close: vi.fn(), handler };
  Object.assign(globalThis, { doublesOfUpkeepTest: doubles });
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

const EXPORTS = `const { doublesOfUpkeepTest: doubles } = globalThis;
export const gateway = { upkeep: async options => doubles.upkeep(options) };
export const handler = doubles.handler;
export const close = async () => doubles.close();`;

/** A module of an app. */
function appOf(text = EXPORTS, name = 'app.mjs'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
const upkeep = (app: string, ...options: string[]) => run(['upkeep', '--app', app, ...options]);
const SDK = 'payment-gateway-sdk: ';

describe('an upkeep', () => {
  it('gets its options and handler, prints one line, and closes the app at its end', async () => {
    const limits = ['--limit', '7', '--concurrency', '3', '--older-than', '0', '--give-up-after', '5'];
    expect(await upkeep(appOf(), '--once', ...limits)).toBe(0);
    expect(doubles.upkeep).toHaveBeenCalledExactlyOnceWith({
      ...{ once: true, limit: 7, concurrency: 3, olderThan: 0, giveUpAfter: 5 },
      ...{ handler, signal: expect.any(AbortSignal) },
    });
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(printed).toEqual([{ time, command: 'upkeep', swept: SWEPT, sent: SENT }]);
    expect(doubles.close).toHaveBeenCalledAfter(doubles.upkeep as never);
  });

  it.each<[Partial<typeof SENT & typeof SWEPT>, number]>([
    [{ refused: 1 }, 1],
    [{ inDoubt: 1 }, 1],
    [{ inDoubt: 1, postponed: 1 }, 1],
    [{ gaveUp: 1, failed: 1 }, 1],
    [{ postponed: 1 }, 2],
    [{ failed: 1 }, 2],
    [{ open: 9, rechecked: 2 }, 0],
  ])('that ends with %o has the exit code %d with --once, and otherwise 0', async (counts, code) => {
    doubles.upkeep = () => ({ swept: { ...SWEPT, ...counts }, sent: { ...SENT, ...counts } });
    expect(await upkeep(appOf(), '--once')).toBe(code);
    expect(complaints).toEqual(counts.postponed ? [`${SDK}1 payouts wait for the next upkeep.`] : []);
    expect(await upkeep(appOf())).toBe(0);
  });
});

describe('the module of an app', () => {
  it('may be CommonJS, have a default export, and need no closing', async () => {
    const app = 'gateway: { upkeep: options => globalThis.doublesOfUpkeepTest.upkeep(options) }, handler() {}';
    expect(await upkeep(appOf(`module.exports = { ${app} };`, 'app.cjs'))).toBe(0);
    expect(await upkeep(appOf(`export default { ${app} };`))).toBe(0);
    expect(doubles.upkeep).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['exports nothing', '', ' must export gateway, handler, and close if it has one.'],
    ['exports null', 'export const gateway = null;', ' must export gateway, handler, and close if it has one.'],
    ['throws an error', 'throw new Error("no DATABASE_URL");', ' cannot be loaded: no DATABASE_URL'],
    ['throws a text', 'throw "gone";', ' cannot be loaded: gone'],
  ])('is refused if it %s', async (_, text, problem) => {
    const app = appOf(text);
    expect(await upkeep(app)).toBe(2);
    expect(complaints).toEqual([SDK + app + problem]);
  });

  it.each([
    ['nowhere.ts', true],
    ['nowhere.cts', true],
    ['nowhere.ts.js', false],
  ])('%s that does not load says how TypeScript does: %s', async (file, isTypeScript) => {
    expect(await upkeep(file)).toBe(2);
    expect(complaints).toEqual([expect.stringContaining(`${file} cannot be loaded: `)]);
    expect(/Load its compiled file, or set NODE_OPTIONS="--import tsx"$/.test(complaints[0] ?? '')).toBe(isTypeScript);
  });

  it('needs the handler, and is closed without it too', async () => {
    delete doubles.handler;
    expect(await upkeep(appOf())).toBe(2);
    expect(complaints).toEqual([expect.stringContaining(' must export gateway, handler, and close if it has one.')]);
    expect(doubles.close).toHaveBeenCalledOnce();
    expect(doubles.upkeep).not.toHaveBeenCalled();
  });
});

describe('a failure', () => {
  it('in the middle is reported, and the app is closed', async () => {
    doubles.upkeep = () => Promise.reject(new Error('connection refused'));
    expect(await upkeep(appOf())).toBe(2);
    expect([complaints, printed]).toEqual([[`${SDK}Failed: connection refused. Check the database.`], []]);
    expect(doubles.close).toHaveBeenCalledOnce();
  });

  it('of the SDK has its own words', async () => {
    doubles.upkeep = () => Promise.reject(new ConfigurationError('store: none'));
    expect(await upkeep(appOf())).toBe(2);
    expect(complaints).toEqual([`${SDK}store: none`]);
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', signal => {
  it('lets the work end with what has begun', async () => {
    const before = process.listenerCount(signal);
    doubles.upkeep = vi.fn(async ({ signal: stopped }: UpkeepOptions) => {
      expect([process.listenerCount(signal), stopped?.aborted]).toEqual([before + 1, false]);
      process.emit(signal);
      // The next one ends the process.
      expect([process.listenerCount(signal), stopped?.aborted]).toEqual([before, true]);
      return { swept: SWEPT, sent: SENT };
    });
    expect(await upkeep(appOf())).toBe(0);
    expect(doubles.upkeep).toHaveBeenCalledOnce();
  });

  it('stops what has not begun, also while the app is loaded', async () => {
    const kept = vi.fn<Doubles['upkeep']>(() => ({ swept: SWEPT, sent: SENT }));
    doubles.upkeep = kept;
    expect(await upkeep(appOf(`process.emit('${signal}');\n${EXPORTS}`))).toBe(0);
    expect(kept.mock.calls[0]?.[0]?.signal?.aborted).toBe(true);
  });
});
