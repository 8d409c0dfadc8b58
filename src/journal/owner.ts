// Finds the row of a payment's own reference if that differs from the expected reference.
import type { Payment } from '../schemas/payment.ts';
import type { Journal, JournalKey, JournalRow } from './contract.ts';
import { UNSEEN } from './fingerprint.ts';
import { readRow } from './key.ts';

/** Returns the row of the payment's own reference, if it differs and this journal holds its create. */
export async function otherOwner(
  journal: Journal,
  { scope, reference }: JournalKey,
  payment: Payment,
): Promise<JournalRow | undefined> {
  if (!payment.reference || payment.reference === reference) return undefined;
  const { row } = await readRow(journal, { scope, reference: payment.reference });
  // A row made only from this payment belongs to no order.
  return !row || row.state === 'freed' || row.bodyHash === UNSEEN ? undefined : row;
}
