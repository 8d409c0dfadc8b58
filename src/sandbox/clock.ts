// The sandbox's clock: it dates what happens, wakes what waits, and can be moved.
import { LONGEST_TIMER } from '../deadline.ts';
import { SandboxError } from './sandbox-error.ts';

interface Waiting {
  /** By `performance.now()`. */
  due: number;
  timer: NodeJS.Timeout;
  wake(): void;
}

/** The last millisecond that a four-digit year can show. */
const LATEST = Date.UTC(10_000, 0, 1) - 1;

/** The clock of a sandbox: `created`, delayed callbacks and their repetitions go by it. */
export class Clock {
  readonly #source: () => number;
  readonly #onMoved: (offset: number) => void;
  readonly #waiting = new Set<Waiting>();
  #offset = 0;

  /** @internal */
  constructor(source: () => number, onMoved: (offset: number) => void) {
    this.#source = source;
    this.#onMoved = onMoved;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#source() + this.#offset;
  }

  /** How far it has been moved, in milliseconds. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Moves it forward. What waits for that time is woken: delayed callbacks and repetitions are posted.
   *
   * @param ms milliseconds, 0 or more
   * @throws {SandboxError} `refused` for a time that is none, or beyond the year 9999
   */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new SandboxError('refused', 'A clock is advanced by milliseconds, 0 or more.');
    // From one reading: a millisecond may pass between two, and what waits for just that long would not be woken.
    const now = this.now();
    this.#move(now, now + ms);
  }

  /**
   * Sets it to a time, also an earlier one: what waits then waits longer.
   *
   * @param at milliseconds since 1970
   * @throws {SandboxError} `refused` for a time that is none, or outside the years 1970 to 9999
   */
  set(at: number): void {
    this.#move(this.now(), at);
  }

  #move(now: number, at: number): void {
    if (!(at >= 0 && at <= LATEST)) {
      throw new SandboxError('refused', 'A clock is set to milliseconds since 1970, up to the year 9999.');
    }
    const forward = at - now;
    this.#offset += forward;
    for (const waiting of this.#waiting) {
      waiting.due -= forward;
      this.#arm(waiting);
    }
    this.#onMoved(this.#offset);
  }

  /** @internal As far from the machine's clock as it was when a sandbox was saved; 0 follows it again. */
  shift(offset: number): void {
    this.#offset = offset;
  }

  /** @internal Calls back after so many milliseconds of this clock. @returns what gives it up */
  after(ms: number, wake: () => void): () => void {
    const waiting: Waiting = {
      due: performance.now() + ms,
      timer: undefined as never,
      wake: () => {
        this.#waiting.delete(waiting);
        wake();
      },
    };
    this.#waiting.add(waiting);
    this.#arm(waiting);
    return () => {
      clearTimeout(waiting.timer);
      this.#waiting.delete(waiting);
    };
  }

  #arm(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    const ms = Math.max(waiting.due - performance.now(), 0);
    waiting.timer = setTimeout(waiting.wake, Math.min(ms, LONGEST_TIMER));
  }
}
