// Finds the row of the reference that a payment names, if that is not the expected one.
import type { Payment } from '../schemas/payment.ts';
import type { Journal, JournalKey, JournalRow } from './contract.ts';
import { UNSEEN } from './fingerprint.ts';
import { readRow } from './key.ts';

/** The row of the reference that the payment names, if that is another one, and its create is in this journal too. */
export async function otherOwner(
  journal: Journal,
  { scope, reference }: JournalKey,
  payment: Payment,
): Promise<JournalRow | undefined> {
  if (!payment.reference || payment.reference === reference) return undefined;
  const { row } = await readRow(journal, { scope, reference: payment.reference });
  // A row that only this payment has made is no order's.
  return !row || row.state === 'freed' || row.bodyHash === UNSEEN ? undefined : row;
}
