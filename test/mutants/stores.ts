// Tries the mutants of store-mutants.ts, one at a time, in a copy of the repository.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Outcome, percent } from './outcome.ts';
import { STORE_MUTANTS, type StoreMutant } from './store-mutants.ts';

export const STORES = 'stores';
const NOT_COPIED = new Set(['node_modules', '.git', 'dist', 'bench', 'images', 'generated']);
/** What suites have installed for themselves; without it they would install it again. */
const INSTALLED = ['.', 'test/orms', 'test/schedulers', 'test/observability'].map(path => `${path}/node_modules`);

/** @param folder where it may write */
function copyTo(folder: string): string {
  const copy = `${folder}/${STORES}`;
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  const parts = ['src', 'test', 'docs', 'examples', 'package.json', 'tsconfig.json', 'vitest.config.ts', 'README.md'];
  for (const part of parts) {
    cpSync(part, `${copy}/${part}`, { recursive: true, filter: path => !NOT_COPIED.has(basename(path)) });
  }
  for (const path of INSTALLED) {
    if (!existsSync(path)) continue;
    mkdirSync(dirname(`${copy}/${path}`), { recursive: true });
    symlinkSync(`${process.cwd()}/${path}`, `${copy}/${path}`);
  }
  return copy;
}

/** What became of a test file: whether it passed, or which test failed. */
interface Played {
  isPassed: boolean;
  failed: string;
}

/** @param work gets what runs test/stores/<name>.test.ts in the copy */
function inCopy<T>(folder: string, work: (copy: string, play: (name: string) => Played) => T): T {
  const copy = copyTo(folder);
  const play = (name: string): Played => {
    const args = ['run', '--project', 'servers', '--bail', '1', `test/stores/${name}.test.ts`];
    const { status, stdout, stderr } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
      timeout: 180_000,
    });
    // What fails in another way than by a test has caught nothing.
    // A skipped test lets every mutant through. Not every machine has MySQL 8, and only CI plays what takes long.
    const [, lacking] = /SKIPPED: (?!.*(?:MySQL 8|CI plays))(.+)/.exec(stdout + stderr) ?? [];
    if (lacking) throw new Error(`test/stores/${name}.test.ts cannot be run here: ${lacking}`);
    const [, failed] = /^ *FAIL +(.+)$/m.exec(stdout + stderr) ?? [];
    if (status !== 0 && status !== null && !failed) throw new Error(stdout);
    return { isPassed: status === 0, failed: failed ?? 'the test took too long' };
  };
  try {
    return work(copy, play);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What a run found out. */
export interface StoresReport extends Outcome {
  /** The mutants that are caught, as JSON. */
  caught: string[];
}

/** @param known mutants that were caught before: they are not tried again */
export const tryStores = (folder: string, known: readonly string[]): StoresReport =>
  inCopy(folder, (copy, play) => {
    const isKnown = (mutant: StoreMutant) => known.includes(JSON.stringify(mutant));
    const caught = STORE_MUTANTS.filter(isKnown).map(mutant => JSON.stringify(mutant));
    const complaints: string[] = [];
    const rest = STORE_MUTANTS.filter(mutant => !isKnown(mutant));
    // Twice: a machine that is busy fails some of them now and then.
    const fails = (test: string) => !play(test).isPassed && !play(test).isPassed;
    const broken = [...new Set(rest.map(({ test }) => test))].filter(fails);
    if (broken.length > 0) throw new Error(`Without any mutant these fail already: ${broken.join(', ')}.`);
    for (const mutant of rest) {
      const { file, from, to, test } = mutant;
      const source = readFileSync(file, 'utf8');
      if (source.split(from).length !== 2) throw new Error(`${file} must have this once: ${from}`);
      const changed = source.replace(from, () => to);
      writeFileSync(`${copy}/${file}`, changed);
      const { isPassed, failed } = play(test);
      console.log(`${file}: ${JSON.stringify(from)} → ${JSON.stringify(to)}\n  ${isPassed ? 'survives' : failed}`);
      if (isPassed) complaints.push(`${file}: not caught by test/stores/${test}.test.ts:\n    - ${from}\n    + ${to}`);
      else caught.push(JSON.stringify(mutant));
      writeFileSync(`${copy}/${file}`, source);
    }
    const [mutants, killed] = [STORE_MUTANTS.length, caught.length];
    return { name: STORES, mutants, killed, listed: 0, score: percent(killed, mutants), complaints, caught };
  });
