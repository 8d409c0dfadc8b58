// Lets a clock that is faked run while something is waited for.
import { onTestFinished, vi } from 'vitest';

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

/** Lets the faked clock run until the promise has settled. @returns how, and after how many of its milliseconds */
export async function timed<T>(promise: Promise<T>) {
  const begun = performance.now();
  const settled = promise.then(
    value => ({ value, error: undefined, ms: performance.now() - begun }),
    error => ({ value: undefined, error, ms: performance.now() - begun }),
  );
  await vi.runAllTimersAsync();
  return settled;
}

/** Fakes the timers of this test alone. Whoever asks a real server meanwhile must not race against one of them. */
export function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}
