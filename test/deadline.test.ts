import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  aborted,
  backgroundDelay,
  Deadline,
  delay,
  LateError,
  pause,
  since,
  within,
  withSignal,
  withTimeout,
} from '../src/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const REASON = new Error('the shop closes');
const never = new Promise<never>(() => {});

/** What a promise has come to by now. */
const stateOf = (promise: Promise<unknown>) =>
  Promise.race([promise.then(value => ({ value })), never, Promise.resolve().then(() => 'waiting')]).catch(error => ({
    error,
  }));

describe('delay', () => {
  it('takes as long as it is told', async () => {
    const waiting = delay(100);
    await vi.advanceTimersByTimeAsync(99);
    expect(await stateOf(waiting)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await waiting).toBeUndefined();
  });

  it('ends with its signal, and leaves neither a timer nor a listener', async () => {
    const controller = new AbortController();
    const waiting = delay(100, controller.signal);
    const ended = waiting.catch(error => error);
    controller.abort(REASON);
    expect(await ended).toBe(REASON);
    expect([vi.getTimerCount(), getEventListeners(controller.signal, 'abort')]).toEqual([0, []]);
  });
});

describe('pause', () => {
  it('ends as it is told, or with its signal, which is no error', async () => {
    const controller = new AbortController();
    const waiting = pause(100, controller.signal);
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toBeUndefined();
    const stopped = pause(100, controller.signal);
    controller.abort(REASON);
    expect(await stopped).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('backgroundDelay', () => {
  it('takes as long as it is told, and does not keep the process alive', async () => {
    vi.useRealTimers();
    const begun = vi.spyOn(globalThis, 'setTimeout');
    const waiting = backgroundDelay(20);
    const timer = begun.mock.results[0]?.value as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(false);
    timer.ref();
    expect(await waiting).toBeUndefined();
    expect(begun).toHaveBeenCalledWith(expect.any(Function), 20);
    begun.mockRestore();
  });

  it('waits also where timers are numbers', async () => {
    vi.stubGlobal('setTimeout', (work: () => void) => {
      queueMicrotask(work);
      return 7;
    });
    expect(await backgroundDelay(1_000)).toBeUndefined();
    vi.unstubAllGlobals();
  });
});

describe('within', () => {
  const leave = (left: string) => left;

  it('settles as the promise does before its limits are reached, and leaves neither a timer nor a listener', async () => {
    const { signal } = new AbortController();
    expect(await within(Promise.resolve('done'), { ms: 100, signal }, leave)).toBe('done');
    await expect(within(Promise.reject(REASON), { ms: 100, signal }, leave as never)).rejects.toBe(REASON);
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
  });

  it('says which limit was reached first, and leaves nothing of the other', async () => {
    const controller = new AbortController();
    const late = within<string>(never, { ms: 100, signal: controller.signal }, leave);
    await vi.advanceTimersByTimeAsync(99);
    expect(await stateOf(late)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect([await late, getEventListeners(controller.signal, 'abort')]).toEqual(['timeout', []]);
    const stopped = within<string>(never, { ms: 100, signal: controller.signal }, leave);
    controller.abort();
    expect([await stopped, vi.getTimerCount()]).toEqual(['aborted', 0]);
    expect(await within<string>(never, { signal: AbortSignal.abort() }, leave)).toBe('aborted');
  });

  it('rejects with what is thrown once a limit is reached, and with nothing that comes after', async () => {
    const failing = Promise.reject(REASON);
    const ended = within(failing, { signal: AbortSignal.abort() }, left => {
      throw new Error(left);
    });
    await expect(ended).rejects.toThrow('aborted');
  });

  it.each([undefined, Number.POSITIVE_INFINITY])('waits without end for %s milliseconds', async ms => {
    const waiting = within<string>(never, { ms }, leave);
    expect([await stateOf(waiting), vi.getTimerCount()]).toEqual(['waiting', 0]);
  });
});

describe('withTimeout', () => {
  it.each(['late', () => 'late'])('settles as the promise does, and leaves no timer', async onTimeout => {
    expect(await withTimeout(Promise.resolve(7 as unknown), 100, onTimeout)).toBe(7);
    await expect(withTimeout(Promise.reject(REASON), 100, onTimeout as never)).rejects.toBe(REASON);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects with an error of that message once the time is up', async () => {
    const ending = withTimeout(never, 100, 'The store did not answer.').catch(error => error);
    await vi.advanceTimersByTimeAsync(99);
    expect(await stateOf(ending)).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(await ending).toEqual(new Error('The store did not answer.'));
  });

  it('becomes what the function returns or throws', async () => {
    const returned = withTimeout<number>(never, 100, () => 7);
    const thrown = withTimeout<number>(never, 100, () => {
      throw REASON;
    }).catch(error => error);
    await vi.advanceTimersByTimeAsync(100);
    expect([await returned, await thrown]).toEqual([7, REASON]);
  });
});

describe('withSignal', () => {
  it('is the promise itself without a signal', () => {
    expect(withSignal(never, undefined)).toBe(never);
  });

  it('settles as the promise does, and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await withSignal(Promise.resolve(7), signal)).toBe(7);
    await expect(withSignal(Promise.reject(REASON), signal)).rejects.toBe(REASON);
    await null;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of a signal that is aborted, before or later', async () => {
    await expect(withSignal(never, AbortSignal.abort(REASON))).rejects.toBe(REASON);
    const controller = new AbortController();
    const ended = withSignal(never, controller.signal).catch(error => error);
    expect(await stateOf(ended)).toBe('waiting');
    controller.abort(REASON);
    expect(await ended).toBe(REASON);
  });
});

describe('aborted', () => {
  it('resolves as soon as the signal is aborted', async () => {
    const controller = new AbortController();
    const ended = aborted(controller.signal);
    expect(await stateOf(ended)).toBe('waiting');
    controller.abort();
    expect(await ended).toBeUndefined();
    expect(await aborted(controller.signal)).toBeUndefined();
  });
});

it('since tells milliseconds to the hundredth', () => {
  vi.spyOn(performance, 'now').mockReturnValue(1_003.45678);
  expect(since(1_000)).toBe(3.46);
  vi.restoreAllMocks();
});

describe('a deadline', () => {
  it('passes by the clock that does not jump, after its time and not at it', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const deadline = new Deadline(50);
    expect([deadline.isPast, deadline.remaining, deadline.timeout]).toEqual([false, 50, 50]);
    now.mockReturnValue(1_050);
    expect([deadline.isPast, deadline.remaining, deadline.timeout]).toEqual([false, 0, 1]);
    now.mockReturnValue(1_050.5);
    expect([deadline.isPast, deadline.remaining]).toEqual([true, 0]);
    now.mockRestore();
  });

  it('passes by the clock on the wall, too: a machine may have slept', () => {
    vi.spyOn(performance, 'now').mockReturnValue(1_000);
    vi.setSystemTime(5_000);
    const deadline = new Deadline(50);
    vi.setSystemTime(5_050);
    expect(deadline.isPast).toBe(false);
    vi.setSystemTime(5_051);
    expect([deadline.isPast, deadline.remaining]).toEqual([true, 0]);
    vi.restoreAllMocks();
  });
});

it('a LateError is an error', () => {
  expect(new LateError()).toBeInstanceOf(Error);
});
