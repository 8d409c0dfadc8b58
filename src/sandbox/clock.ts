// The sandbox's clock, which tests can move.
import { SandboxError } from './sandbox-error.ts';

/** The clock of `created`, delayed callbacks and their repetitions. */
export class Clock {
  readonly #source: () => number;
  readonly #onMoved: (offset: number) => void;
  #offset = 0;

  /** @internal */
  constructor(source: () => number, onMoved: (offset: number) => void) {
    this.#source = source;
    this.#onMoved = onMoved;
  }

  /** Returns milliseconds since 1970. */
  now(): number {
    return this.#source() + this.#offset;
  }

  /** How far it was moved, in milliseconds. */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Moves the clock forward by 0 or more milliseconds, and posts the callbacks and repetitions that become due.
   *
   * @throws {SandboxError} `refused` for an invalid time, or beyond the year 9999
   */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new SandboxError('refused', 'A clock is advanced by milliseconds, 0 or more.');
    this.#move(this.#offset + ms);
  }

  /**
   * Sets the clock to milliseconds since 1970. An earlier time makes waiting callbacks wait longer.
   *
   * @throws {SandboxError} `refused` for an invalid time, or outside the years 1970 to 9999
   */
  set(at: number): void {
    this.#move(at - this.#source());
  }

  #move(offset: number): void {
    const at = this.#source() + offset;
    if (!(at >= 0 && at < Date.UTC(10_000, 0, 1))) {
      throw new SandboxError('refused', 'A clock is set to milliseconds since 1970, up to the year 9999.');
    }
    this.#offset = offset;
    this.#onMoved(offset);
  }

  /** @internal Sets the offset of a saved sandbox, or 0, without an event. */
  shift(offset: number): void {
    this.#offset = offset;
  }
}
