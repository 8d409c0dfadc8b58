// Shares one running create of this process among callers, each with its own limits.
import { type Deadline, LateError, type Left, leaving } from '../../deadline.ts';

/** How long one caller waits. */
export interface WaitLimits {
  deadline: Deadline;
  signal?: AbortSignal | undefined;
}

/** Work that several callers await. The last of them to stop waiting aborts it, and gets its end. */
export class InFlight<T> {
  readonly #giveUp = new AbortController();
  readonly #work: Promise<T>;
  #waiting = 0;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work(this.#giveUp.signal);
    // Every waiting caller gets the error.
    this.#work.catch(() => {});
  }

  /** @param stopped makes the error of a caller that leaves while others wait */
  async wait({ deadline, signal }: WaitLimits, stopped: (left: Left) => Error): Promise<T> {
    this.#waiting += 1;
    const left = await leaving(this.#work, { ms: deadline.remaining, signal });
    // Immediately: two callers may leave in the same microtask, and the last must know.
    this.#waiting -= 1;
    if (left && this.#waiting > 0) throw stopped(left);
    if (left) this.#giveUp.abort(left === 'timeout' ? new LateError() : signal?.reason);
    return this.#work;
  }
}
