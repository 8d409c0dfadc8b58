// Limits for callbacks of each kind: a flood of one kind does not delay the others.
import { type Limited, limit } from '../limit.ts';

/** `signed`: with a valid token in its address. `unsigned`: without. `sweep`: by `upkeep`. */
export type Lane = 'signed' | 'unsigned' | 'sweep';

/** Concurrent callbacks of each kind: each makes a lookup, and may run an effect. */
export const LIMITS: Record<Lane, number> = { signed: 32, unsigned: 16, sweep: 8 };

/** Returns a limiter of each kind. Work waits only for its own kind. */
export const createLanes = (): Record<Lane, Limited> => ({
  signed: limit(LIMITS.signed),
  unsigned: limit(LIMITS.unsigned),
  sweep: limit(LIMITS.sweep),
});

/** Milliseconds and ids: a flood of one unknown id costs one lookup, and the memory of any flood is limited. */
const REMEMBERED_FOR = 5_000;
const MOST_REMEMBERED = 10_000;

/** Ids that the gateway did not know a moment ago. */
export class UnknownIds {
  readonly #until = new Map<string, number>();

  has(paymentId: string): boolean {
    return (this.#until.get(paymentId) ?? 0) > performance.now();
  }

  add(paymentId: string): void {
    this.#until.delete(paymentId);
    this.#until.set(paymentId, performance.now() + REMEMBERED_FOR);
    if (this.#until.size <= MOST_REMEMBERED) return;
    const [oldest = ''] = this.#until.keys();
    this.#until.delete(oldest);
  }

  delete(paymentId: string): void {
    this.#until.delete(paymentId);
  }
}
