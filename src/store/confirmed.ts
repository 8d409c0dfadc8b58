// The rules for a payment that a lookup has confirmed: what becomes of its reference.
import { isSamePayment } from '../schemas/id.ts';
import { isPaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import type { JournalKey, JournalRow } from './creates.ts';
import { journalRequestOfPayment } from './fingerprint.ts';
import { due, knownIds, newRow, type RowChange, withConflict, withoutIds } from './row.ts';
import { created, isFailed, observe, type RecordedStep, settle } from './transitions.ts';

/** The effect of a confirmed payment on its reference. */
export interface ReconciledStep extends RecordedStep {
  /** The reference had no payment before. `settled` if it was in doubt. */
  outcome?: 'created' | 'settled';
  /** The payment differs from the request. */
  isMismatch?: boolean;
}

/**
 * Settles the doubt of a reference with a confirmed payment. An unknown, planned or freed reference gets the payment
 * too, to prevent a second one.
 *
 * @param disproved ids without a payment, or with another order's
 */
export function reconcile(
  found: JournalRow | undefined,
  { key, payment, attemptId }: { key: JournalKey; payment: Payment; attemptId: string },
  now: number,
  disproved: readonly string[] = [],
): ReconciledStep {
  if (!found) {
    const seen = newRow({ ...journalRequestOfPayment(payment), ...key, attemptId, timeoutMs: 0 }, now);
    return { next: { ...created(seen, { payment }), paymentId: payment.id }, outcome: 'created' };
  }
  const isOpen = found.state === 'planned' || found.state === 'freed';
  // A failed payment is older than the plan, and leaves a free reference free.
  if (isOpen && isFailed(payment)) return {};
  const row = isOpen ? reopened(found) : found;
  const { paymentId: own } = withoutIds(row, row.state === 'begun' ? disproved : []);
  const known = own ?? payment.id;
  if (!isSamePayment(known, payment.id)) {
    const next = hasFailed(row) && !isFailed(payment) && isPaymentOf(row, payment) ? replaced(row, payment) : row;
    return { next: withConflict(next, payment.id), otherPayment: { id: row.paymentId } };
  }
  if (row.state === 'created') return observe(row, { payment });
  // A later version may have other states.
  if (row.state !== 'begun') return {};
  // The payment may belong to the attempt before: a gateway may keep a payment that it has refused.
  if (row.isRetry && isFailed(payment) && !own) {
    return { next: withConflict(row, payment.id), otherPayment: {} };
  }
  return isPaymentOf(row, payment)
    ? { ...settle(row, { payment }, { disproved }), outcome: isOpen ? 'created' : 'settled' }
    : { next: withConflict(row, payment.id), isMismatch: true };
}

/** The row in doubt again. It keeps its request. */
const reopened = ({ body, leasedUntil, ...row }: JournalRow): JournalRow => ({
  ...row,
  state: 'begun',
  isEnded: true,
  looks: 0,
});

/** Keeps a payment whose reference differs only by folding, because it may be this reference's. */
export const suspect = (row: JournalRow | undefined, payment: Payment): RowChange & { isNew?: boolean } =>
  row?.state === 'begun' && !knownIds(row).some(id => isSamePayment(id, payment.id))
    ? { next: withConflict(row, payment.id), isNew: true }
    : {};

const hasFailed = ({ state, result }: JournalRow): boolean =>
  state === 'created' && result !== undefined && isFailed(result.payment);

/** A gateway may keep a FAILED payment of a refused attempt. The next attempt's payment replaces it. */
const replaced = (row: JournalRow, payment: Payment): JournalRow => {
  const { paymentId = payment.id } = row;
  return withConflict(
    due({ ...created(withoutIds(row, [payment.id]), { payment }), paymentId: payment.id }),
    paymentId,
  );
};
