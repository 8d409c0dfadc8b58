// Lets a clock that is faked run while something is waited for.
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

/**
 * Settles as the promise does, while so many milliseconds of the faked clock pass at each turn of the event loop. Nothing may
 * be faked of `setImmediate`; and what takes real time, such as a first import, must not race against a time-out.
 */
export async function whileTimePasses<T>(promise: Promise<T>, ms: number): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  promise.then(end, end);
  while (!isOver) {
    await new Promise(setImmediate);
    vi.advanceTimersByTime(ms);
  }
  return promise;
}

/** Waits until it is so. No faked time passes meanwhile, of which `expect.poll` lets some pass at each look. */
export async function until(isSo: () => unknown): Promise<void> {
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  while (!isOver && !(await isSo())) await new Promise(setImmediate);
}

/**
 * Fakes the timers of this test alone. Whoever asks a real server meanwhile must not race against one of them.
 *
 * @param file of `src`, whose timers alone are told: what other tests have left at work may set some
 * @returns tells the milliseconds of each that our code set since: under load the test runner sets some, too
 */
export function fakeTimers(file = ''): () => (number | undefined)[] {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const set: (number | undefined)[] = [];
  // No spy: where files share a process, Vitest would put back after the file what was there when it began, the faked one.
  globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
    apply(target, self, args: [work: () => void, ms?: number]) {
      if (new Error().stack?.includes(source + file)) set.push(args[1]);
      return Reflect.apply(target, self, args);
    },
  });
  onTestFinished(() => void vi.useRealTimers());
  return () => set;
}
