// Waits with a limit: for some time, for a promise, until a deadline.

/** Milliseconds: 24 days. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Resolves after `ms` milliseconds, or once the signal is aborted. The caller checks the signal. */
export async function delay(ms: number, signal?: AbortSignal) {
  await leaving(new Promise(() => {}), { ms, signal });
}

export const aborted = (signal: AbortSignal) => delay(Number.POSITIVE_INFINITY, signal);

/** A delay that does not keep the process alive. */
export const backgroundDelay = (ms: number): Promise<void> =>
  new Promise(resolve => {
    const timer: { unref?(): void } = setTimeout(resolve, ms);
    // In some runtimes a timer is a number.
    timer.unref?.();
  });

interface Limits {
  ms?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The limit that ended a wait. */
export type Left = 'timeout' | 'aborted';

/** Settles as the promise does or, if a limit is reached before, as `onLeft` does. */
export async function within<T>(promise: Promise<T>, limits: Limits, onLeft: (left: Left) => T): Promise<T> {
  const left = await leaving(promise, limits);
  return left ? onLeft(left) : promise;
}

/** Resolves to undefined once the promise has settled, or to a limit reached before. */
export function leaving(
  promise: Promise<unknown>,
  { ms = Number.POSITIVE_INFINITY, signal }: Limits,
): Promise<Left | undefined> {
  return new Promise(resolve => {
    const timer = Number.isFinite(ms) ? setTimeout(() => settle('timeout'), ms) : undefined;
    const abort = () => settle('aborted');
    const settle = (left?: Left) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(left);
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort);
    const done = () => settle();
    promise.then(done, done);
  });
}

/** Settles as the promise does or, after `ms`, as `onTimeout` does. A string is the message of an error. */
export const withTimeout = <T>(promise: Promise<T>, ms: number, onTimeout: string | (() => T)) =>
  within(promise, { ms }, () => {
    if (typeof onTimeout === 'string') throw new Error(onTimeout);
    return onTimeout();
  });

/** Settles as the promise does, or rejects with the signal's reason. */
export const withSignal = <T>(promise: Promise<T>, signal: AbortSignal) =>
  within(promise, { signal }, () => {
    throw signal.reason;
  });

/** Returns milliseconds, to the hundredth. @param moment of `performance.now()` */
export const since = (moment: number) => Math.round((performance.now() - moment) * 100) / 100;

export class LateError extends Error {}

/** The end of a call by two clocks: one stops while the machine sleeps, the other can be set. */
export class Deadline {
  readonly #monotonic: number;
  readonly #wall: number;

  constructor(ms: number) {
    this.#monotonic = performance.now() + ms;
    this.#wall = Date.now() + ms;
  }

  /** Milliseconds, or 0 once it has passed by either clock. */
  get remaining() {
    return Math.max(Math.min(this.#monotonic - performance.now(), this.#wall - Date.now()), 0);
  }

  /** The `timeout` of a call that ends at this deadline: at least 1 ms. */
  get timeout() {
    return Math.max(this.remaining, 1);
  }
}
