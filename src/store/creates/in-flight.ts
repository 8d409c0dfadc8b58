// Shares one running create of this process among callers, each with its own limits.
import { type Deadline, LateError, type Left, leaving } from '../../deadline.ts';

export interface WaitLimits {
  deadline: Deadline;
  signal?: AbortSignal | undefined;
}

/** Waits for shared work. @param stopped makes the error of a caller that leaves while others wait */
export type Join<T> = (limits: WaitLimits, stopped: (left: Left) => Error) => Promise<T>;

/** Starts work that several callers await. The last of them to stop waiting aborts it, and gets its end. */
export function startShared<T>(start: (giveUp: AbortSignal) => Promise<T>): Join<T> {
  const giveUp = new AbortController();
  const work = start(giveUp.signal);
  // Every waiting caller gets the error.
  work.catch(() => {});
  let waiting = 0;
  return async ({ deadline, signal }, stopped) => {
    waiting += 1;
    const left = await leaving(work, { ms: deadline.remaining, signal });
    // Immediately: two callers may leave in the same microtask, and the last must know.
    waiting -= 1;
    if (left && waiting > 0) throw stopped(left);
    if (left) giveUp.abort(left === 'timeout' ? new LateError() : signal?.reason);
    return work;
  };
}
