// A create that runs in this process, and everyone who waits for it, each within limits of their own.
import { type Deadline, LateError, type Left, leaving } from '../deadline.ts';

/** How long one of those who wait does so. */
export interface WaitLimits {
  deadline: Deadline;
  signal?: AbortSignal | undefined;
}

/** Work that several wait for. It is given up when the last of them stops to wait. */
export class InFlight<T> {
  readonly #giveUp = new AbortController();
  readonly #work: Promise<T>;
  /** Who has entered and not left, and who of them waits for the end of the work. */
  #present = 0;
  #waiting = 0;

  /** @param work stops as soon as the signal is aborted, and settles then */
  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work(this.#giveUp.signal);
    // Each who waits gets the error.
    this.#work.catch(() => {});
  }

  /** @returns leaves, and says whether nobody is left */
  enter(): () => boolean {
    this.#present += 1;
    return () => {
      this.#present -= 1;
      return this.#present === 0;
    };
  }

  /**
   * For one who has entered.
   *
   * @param stopped makes the error of whoever stops to wait while others wait on
   * @returns what the work returns. Who is the last to wait gives it up, and gets what it ends with.
   */
  async wait({ deadline, signal }: WaitLimits, stopped: (left: Left) => Error): Promise<T> {
    this.#waiting += 1;
    const left = await leaving(this.#work, { ms: deadline.remaining, signal });
    // At once: two may leave in the same turn, and the last of them must know.
    this.#waiting -= 1;
    if (left && this.#waiting > 0) throw stopped(left);
    if (left) this.#giveUp.abort(left === 'timeout' ? new LateError() : signal?.reason);
    return this.#work;
  }
}
