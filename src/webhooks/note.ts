// Notes an unfinished callback in the store, because the gateway may send no second one.
import { withTimeout } from '../deadline.ts';
import type { ClientLink } from './client-link.ts';

/** Milliseconds that an answer waits for the store. */
export const LONGEST_NOTE = 1_000;

/** @returns a function that makes a payment due for upkeep. It never rejects */
export function createNote(link: Pick<ClientLink, 'makeDue'> | undefined) {
  // A flood of one payment costs one statement at a time.
  const running = new Map<string, Promise<void>>();
  return async (paymentId: string): Promise<void> => {
    if (!link) return;
    let noting = running.get(paymentId);
    if (!noting) {
      noting = link.makeDue(paymentId).catch(() => {});
      running.set(paymentId, noting);
      noting.then(() => running.delete(paymentId));
    }
    await withTimeout(noting, LONGEST_NOTE, () => {});
  };
}
