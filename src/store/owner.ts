// One payment id belongs to one create: what happens if another create has it.
import { bounded, change, isTaken } from './change.ts';
import type { Journal, JournalRow } from './creates.ts';
import { UNSEEN } from './fingerprint.ts';
import { yieldPayment } from './transitions.ts';

/**
 * Gives a create its payment. If a row made only from that payment has it, that row gives it up.
 *
 * @param give writes the create's row
 * @param refused makes the error if another create has the payment
 */
export async function givePayment<T>(
  journal: Journal,
  paymentId: string,
  give: () => Promise<T>,
  refused: (owner: JournalRow | undefined) => Error,
): Promise<T> {
  try {
    return await give();
  } catch (error) {
    if (!isTaken(error)) throw error;
    const { row } = await bounded(journal.owner(paymentId));
    if (row?.bodyHash !== UNSEEN) throw refused(row);
    await change(journal, row, yieldPayment);
    return give();
  }
}
