// A runner of Vitest that plays each test once for every mutant that it reaches, in one process: that takes a hundredth of
// what Stryker takes, which starts anew for each. What it does not catch for certain is left to Stryker.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type RunnerTestCase, TestRunner, vi } from 'vitest';

type Test = RunnerTestCase;
type Task = Parameters<TestRunner['onBeforeTryTask']>[0];

/** What runner.mjs has written. */
export interface Plan {
  /** By test, how often it comes by each mutant. */
  reached: Record<string, Record<string, number>>;
  /** Mutants that are caught by now, or have stopped an earlier run. */
  done: string[];
  /** Where to write what is caught, a line of JSON for each; and which mutant is at work. */
  caughtFile: string;
  workFile: string;
  /** Where to write which tests have been played to their end, a line for each. */
  playedFile: string;
}

/** What the instrumented source asks. */
interface Stryker {
  activeMutant?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
}

const shared = globalThis as { __stryker__?: Stryker };
shared.__stryker__ ??= {};
const stryker = shared.__stryker__;
/** Tests replace it. */
const { setTimeout, clearTimeout } = globalThis;

const planFile = process.env.MUTANTS_PLAN ?? '';
const plan: Plan = JSON.parse(readFileSync(planFile, 'utf8'));
const done = new Set(plan.done);

/** Milliseconds that a test may take with a mutant, at least, and the multiple of what it takes without. */
const SHORTEST = 1_500;
const FACTOR = 20;

/** The id that Stryker gives a test. */
function idOf(test: Test): string {
  const names = [test.name];
  for (let { suite } = test; suite; suite = suite.suite) names.unshift(suite.name);
  return `${relative(process.cwd(), test.file.filepath)}#${names.join(' > ').trim()}`;
}

/** Of each mutant: failed once, then passed without it, then failed again. Anything else proves nothing. */
type Step = 'bare' | 'first' | 'without' | 'second' | 'idle';

export default class QuickRunner extends TestRunner {
  #hits: Record<string, number> = {};
  #waiting: string[] = [];
  #mutant = '';
  #step: Step = 'idle';
  #isLate = false;
  #bareMs = 0;

  override async onBeforeRunTask(test: Test): Promise<void> {
    this.#hits = plan.reached[idOf(test)] ?? {};
    this.#waiting = Object.keys(this.#hits).filter(id => !done.has(id));
    // Side by side, tests would play with each other's mutants.
    const isAlone = !test.concurrent && !test.fails;
    if (test.mode === 'run' && (this.#waiting.length === 0 || !isAlone)) test.mode = 'skip';
    test.repeats = 3 * this.#waiting.length;
    this.#step = 'idle';
    await super.onBeforeRunTask(test);
  }

  override onBeforeTryTask(test: Task, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    if (options.repeats === 0) this.#step = 'bare';
    else this.#next();
    this.#isLate = false;
    const isActive = ['first', 'second'].includes(this.#step);
    stryker.activeMutant = isActive ? this.#mutant : undefined;
    stryker.hitCount = isActive ? 0 : undefined;
    stryker.hitLimit = Math.max((this.#hits[this.#mutant] ?? 0) * 100, 1_000);
    if (isActive) writeFileSync(plan.workFile, this.#mutant);
  }

  #next(): void {
    if (this.#step === 'first') this.#step = 'without';
    else if (this.#step === 'without') this.#step = 'second';
    else this.#nextMutant();
  }

  #nextMutant(): void {
    const mutant = this.#waiting.shift();
    this.#step = mutant === undefined ? 'idle' : 'first';
    this.#mutant = mutant ?? '';
  }

  async runTask(test: Test): Promise<void> {
    if (this.#step === 'idle') return;
    const began = performance.now();
    const limit = this.#step === 'bare' ? 30_000 : Math.max(SHORTEST, this.#bareMs * FACTOR);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#isLate = true;
        reject(new Error('late'));
      }, limit);
    });
    try {
      await Promise.race([TestRunner.getTestFn(test)(), late]);
    } finally {
      clearTimeout(timer);
      if (this.#step === 'bare') this.#bareMs = performance.now() - began;
    }
  }

  override async onAfterRetryTask(test: Test, options: { retry: number; repeats: number }): Promise<void> {
    const { result } = test;
    const hasFailed = result?.state === 'fail';
    const message = result?.errors?.at(-1)?.message ?? '';
    stryker.activeMutant = undefined;
    stryker.hitCount = undefined;
    if (hasFailed) vi.useRealTimers();
    this.#judge(test, hasFailed, message);
    if (result) {
      result.state = 'pass';
      delete result.errors;
    }
    await super.onAfterRetryTask(test, options);
  }

  #judge(test: Test, hasFailed: boolean, message: string): void {
    switch (this.#step) {
      case 'bare':
      case 'without':
        // It fails also without any: nothing more can be said of this test.
        if (hasFailed) this.#giveUp();
        break;
      case 'first':
        if (!hasFailed) this.#step = 'idle';
        break;
      case 'second':
        if (hasFailed) {
          done.add(this.#mutant);
          const caught = { id: this.#mutant, test: idOf(test), message, isLate: this.#isLate };
          appendFileSync(plan.caughtFile, `${JSON.stringify(caught)}\n`);
        }
        this.#step = 'idle';
        break;
      default:
    }
  }

  override onAfterRunTask(test: Test): void {
    super.onAfterRunTask(test);
    appendFileSync(plan.playedFile, `${idOf(test)}\n`);
  }

  #giveUp(): void {
    this.#waiting = [];
    this.#step = 'idle';
  }
}
