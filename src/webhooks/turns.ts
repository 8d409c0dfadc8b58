// Runs the callbacks of one payment in turns: one turn runs, and all later callbacks share the next.
import { AsyncLocalStorage } from 'node:async_hooks';

/** The running turn of a payment, and the callbacks that share the next one. */
interface Turn<W> {
  next?: { waiters: W[]; inContext: ReturnType<typeof AsyncLocalStorage.snapshot> };
}

/** @param run one turn of a payment, in the context of its first callback. It never rejects */
export function takeTurns<W>(run: (paymentId: string, waiters: readonly W[]) => Promise<void>) {
  const running = new Map<string, Turn<W>>();

  const start = async (paymentId: string, waiters: readonly W[]) => {
    const turn: Turn<W> = {};
    running.set(paymentId, turn);
    await run(paymentId, waiters);
    if (turn.next) turn.next.inContext(start, paymentId, turn.next.waiters);
    else running.delete(paymentId);
  };

  return {
    isRunning: (paymentId: string): boolean => running.has(paymentId),

    /** Joins the waiting turn at no cost. @returns false if none waits */
    share(paymentId: string, waiter: W): boolean {
      const next = running.get(paymentId)?.next;
      next?.waiters.push(waiter);
      return next !== undefined;
    },

    /** Starts a turn, or joins the next one. */
    join(paymentId: string, waiter: W): void {
      const turn = running.get(paymentId);
      if (!turn) start(paymentId, [waiter]);
      else if (turn.next) turn.next.waiters.push(waiter);
      else turn.next = { waiters: [waiter], inContext: AsyncLocalStorage.snapshot() };
    },
  };
}
