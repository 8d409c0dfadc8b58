// Decides when a payment is processed: a place for each kind of callback, and one turn of a payment at a time.
import { limit } from '../limit.ts';

/** `signed`: with a valid token in its address. `unsigned`: without. `sweep`: by `upkeep`. */
export type Lane = 'signed' | 'unsigned' | 'sweep';

/** Concurrent turns of each kind: each makes a lookup, and may run an effect. */
export const LIMITS: Record<Lane, number> = { signed: 32, unsigned: 16, sweep: 8 };

/** A payment's running turn, and the callbacks that share the next one. */
interface Turn<C, R> {
  result: Promise<R>;
  next?: { callbacks: C[]; result: Promise<R> };
}

/**
 * @param run one turn of a payment, for all callbacks that share it, in the context of the first
 * @returns a function that waits for a turn that begins after the call. The signal ends its wait for a place
 */
export function takeTurns<C, R>(run: (paymentId: string, callbacks: readonly C[]) => Promise<R>) {
  const lanes = { signed: limit(LIMITS.signed), unsigned: limit(LIMITS.unsigned), sweep: limit(LIMITS.sweep) };
  const running = new Map<string, Turn<C, R>>();

  const begin = (paymentId: string, callbacks: C[]): Promise<R> => {
    const turn: Turn<C, R> = { result: run(paymentId, callbacks) };
    running.set(paymentId, turn);
    return turn.result.finally(() => turn.next || running.delete(paymentId));
  };

  return (paymentId: string, callback: C, lane: Lane, signal?: AbortSignal): Promise<R> => {
    const join = (): Promise<R> => {
      const turn = running.get(paymentId);
      if (!turn) return begin(paymentId, [callback]);
      if (turn.next) {
        turn.next.callbacks.push(callback);
        return turn.next.result;
      }
      const callbacks = [callback];
      const result = turn.result.catch(() => {}).then(() => begin(paymentId, callbacks));
      turn.next = { callbacks, result };
      return result;
    };
    // A turn that waits has its place already. All others take one before they join, so they wait only for their kind.
    return running.get(paymentId)?.next ? join() : lanes[lane](join, signal);
  };
}
