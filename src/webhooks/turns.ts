// Decides when to process a callback: one running and one waiting turn of each payment, and a limit for each lane.
import { limit } from '../limit.ts';
import type { Call } from '../telemetry/call.ts';
import type { ProcessResult } from '../upkeep/handler-link.ts';
import type { Claim } from './claim.ts';

/** Concurrent turns of each lane. Each makes a lookup, and may run an effect. */
export const LIMITS = { signed: 32, unsigned: 16, sweep: 8 };

/** A callback, or a sweep, which claims no status. */
export interface Callback extends Claim {
  call: Call;
  /** A valid token, possibly of another payment. */
  token?: string | undefined;
  /** Ends its wait for a place. */
  signal: AbortSignal;
}

/** The findings of one turn: no payment if the gateway does not know it, no result if its status had no effect. */
export interface Turn extends Partial<ProcessResult> {
  /** Another final status took effect before, in the payment's row of this revision: the record may be older. */
  seen?: number | undefined;
}

/** A payment's running turn, and the callbacks that share the next one. */
interface Running {
  turn: Promise<Turn>;
  next?: { callbacks: Callback[]; turn: Promise<Turn> };
}

export class Turns {
  readonly #lanes = { signed: limit(LIMITS.signed), unsigned: limit(LIMITS.unsigned), sweep: limit(LIMITS.sweep) };
  readonly #running = new Map<string, Running>();

  /** Waits for a turn that begins after the call. It runs in the context of the first callback that shares it. */
  take(callback: Callback, run: (callbacks: readonly Callback[]) => Promise<Turn>): Promise<Turn> {
    const { id, call, signal } = callback;
    const callbacks = [callback];
    const begin = () => {
      const begun: Running = { turn: run(callbacks) };
      this.#running.set(id, begun);
      return begun.turn.finally(() => begun.next || this.#running.delete(id));
    };
    const join = () => {
      const running = this.#running.get(id);
      if (!running) return begin();
      if (running.next) running.next.callbacks.push(callback);
      else running.next = { callbacks, turn: running.turn.catch(() => {}).then(begin) };
      return running.next.turn;
    };
    // A turn that waits has its place already. All others take one before they join, so they wait only for their lane.
    return this.#running.get(id)?.next ? join() : this.#lanes[call.lane ?? 'sweep'](join, signal);
  }
}
