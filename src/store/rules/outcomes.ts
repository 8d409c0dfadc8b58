// The meaning of a payment's status for the merchant: pure functions from the record and the rows to an outcome.
//
//   deposit     (declined) ──▶ paid ──▶ reversed          a COMPLETED that pays nothing is held, for review
//   withdrawal  paid_out ──▶ payout_failed, or payout_failed at once
import { isSamePayment } from '../../schemas/id.ts';
import { isPaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { isFinal, isPaid, progressOf } from '../../schemas/records/payment-status.ts';
import type { ReviewReason } from '../../telemetry/events.ts';
import type { StoreRow } from '../contract.ts';
import { type CreateRow, isOwnPayment, storeRowOf } from './create-row.ts';
import { UNSEEN } from './fingerprint.ts';
import { orderDataOf } from './order-row.ts';
import { type KeptOutcome, type PaymentData, paymentDataOf } from './payment-row.ts';

/** Whether a status takes effect. `again`: look up once more after a final or unknown one, with the revision as `seen`. */
export function decide(row: StoreRow | undefined, status: string, seen: number, verdict: Verdict) {
  const { status: last, outcome, reviews } = paymentDataOf(row);
  if (last === undefined) return 'run';
  // It came while its create was in doubt, and had no outcome, or a review that is still open.
  const wasInDoubt = outcome === undefined || reviews.some(({ reason }) => reason === 'unknown_reference');
  if (last === status && wasInDoubt && verdict.outcome !== undefined && verdict.outcome !== outcome) return 'run';
  if (last === status || progressOf(status) < progressOf(last)) return 'already';
  if (progressOf(last) < 3) return 'run';
  return seen === row?.revision ? 'run' : 'again';
}

interface StatusFacts {
  payment: Payment;
  known: PaymentData;
  create: CreateRow | undefined;
  orderRow: StoreRow | undefined;
}

export interface Verdict {
  outcome?: KeptOutcome | undefined;
  call?: FunctionName | undefined;
  /** Why a person must check it, instead of the function. */
  reason?: ReviewReason | undefined;
  /** The payment that now pays the order, or the reference without one. Null for none. Absent if that stays the same. */
  paidBy?: string | null | undefined;
}

/** The functions of outcomes, with the reason for a review if the handler lacks one. Without a reason it is ignored. */
export const WITHOUT_FUNCTION = {
  onPaid: 'paid',
  onAuthorized: undefined,
  onDeclined: undefined,
  onReversed: 'reversed',
  onPaidOut: undefined,
  onPayoutFailed: 'payout_failed',
} as const satisfies Record<string, ReviewReason | undefined>;
export type FunctionName = keyof typeof WITHOUT_FUNCTION;

export function judge({ create: found, ...facts }: StatusFacts): Verdict {
  const { payment, known } = facts;
  // A row made only from a payment belongs to no create.
  const create = found?.bodyHash === UNSEEN ? undefined : found;
  const isOwn = create !== undefined && isOwnPayment(create, payment.id);
  if (payment.paymentStatus === 'UNKNOWN') return { reason: 'unknown_status' };
  if (isPaid(payment)) return completed({ ...facts, create });
  if (isFinal(payment)) return isOwn || known.outcome ? failed({ ...facts, create }) : {};
  const isAuthorized = isOwn && payment.paymentStatus === 'AUTHORIZED' && payment.paymentType === 'DEPOSIT';
  return isAuthorized ? { outcome: 'authorized', call: 'onAuthorized' } : {};
}

function completed({ payment, known, create, orderRow }: StatusFacts): Verdict {
  const order = orderRow && orderDataOf(orderRow);
  const held = (reason: ReviewReason): Verdict => ({ outcome: 'held', reason });
  // Without the order's row, nothing says which of its payments counts.
  if (!create || (create.order !== undefined && !order)) return held('unknown_reference');
  const isOut = payment.paymentType === 'WITHDRAWAL';
  const outcome = isOut ? 'paid_out' : 'paid';
  const { paidBy } = order ?? create;
  if (paidBy && isSamePayment(paidBy, payment.id)) return { outcome };
  if (known.outcome === 'reversed' || known.outcome === 'payout_failed') return held('paid_again');
  if (order?.isCanceled) return held('order_canceled');
  if (paidBy) return held('already_paid');
  const { amount = create.amount, currency = create.currency } = order ?? {};
  if (!isPaymentOf({ paymentType: create.paymentType, amount, currency }, payment)) return held('amount_differs');
  return { outcome, call: isOut ? 'onPaidOut' : 'onPaid', paidBy: payment.id };
}

function failed({ payment, known, create, orderRow }: StatusFacts): Verdict {
  const isOut = payment.paymentType === 'WITHDRAWAL';
  const outcome = isOut ? 'payout_failed' : 'reversed';
  if (known.outcome === 'held') return { outcome, reason: outcome };
  if (!create || known.outcome === outcome || known.outcome === 'declined') return {};
  if (!isOut && known.outcome !== 'paid') return { outcome: 'declined', call: 'onDeclined' };
  const { paidBy } = orderRow ? orderDataOf(orderRow) : create;
  // Another payment counts, so giving the money back would lose it.
  if (paidBy && !isSamePayment(paidBy, payment.id)) return { outcome };
  return { outcome, call: isOut ? 'onPayoutFailed' : 'onReversed', paidBy: null };
}

/** Returns the rows of a create and its order that a verdict changes. @param before the create as it is stored */
export function rowsAfter({ paidBy }: Verdict, create?: CreateRow, order?: StoreRow, before?: CreateRow): StoreRow[] {
  const payer = paidBy !== undefined && { paidBy };
  const next = create && payer && !order ? { ...create, ...payer } : create;
  const rows = next && next !== before ? [storeRowOf(next)] : [];
  return order && payer ? [...rows, { ...order, data: { ...order.data, ...payer } }] : rows;
}
