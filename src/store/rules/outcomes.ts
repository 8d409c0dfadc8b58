// The meaning of a payment's status for the merchant: pure functions from the record and the rows to an outcome.
//
//   deposit     (declined) ──▶ paid ──▶ reversed          a COMPLETED that pays nothing is held, for review
//   withdrawal  paid_out ──▶ payout_failed, or payout_failed at once
import { isSamePayment } from '../../schemas/id.ts';
import { moneyDifferences } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { isPaid, progressOf, rawStatusOf } from '../../schemas/records/payment-status.ts';
import type { ReviewReason } from '../../telemetry/events.ts';
import type { StoreRow } from '../contract.ts';
import type { CreateRow } from './create-row.ts';
import { UNSEEN } from './fingerprint.ts';
import type { OrderState } from './order-row.ts';

/** The facts of a review that the store keeps. */
export interface KeptReview {
  status: string;
  reason: ReviewReason;
  /** Milliseconds since 1970. */
  since: number;
  paymentId?: string | undefined;
  reference?: string | undefined;
  order?: string | undefined;
  paymentType?: string | undefined;
  amount?: number | string | undefined;
  currency?: string | undefined;
}

/** A payment or refused payout that a person must check. */
export interface Review extends Omit<KeptReview, 'since'> {
  /** The payment's id, or the reference of a refused payout. Pass it to `resolveReview`, with `status`. */
  id: string;
  since: Date;
}

/** The functions of a handler that get one outcome. */
export type OutcomeName = 'onPaid' | 'onAuthorized' | 'onDeclined' | 'onReversed' | 'onPaidOut' | 'onPayoutFailed';

/** The state of a payment for the merchant. `held`: COMPLETED, but it pays nothing. */
type Outcome = 'authorized' | 'paid' | 'declined' | 'reversed' | 'paid_out' | 'payout_failed' | 'held';

/** The data of a payment's row. */
export interface PaymentState {
  /** Every handled status, the last one last. */
  statuses: readonly string[];
  outcome?: Outcome | undefined;
  /** The open reviews. */
  reviews: readonly KeptReview[];
}

const NEW_PAYMENT: PaymentState = { statuses: [], reviews: [] };

export const paymentStateOf = (row: StoreRow | undefined): PaymentState => ({ ...NEW_PAYMENT, ...row?.data });

/** Returns the row to write for a payment. */
export const paymentRowOf = (id: string, data: PaymentState, before?: StoreRow): StoreRow => ({
  kind: 'payment',
  id,
  state: data.reviews.length > 0 ? 'review' : 'done',
  revision: before?.revision ?? 0,
  begunAt: before?.begunAt ?? 0,
  data,
});

/**
 * Decides whether a status takes effect now. After a final status, or one that this SDK does not know, any other may be
 * newer or older. `again`: look the payment up again, and come back with the row's revision as `seen`.
 */
export function decide(
  row: StoreRow | undefined,
  status: string,
  seen: number | undefined,
): 'run' | 'already' | 'again' {
  const last = paymentStateOf(row).statuses.at(-1);
  if (last === undefined) return 'run';
  if (last === status || progressOf(status) < progressOf(last)) return 'already';
  if (progressOf(last) < 3) return 'run';
  return seen === row?.revision ? 'run' : 'again';
}

/** The facts of a status that takes effect. */
export interface StatusFacts {
  payment: Payment;
  state: PaymentState;
  /** The create of its reference. */
  create: CreateRow | undefined;
  /** The order that the create is an attempt of. */
  order: OrderState | undefined;
}

/** The meaning of a status. */
export interface Verdict {
  outcome?: Outcome | undefined;
  /** The function that gets it. */
  call?: OutcomeName | undefined;
  /** Why a person must check it, instead of the function. */
  reason?: ReviewReason | undefined;
  /** The withdrawal had been paid out. */
  wasPaidOut?: boolean | undefined;
  create: CreateRow | undefined;
  order: OrderState | undefined;
}

/** Reasons for a review where the handler has no function for an outcome. Without a reason it is ignored. */
export const WITHOUT_FUNCTION: Record<OutcomeName, ReviewReason | undefined> = {
  onPaid: 'paid',
  onAuthorized: undefined,
  onDeclined: undefined,
  onReversed: 'reversed',
  onPaidOut: undefined,
  onPayoutFailed: 'payout_failed',
};

