// The meaning of a payment's status for the merchant: pure functions from the record and the rows to an outcome.
//
//   deposit     (declined) ──▶ paid ──▶ reversed          a COMPLETED that pays nothing is held, for review
//   withdrawal  paid_out ──▶ payout_failed, or payout_failed at once
import { isSamePayment } from '../../schemas/id.ts';
import { isPaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { isPaid, progressOf } from '../../schemas/records/payment-status.ts';
import type { ReviewReason } from '../../telemetry/events.ts';
import type { StoreRow } from '../contract.ts';
import { type CreateRow, isOwnPayment } from './create-row.ts';
import { UNSEEN } from './fingerprint.ts';
import type { OrderData } from './order-row.ts';
import { type KeptOutcome, type PaymentData, paymentDataOf } from './payment-row.ts';

export type FunctionName = 'onPaid' | 'onAuthorized' | 'onDeclined' | 'onReversed' | 'onPaidOut' | 'onPayoutFailed';

/**
 * Decides whether a status takes effect. After a final or unknown one: look up again, with the row's revision as `seen`.
 *
 * @param next the outcome that it would have
 */
export function decide(
  row: StoreRow | undefined,
  status: string,
  seen: number | undefined,
  next: KeptOutcome | undefined,
): 'run' | 'already' | 'again' {
  const { statuses, outcome } = paymentDataOf(row);
  const last = statuses.at(-1);
  if (last === undefined) return 'run';
  // It came while its create was in doubt, and had no outcome.
  if (last === status && outcome === undefined && next !== undefined) return 'run';
  if (last === status || progressOf(status) < progressOf(last)) return 'already';
  if (progressOf(last) < 3) return 'run';
  return seen === row?.revision ? 'run' : 'again';
}

interface StatusFacts {
  payment: Payment;
  known: PaymentData;
  /** The create of its reference. */
  create: CreateRow | undefined;
  /** The order that the create is an attempt of. */
  order: OrderData | undefined;
}

export interface Verdict {
  outcome?: KeptOutcome | undefined;
  /** The function that gets it. */
  call?: FunctionName | undefined;
  /** Why a person must check it, instead of the function. */
  reason?: ReviewReason | undefined;
  /** The withdrawal had been paid out. */
  wasPaidOut?: boolean | undefined;
  create: CreateRow | undefined;
  order: OrderData | undefined;
}

/** Reasons for a review where the handler has no function for an outcome. Without a reason it is ignored. */
export const WITHOUT_FUNCTION: Record<FunctionName, ReviewReason | undefined> = {
  onPaid: 'paid',
  onAuthorized: undefined,
  onDeclined: undefined,
  onReversed: 'reversed',
  onPaidOut: undefined,
  onPayoutFailed: 'payout_failed',
};

export function judge(facts: StatusFacts): Verdict {
  const { create, order } = facts;
  return { create, order, ...consequencesOf(facts) };
}

/** Returns the parts of a verdict that the status decides. A row that it leaves out stays unchanged. */
function consequencesOf(facts: StatusFacts): Partial<Verdict> {
  const { payment, known, create } = facts;
  const isOut = payment.paymentType === 'WITHDRAWAL';
  if (payment.paymentStatus === 'UNKNOWN') return { reason: 'unknown_status' };
  if (isPaid(payment)) return completed(facts);
  if (payment.paymentStatus === 'PENDING') return {};
  // A row made only from a payment belongs to no create.
  const isOwn = create !== undefined && create.bodyHash !== UNSEEN && isOwnPayment(create, payment.id);
  if (payment.paymentStatus === 'AUTHORIZED')
    return isOut || !isOwn ? {} : { outcome: 'authorized', call: 'onAuthorized' };
  const failed = isOut ? 'payout_failed' : 'reversed';
  if (known.outcome === 'held') return { outcome: failed, reason: failed };
  if (known.outcome === failed || !create || !(isOwn || known.outcome)) return {};
  return isOut ? payoutFailed(facts, create) : depositFailed(facts, create);
}

function completed({ payment, known, create, order }: StatusFacts): Partial<Verdict> {
  const isOut = payment.paymentType === 'WITHDRAWAL';
  const held = (reason: ReviewReason): Partial<Verdict> => ({ outcome: 'held', reason });
  // Without the order's row, nothing says which of its payments counts.
  const isUnknown = !create || create.bodyHash === UNSEEN || (create.order !== undefined && !order);
  if (isUnknown) return held('unknown_reference');
  const payer = order ?? create;
  const outcome = isOut ? 'paid_out' : 'paid';
  if (payer.paidBy && isSamePayment(payer.paidBy, payment.id)) return { outcome };
  if (known.outcome === 'reversed' || known.outcome === 'payout_failed') return held('paid_again');
  if (order?.isCanceled) return held('order_canceled');
  if (payer.paidBy) return held('already_paid');
  const { paymentType } = create;
  const { amount = create.amount, currency = create.currency } = order ?? {};
  if (!isPaymentOf({ paymentType, amount, currency }, payment)) return held('amount_differs');
  return {
    outcome,
    call: isOut ? 'onPaidOut' : 'onPaid',
    create: { ...create, paidBy: payment.id },
    order: order && { ...order, paidBy: payment.id },
  };
}

/** Whether another payment has paid the order, or the reference without one. */
const isPaidByOther = ({ paidBy }: { paidBy?: string | undefined }, { id }: Payment): boolean =>
  paidBy !== undefined && !isSamePayment(paidBy, id);

function depositFailed({ payment, known, order }: StatusFacts, create: CreateRow): Partial<Verdict> {
  if (known.outcome === 'declined') return {};
  if (known.outcome !== 'paid') return { outcome: 'declined', call: 'onDeclined' };
  // After an interrupted `resolveReview`.
  if (isPaidByOther(order ?? create, payment)) return { outcome: 'reversed' };
  const reversed = order && { ...order, paidBy: undefined, isReversed: true };
  return { outcome: 'reversed', call: 'onReversed', create: { ...create, paidBy: undefined }, order: reversed };
}

function payoutFailed({ payment, known }: StatusFacts, create: CreateRow): Partial<Verdict> {
  // Another payment of the reference was paid out: giving the money back would lose it.
  if (isPaidByOther(create, payment)) return {};
  const wasPaidOut = known.outcome === 'paid_out';
  return { outcome: 'payout_failed', call: 'onPayoutFailed', wasPaidOut, create: { ...create, paidBy: undefined } };
}
