// Decides when a callback is processed: a place for each kind, and one turn of a payment at a time.
import { AsyncLocalStorage } from 'node:async_hooks';
import { limit } from '../limit.ts';

/** `signed`: with a valid token in its address. `unsigned`: without. `sweep`: by `upkeep`. */
export type Lane = 'signed' | 'unsigned' | 'sweep';

/** Concurrent callbacks of each kind: each makes a lookup, and may run an effect. */
export const LIMITS: Record<Lane, number> = { signed: 32, unsigned: 16, sweep: 8 };

/** A callback that waits for its result. */
type Waiter<C, R> = C & { resolve(result: R): void; reject(error: unknown): void };

/** The running turn of a payment, and the callbacks that share the next one. */
interface Turn<W> {
  next?: { waiters: W[]; inContext: ReturnType<typeof AsyncLocalStorage.snapshot> };
}

/**
 * @param run one turn of a payment, in the context of its first callback. It settles each waiter and always resolves
 * @returns a function that waits for the result of a callback. The signal ends its wait for a place
 */
export function takeTurns<C extends object, R>(
  run: (paymentId: string, waiters: readonly Waiter<C, R>[]) => Promise<void>,
) {
  const lanes = { signed: limit(LIMITS.signed), unsigned: limit(LIMITS.unsigned), sweep: limit(LIMITS.sweep) };
  const running = new Map<string, Turn<Waiter<C, R>>>();

  const start = async (paymentId: string, waiters: readonly Waiter<C, R>[]) => {
    const turn: Turn<Waiter<C, R>> = {};
    running.set(paymentId, turn);
    await run(paymentId, waiters);
    if (turn.next) turn.next.inContext(start, paymentId, turn.next.waiters);
    else running.delete(paymentId);
  };

  return (paymentId: string, callback: C, lane: Lane, signal?: AbortSignal): Promise<R> => {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const waiter = { ...callback, resolve, reject };
    const join = () => {
      const turn = running.get(paymentId);
      if (!turn) start(paymentId, [waiter]);
      else if (turn.next) turn.next.waiters.push(waiter);
      else turn.next = { waiters: [waiter], inContext: AsyncLocalStorage.snapshot() };
      return promise;
    };
    // A turn that waits has its place already. All others take one before they join, so they wait only for their kind.
    return running.get(paymentId)?.next ? join() : lanes[lane](join, signal);
  };
}