export function judge(facts: StatusFacts): Verdict {
  const { payment, state, create, order } = facts;
  const nothing = { create, order };
  const isOut = payment.paymentType === 'WITHDRAWAL';
  if (payment.paymentStatus === 'UNKNOWN') return { ...nothing, reason: 'unknown_status' };
  if (isPaid(payment)) return completed(facts);
  if (payment.paymentStatus === 'PENDING') return nothing;
  const isOwn = create !== undefined && isPaymentOfCreate(create, payment);
  if (payment.paymentStatus === 'AUTHORIZED')
    return isOut || !isOwn ? nothing : { ...nothing, outcome: 'authorized', call: 'onAuthorized' };
  const failed = isOut ? 'payout_failed' : 'reversed';
  if (state.outcome === 'held') return { ...nothing, outcome: failed, reason: failed };
  if (state.outcome === failed || !create || !(isOwn || state.outcome)) return nothing;
  return isOut ? payoutFailed(facts, create) : depositFailed(facts, create);
}

/** Whether the store knows the create of this very payment. A row made only from a payment belongs to no create. */
const isPaymentOfCreate = ({ bodyHash, paymentId }: CreateRow, payment: Payment): boolean =>
  bodyHash !== UNSEEN && paymentId !== undefined && isSamePayment(paymentId, payment.id);

function completed({ payment, state, create, order }: StatusFacts): Verdict {
  const isOut = payment.paymentType === 'WITHDRAWAL';
  const held = (reason: ReviewReason): Verdict => ({ outcome: 'held', reason, create, order });
  // Without the order's row, nothing says which of its payments counts.
  const isUnknown = !create || create.bodyHash === UNSEEN || (create.order !== undefined && !order);
  if (isUnknown) return held('unknown_reference');
  const payer = order ?? create;
  const outcome = isOut ? 'paid_out' : 'paid';
  if (payer.paidBy && isSamePayment(payer.paidBy, payment.id)) return { outcome, create, order };
  if (state.outcome === 'reversed' || state.outcome === 'payout_failed') return held('paid_again');
  if (order?.isCanceled) return held('order_canceled');
  if (payer.paidBy) return held('already_paid');
  const { paymentType } = create;
  const { amount = create.amount, currency = create.currency } = order ?? {};
  if (moneyDifferences({ paymentType, amount, currency }, payment).length > 0) return held('amount_differs');
  return {
    outcome,
    call: isOut ? 'onPaidOut' : 'onPaid',
    create: { ...create, paidBy: payment.id },
    order: order && { ...order, paidBy: payment.id, isReversed: undefined },
  };
}

/** Whether another payment has paid the order, or the reference without one. */
const isPaidByOther = ({ paidBy }: { paidBy?: string | undefined }, { id }: Payment): boolean =>
  paidBy !== undefined && !isSamePayment(paidBy, id);

function depositFailed({ payment, state, order }: StatusFacts, create: CreateRow): Verdict {
  const nothing = { create, order };
  if (state.outcome === 'declined') return nothing;
  if (state.outcome !== 'paid') return { ...nothing, outcome: 'declined', call: 'onDeclined' };
  // After an interrupted `resolveReview`.
  if (isPaidByOther(order ?? create, payment)) return { ...nothing, outcome: 'reversed' };
  const reversed = order && { ...order, paidBy: undefined, isReversed: true };
  return { outcome: 'reversed', call: 'onReversed', create: { ...create, paidBy: undefined }, order: reversed };
}

function payoutFailed({ payment, state, order }: StatusFacts, create: CreateRow): Verdict {
  // Another payment of the reference was paid out: giving the money back would lose it.
  if (isPaidByOther(create, payment)) return { create, order };
  const wasPaidOut = state.outcome === 'paid_out';
  const unpaid = { ...create, paidBy: undefined };
  return { outcome: 'payout_failed', call: 'onPayoutFailed', wasPaidOut, create: unpaid, order };
}

/** Most handled statuses to remember: enough to recognise late callbacks. */
const MOST_STATUSES = 16;

/** Returns a payment's state after a status has taken effect. */
export function after(
  state: PaymentState,
  status: string,
  { outcome }: Pick<Verdict, 'outcome'>,
  review?: KeptReview,
): PaymentState {
  return {
    statuses: [...state.statuses, status].slice(-MOST_STATUSES),
    outcome: outcome ?? state.outcome,
    reviews: review ? [...withoutReview(state, review.status).reviews, review] : state.reviews,
  };
}

export const withoutReview = (state: PaymentState, status: string): PaymentState => ({
  ...state,
  reviews: state.reviews.filter(review => review.status !== status),
});

/** Returns the facts of a payment that a review keeps, without customer data. */
export const reviewOf = (payment: Payment, reason: ReviewReason, create?: CreateRow): KeptReview => ({
  status: rawStatusOf(payment),
  reason,
  since: Date.now(),
  paymentId: payment.id,
  reference: create?.reference ?? payment.reference ?? undefined,
  order: create?.order,
  paymentType: payment.paymentType,
  amount: payment.amount,
  currency: payment.currency,
});
