// A payment's row: handled status, outcome and open reviews.
import type { Payment } from '../../schemas/records/payment.ts';
import { rawStatusOf } from '../../schemas/records/payment-status.ts';
import type { ReviewReason } from '../../telemetry/events.ts';
import type { StoreRow } from '../contract.ts';
import type { CreateRow } from './create-row.ts';

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

/** The state of a payment for the merchant. `held`: COMPLETED, but it pays nothing. */
export type KeptOutcome = 'authorized' | 'paid' | 'declined' | 'reversed' | 'paid_out' | 'payout_failed' | 'held';

export interface PaymentData {
  status?: string | undefined;
  outcome?: KeptOutcome | undefined;
  reviews: readonly KeptReview[];
}

export const paymentDataOf = (row: StoreRow | undefined): PaymentData => ({ reviews: [], ...row?.data });

export function paymentRowOf(id: string, data: PaymentData, before?: StoreRow): StoreRow {
  const { revision = 0, begunAt = 0 } = before ?? {};
  const state = data.reviews.length > 0 ? 'review' : 'done';
  return { kind: 'payment', id, state, revision, begunAt, data };
}

/** Returns a payment's data after a status has taken effect. An earlier review of the status is answered. */
export function after(known: PaymentData, status: string, outcome = known.outcome, review?: KeptReview): PaymentData {
  const others = known.reviews.filter(open => open.status !== status);
  return { status, outcome, reviews: review ? [...others, review] : others };
}

/** Without customer data. */
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
