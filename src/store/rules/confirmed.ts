// The rules for a payment that a lookup has confirmed: what becomes of its reference.
import { isPaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { type CreateRow, isOwnPayment, newRow } from './create-row.ts';
import { unseenAttempt } from './fingerprint.ts';
import { beside, created, isFailed, observe, type Step, settle, unleased, withConflict } from './transitions.ts';

/** Settles the doubt of a reference. An unknown, planned or freed one gets the payment too, to prevent a second one. */
export function reconcile(found: CreateRow | undefined, reference: string, payment: Payment, now: number): Step {
  if (!found) return { next: created(newRow(unseenAttempt(reference, payment), now), { payment }), outcome: 'created' };
  const isOpen = found.state === 'planned' || found.state === 'freed';
  // A failed payment is older than the plan, and leaves a free reference free. Any other reopens the doubt.
  if (isOpen && isFailed(payment)) return {};
  const again = { state: 'begun', isEnded: true, looks: 0, body: undefined } as const;
  const row = isOpen ? { ...unleased(found), ...again } : found;
  const isOwn = isOwnPayment(row, payment.id);
  if (row.result) {
    if (isOwn) return observe(row, { payment });
    const kept = beside(row, payment.id);
    // A gateway may keep a FAILED payment of a refused attempt. The next attempt's payment replaces it.
    const isReplaced = isFailed(row.result.payment) && !isFailed(payment) && isPaymentOf(row, payment);
    return isReplaced ? { ...kept, next: created(row, { payment }) } : kept;
  }
  // It may belong to the attempt before, because a gateway may keep a refused payment. Or the own answer has named another.
  if (isFailed(payment) && !isOwn && (row.isRetry || row.paymentId)) return beside(row, payment.id);
  // A folded reference may be another order's, unless the own answer has named the payment.
  const isExact = isOwn || !payment.reference || payment.reference === row.reference;
  if (isExact && isPaymentOf(row, payment))
    return { ...settle(row, { payment }), outcome: isOpen ? 'created' : 'settled' };
  const next = withConflict(row, payment.id);
  return next === found ? {} : { next };
}

/** Whether the status can wait for its effect: a sweep looks at it, even if the process ends before. */
export const canWait = (row: CreateRow, { id }: Payment): boolean =>
  row.state === 'created' && isOwnPayment(row, id) && row.dueAt === row.begunAt && row.effectAt === undefined;
