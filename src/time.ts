// Waits, within bounds.
import { ConnectionError } from './errors.ts';

/** @throws {ConnectionError} `aborted`, as soon as the signal is */
export function sleep(ms: number, paymentId: string, signal?: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const stop = () => {
      clearTimeout(timer);
      reject(new ConnectionError(`The wait for payment ${paymentId} was aborted.`, 'aborted', { paymentId }));
    };
    const timer = setTimeout(wake, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Settles as the promise does or, if that takes more than `ms`, as `late` does. */
export function inTime<T>(promise: Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([promise, elapsed.then(late)]).finally(() => clearTimeout(timer));
}

/** For {@link inTime}: being late is a failure. */
export const failing = (message: string) => (): never => {
  throw new Error(message);
};

/** Milliseconds since a moment of `performance.now()`, to the hundredth. */
export const since = (moment: number): number => Math.round((performance.now() - moment) * 100) / 100;

/** A moment by both clocks: one stands still while the machine sleeps, the other is set by people. */
export interface Deadline {
  /** Of `performance.now()`. */
  monotonic: number;
  /** Of `Date.now()`. */
  wall: number;
}

export const deadlineIn = (ms: number): Deadline => ({
  monotonic: performance.now() + ms,
  wall: Date.now() + ms,
});

/** Whether it has passed by either clock. */
export const isPast = ({ monotonic, wall }: Deadline): boolean =>
  performance.now() > monotonic || Date.now() > wall;
