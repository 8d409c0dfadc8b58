// The file of --state: what is written when, and that a crash or a failure leaves the one before whole.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readState, StateFile } from '../../src/sandbox/cli/state.ts';
import { CommandError } from '../../src/terminal/program.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers } from '../support/passing-time.ts';

let folder: string;
let file: string;
let complaints: string[];
/** The sandbox's state, or an error of saving it. */
let held: string | Error;
/** How long a write takes, in milliseconds. */
let duration: number;
let saves: number;
/** How often the file looked at the time. */
let looks: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  file = join(folder, 'state.json');
  complaints = [];
  held = 'first';
  [duration, saves, looks] = [0, 0, 0];
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => {
    // Others ask for the time, too.
    if (!new Error().stack?.includes('cli/state.ts')) return real();
    looks += 1;
    return looks * duration;
  });
  fakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function save(): never {
  saves += 1;
  if (held instanceof Error) throw held;
  return held as never;
}
const open = () => new StateFile(file, save, message => complaints.push(message));
const written = () => JSON.parse(readFileSync(file, 'utf8'));
/** Until so many writes are over: each looks at the time before it and, as the last thing that it does, after it. */
const settled = (count: number) => expect.poll(() => looks).toBe(2 * count);

it('a file that cannot be read is not taken for none', async () => {
  expect(readState(file)).toBeUndefined();
  mkdirSync(file);
  const error = await errorOf((async () => readState(file))());
  expect(error).toBeInstanceOf(CommandError);
  expect((error as Error).message).toMatch(`--state: ${file} cannot be read: EISDIR`);
});

it('writing begins at once, for its owner alone, and a failure leaves the file before', async () => {
  writeFileSync(file, '', { mode: 0o644 });
  const state = open();
  await state.begin();
  expect([written(), statSync(file).mode & 0o777, readdirSync(folder)]).toEqual(['first', 0o600, ['state.json']]);
  held = new Error('too large');
  expect(await errorOf(state.begin())).toMatchObject({ message: `--state: ${file} cannot be written: too large` });
  expect([written(), readdirSync(folder)]).toEqual(['first', ['state.json']]);
});

it('writing comes a second after the first change, once, and ten times as late as it takes', {
  tags: 'long',
}, async () => {
  const state = open();
  duration = 250;
  state.touch();
  state.touch();
  vi.advanceTimersByTime(999);
  expect(saves).toBe(0);
  held = 'second';
  vi.advanceTimersByTime(1);
  await settled(1);
  state.touch();
  vi.advanceTimersByTime(2_499);
  await new Promise(setImmediate);
  expect([saves, written()]).toEqual([1, 'second']);
  vi.advanceTimersByTime(1);
  await settled(2);
  await state.close();
});

it('a failing write is reported once, until it works again', { tags: 'long' }, async () => {
  const state = open();
  await state.begin();
  const reported: number[] = [];
  for (const [count, outcome] of [
    new Error('no space'),
    new Error('no space'),
    'better',
    new Error('full'),
  ].entries()) {
    held = outcome;
    state.touch();
    vi.advanceTimersByTime(1_000);
    await settled(count + 1);
    reported.push(complaints.length);
  }
  expect([reported, written()]).toEqual([[1, 1, 1, 2], 'better']);
  expect(complaints[0]).toBe('--state: not written: no space');
  await state.close();
});

it('writing ends with the last state, and nothing is written after that', async () => {
  const state = open();
  state.touch();
  held = 'last';
  await state.close();
  const before = vi.getTimerCount();
  state.touch();
  expect([saves, written(), vi.getTimerCount()]).toEqual([1, 'last', before]);
});
