// Waits with a limit leave neither a timer nor a listener, and a deadline passes by either clock.
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backgroundDelay, Deadline, delay, within, withSignal, withTimeout } from '../src/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const REASON = new Error('the shop closes');
const never = new Promise<never>(() => {});
const leave = (left: string) => left;

describe('a wait', () => {
  it.each<[string, (signal: AbortSignal) => Promise<unknown>, end: unknown, stopped: unknown]>([
    ['delay', signal => delay(100, signal), undefined, undefined],
    ['within', signal => within<string>(never, { ms: 100, signal }, leave), 'timeout', 'aborted'],
    ['withTimeout', () => withTimeout(never, 100, 'too late'), new Error('too late'), undefined],
    ['withTimeout, with a function', () => withTimeout<number>(never, 100, () => 7), 7, undefined],
    ['withSignal', signal => withSignal(never, signal), undefined, REASON],
  ])('%s ends at its limit, or with its signal before', async (name, wait, end, stopped) => {
    const ended = vi.fn();
    const { signal } = new AbortController();
    if (name !== 'withSignal') {
      wait(signal).then(ended, ended);
      await vi.advanceTimersByTimeAsync(99);
      expect(ended).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(ended.mock.calls).toEqual([[end]]);
    }
    if (!name.startsWith('withTimeout')) {
      const controller = new AbortController();
      const waiting = wait(controller.signal).catch(error => error);
      controller.abort(REASON);
      expect([await waiting, await wait(controller.signal).catch(error => error)]).toEqual([stopped, stopped]);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
  });

  it.each<[string, (promise: Promise<unknown>, signal: AbortSignal) => Promise<unknown>]>([
    ['within', (promise, signal) => within(promise, { ms: 100, signal }, leave as never)],
    ['withTimeout', promise => withTimeout(promise, 100, 'too late')],
    ['withSignal', (promise, signal) => withSignal(promise, signal)],
  ])('%s settles as its promise does, and leaves nothing behind', async (_, wait) => {
    const { signal } = new AbortController();
    expect(await wait(Promise.resolve('done'), signal)).toBe('done');
    await expect(wait(Promise.reject(REASON), signal)).rejects.toBe(REASON);
    await null;
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
  });

  it('in the background does not keep the process alive', async () => {
    vi.useRealTimers();
    const begun = vi.spyOn(globalThis, 'setTimeout');
    const waiting = backgroundDelay(20);
    const timer = begun.mock.results[0]?.value as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    timer.ref();
    await waiting;
  });
});

describe('a deadline', () => {
  it('passes by the clock that does not jump', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const deadline = new Deadline(50);
    now.mockReturnValue(1_049.5);
    expect([deadline.remaining, deadline.timeout]).toEqual([0.5, 1]);
    now.mockReturnValue(1_050.5);
    expect([deadline.remaining, deadline.timeout]).toEqual([0, 1]);
  });

  it('passes by the wall clock too, because a machine may have slept', () => {
    vi.spyOn(performance, 'now').mockReturnValue(1_000);
    vi.setSystemTime(5_000);
    const deadline = new Deadline(50);
    vi.setSystemTime(5_049);
    expect(deadline.remaining).toBe(1);
    vi.setSystemTime(5_051);
    expect(deadline.remaining).toBe(0);
  });
});
