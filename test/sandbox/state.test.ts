// The file of --state: what is written when, and that a crash or a failure leaves the one before whole.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readState, StateFile } from '../../src/sandbox/cli/state.ts';
import type { SavedSandbox } from '../../src/sandbox/save.ts';
import { CommandError } from '../../src/terminal/program.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers } from '../support/passing-time.ts';

let folder: string;
let file: string;
let complaints: string[];
/** What the sandbox holds. */
let held: string;
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
  duration = 0;
  saves = 0;
  looks = 0;
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => {
    // Others ask for the time, too.
    if (!new Error().stack?.includes('cli/state.ts')) return real();
    looks += 1;
    return looks * duration;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const open = () =>
  new StateFile(
    file,
    () => {
      saves += 1;
      return { clockOffset: held } as never as SavedSandbox;
    },
    message => complaints.push(message),
  );
const written = () => readFileSync(file, 'utf8');
const asJson = (text: string) => JSON.stringify({ clockOffset: text });
const files = () => readdirSync(folder);
/** Until so many writes are over: each looks at the time before it and, as the last thing that it does, after it. */
const settled = (count: number) => expect.poll(() => looks).toBe(2 * count);

describe('a file', () => {
  it('that cannot be read is not taken for none', async () => {
    mkdirSync(file);
    const error = await errorOf((async () => readState(file))());
    expect(error).toBeInstanceOf(CommandError);
    expect((error as Error).message).toMatch(`--state: ${file} cannot be read: EISDIR`);
  });
});

describe('writing', () => {
  it('begins at once, for its owner alone, with nothing left beside it', async () => {
    await open().begin();
    expect([written(), statSync(file).mode & 0o777, files()]).toEqual([asJson('first'), 0o600, ['state.json']]);
  });

  it('leaves the file before, and nothing beside it, where it fails', async () => {
    await open().begin();
    const state = new StateFile(
      file,
      () => {
        throw new Error('too large');
      },
      message => complaints.push(message),
    );
    expect(await errorOf(state.begin())).toMatchObject({ message: `--state: ${file} cannot be written: too large` });
    expect([written(), files()]).toEqual([asJson('first'), ['state.json']]);
  });

  it('comes a second after the first change, once', { tags: 'long' }, async () => {
    fakeTimers();
    const state = open();
    held = 'second';
    state.touch();
    state.touch();
    vi.advanceTimersByTime(999);
    expect([saves, existsSync(file)]).toEqual([0, false]);
    held = 'third';
    vi.advanceTimersByTime(1);
    await settled(1);
    await state.close();
    expect([saves, written()]).toEqual([2, asJson('third')]);
  });

  it('comes ten times as late as it takes, where it takes long', { tags: 'long' }, async () => {
    fakeTimers();
    const state = open();
    duration = 250;
    state.touch();
    vi.advanceTimersByTime(1_000);
    await settled(1);
    state.touch();
    vi.advanceTimersByTime(2_499);
    await new Promise(setImmediate);
    expect(saves).toBe(1);
    vi.advanceTimersByTime(1);
    await settled(2);
    await state.close();
  });

  it('that fails is told once, until it works again', { tags: 'long' }, async () => {
    fakeTimers();
    const state = open();
    await state.begin();
    const write = async (count: number) => {
      state.touch();
      vi.advanceTimersByTime(1_000);
      await settled(count);
      expect(files().filter(name => name.endsWith('.new'))).toEqual([]);
    };
    rmSync(file);
    mkdirSync(join(file, 'in the way'), { recursive: true });
    await write(1);
    await write(2);
    expect(complaints).toEqual([expect.stringMatching(/^--state: not written: E\w+/)]);
    rmSync(file, { recursive: true });
    await write(3);
    expect(written()).toBe(asJson('first'));
    rmSync(file);
    mkdirSync(join(file, 'in the way'), { recursive: true });
    await write(4);
    expect(complaints).toHaveLength(2);
    await state.close();
  });

  it('ends with the last state, and is not asked for again', async () => {
    fakeTimers();
    const state = open();
    state.touch();
    held = 'last';
    await state.close();
    expect([saves, written()]).toEqual([1, asJson('last')]);
    const before = vi.getTimerCount();
    state.touch();
    expect(vi.getTimerCount()).toBe(before);
    expect([saves, looks]).toEqual([1, 2]);
  });

  it('goes on in the same file for nobody but its owner', async () => {
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    await open().begin();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
