// Waiting with a limit: for some time, for a promise, until a deadline.

/** Milliseconds: the longest time that a timer can keep, 24 days. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as that is aborted. */
export function delay(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  return withSignal(elapsed, signal).finally(() => clearTimeout(timer));
}

/** Resolves after so many milliseconds, or as soon as the signal is aborted: whatever comes next looks at that itself. */
export const pause = (ms: number, signal?: AbortSignal | undefined): Promise<void> => delay(ms, signal).catch(() => {});

/** Resolves after so many milliseconds, unless the process ends before: it is not kept from that. */
export const backgroundDelay = (ms: number): Promise<void> =>
  new Promise(resolve => {
    const timer: { unref?(): void } = setTimeout(resolve, ms);
    // Some runtimes count timers.
    timer.unref?.();
  });

/** How long somebody waits: so many milliseconds, and until the signal. */
interface Limits {
  ms?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Why somebody stopped to wait. */
export type Left = 'timeout' | 'aborted';

/** Settles as the promise does or, if a limit is reached before, as `onLeft` does: with what it returns or throws. */
export async function within<T>(promise: Promise<T>, limits: Limits, onLeft: (left: Left) => T): Promise<T> {
  const left = await leaving(promise, limits);
  return left ? onLeft(left) : promise;
}

/** Undefined once the promise has settled, or the limit that is reached before. */
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
    promise.then(
      () => settle(),
      () => settle(),
    );
  });
}

/**
 * Settles as the promise does or, if that takes more than `ms`, as `onTimeout` does: an error of that message, or
 * what the function returns or throws.
 */
export const withTimeout = <T>(promise: Promise<T>, ms: number, onTimeout: string | (() => T)): Promise<T> =>
  within(promise, { ms }, () => {
    if (typeof onTimeout === 'string') throw new Error(onTimeout);
    return onTimeout();
  });

/** Settles as the promise does, or rejects with the signal's reason as soon as that is aborted. */
export const withSignal = <T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  signal
    ? within(promise, { signal }, () => {
        throw signal.reason;
      })
    : promise;

/** Resolves as soon as the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });

/** Milliseconds since a moment of `performance.now()`, to the hundredth. */
export const since = (moment: number): number => Math.round((performance.now() - moment) * 100) / 100;

/** The time is up. */
export class LateError extends Error {}

/** When a call must end, by both clocks: one stops while the machine sleeps, the other can be set by people. */
export class Deadline {
  readonly #monotonic: number;
  readonly #wall: number;

  constructor(ms: number) {
    this.#monotonic = performance.now() + ms;
    this.#wall = Date.now() + ms;
  }

  /** Whether it has passed by either clock. */
  get isPast(): boolean {
    return performance.now() > this.#monotonic || Date.now() > this.#wall;
  }

  /** Milliseconds that are left; 0 once it has passed by either clock. */
  get remaining(): number {
    return Math.max(Math.min(this.#monotonic - performance.now(), this.#wall - Date.now()), 0);
  }

  /** Milliseconds for a call that ends by it: at least 1, as no call takes none. */
  get timeout(): number {
    return Math.max(this.remaining, 1);
  }
}
