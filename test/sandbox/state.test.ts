// The file of --state: what is written when, and that a crash or a failure leaves the one before whole.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { stateFile } from '../../src/sandbox/cli/state.ts';
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

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  file = join(folder, 'state.json');
  [complaints, held, duration, saves] = [[], 'first', 0, 0];
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + saves * duration);
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
const open = () => stateFile(file, save, message => complaints.push(message));
const written = () => JSON.parse(readFileSync(file, 'utf8'));
const AN_HOUR = 3_600_000;

it('a file that cannot be read is not taken for none', async () => {
  expect(open().saved).toBeUndefined();
  mkdirSync(file);
  const error = await errorOf((async () => open())());
  expect(error).toBeInstanceOf(CommandError);
  expect((error as Error).message).toMatch(`--state: ${file} cannot be read: EISDIR`);
});

it('a write is for its owner alone, and a failure leaves the file before', () => {
  writeFileSync(file, '{"version":1}', { mode: 0o644 });
  const state = open();
  state.close();
  expect([written(), statSync(file).mode & 0o777, readdirSync(folder)]).toEqual(['first', 0o600, ['state.json']]);
  held = new Error('too large');
  state.write();
  expect(complaints).toEqual([`--state: ${file} cannot be written: too large`]);
  expect([written(), readdirSync(folder)]).toEqual(['first', ['state.json']]);
});

it('writing comes a second after the first change, once, and ten times as late as it takes', () => {
  const state = open();
  duration = 250;
  state.touch();
  state.touch();
  vi.advanceTimersByTime(999);
  expect(saves).toBe(0);
  held = 'second';
  vi.advanceTimersByTime(1);
  expect(written()).toBe('second');
  state.touch();
  vi.advanceTimersByTime(2_499);
  expect(saves).toBe(1);
  vi.advanceTimersByTime(AN_HOUR);
  expect(saves).toBe(2);
});

it('no write follows the last one at the close', () => {
  const state = open();
  state.touch();
  state.write();
  state.close();
  vi.advanceTimersByTime(AN_HOUR);
  expect(saves).toBe(2);
});

it('a failing write is reported once, until it works again', () => {
  const state = open();
  state.write();
  for (const outcome of [new Error('no space'), new Error('no space'), 'better', new Error('full')]) {
    held = outcome;
    state.touch();
    vi.advanceTimersByTime(AN_HOUR);
  }
  state.close();
  const complaint = `--state: ${file} cannot be written:`;
  expect(complaints).toEqual([`${complaint} no space`, `${complaint} full`]);
  expect(written()).toBe('better');
});

it('writing ends with the last state', () => {
  const state = open();
  const before = vi.getTimerCount();
  state.touch();
  held = 'last';
  state.close();
  expect([saves, written(), vi.getTimerCount()]).toEqual([1, 'last', before]);
});
