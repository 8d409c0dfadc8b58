// Lists and closes the payments that a person must check.
import { InvalidRequestError } from '../errors.ts';
import { isPaymentStatus } from '../schemas/methods.ts';
import type { Payment } from '../schemas/records/payment.ts';
import type { Store, StoreRow } from '../store/contract.ts';
import { readCreate } from '../store/creates/change.ts';
import { judge, rowsAfter } from '../store/rules/outcomes.ts';
import {
  after,
  type KeptReview,
  type PaymentData,
  paymentDataOf,
  paymentRowOf,
  type Review,
} from '../store/rules/payment-row.ts';

export async function reviews(store: Store): Promise<Review[]> {
  const { rows } = await store.list({ kind: 'payment', states: ['begun', 'review'] });
  return rows
    .flatMap(row => reviewsOf(row).map(review => ({ ...review, id: row.id, since: new Date(review.since) })))
    .sort((one, other) => one.since.getTime() - other.since.getTime());
}

/** The review of an effect that was cut off, and the open ones, which may have its status. */
const reviewsOf = (row: StoreRow): readonly KeptReview[] => {
  const { reviews } = paymentDataOf(row);
  return row.state === 'begun' && row.about ? [row.about as KeptReview, ...reviews] : reviews;
};

export async function resolveReview(store: Store, id: string, status: string): Promise<void> {
  const rowOf = async (id: string) => (await store.read({ kind: 'payment', id })).row;
  for (;;) {
    // A refused payout has its reference, a payment its id in lower case.
    const row = (await rowOf(id)) ?? (await rowOf(id.toLowerCase()));
    const review = row && reviewsOf(row).find(open => open.status === status);
    if (!row || !review) {
      const message = `has no open review with the status ${JSON.stringify(status)}: ${JSON.stringify(id)}. See gateway.reviews()`;
      throw new InvalidRequestError([{ path: 'id', message }]);
    }
    const known = paymentDataOf(row);
    const isCutOff = review.reason === 'effect_uncertain';
    const closed = isCutOff
      ? await complete(store, review, known)
      : { ...known, reviews: known.reviews.filter(open => open !== review) };
    // This is the last write, and drops `about`. Until then the review stays open, and can be resolved again.
    if (closed && (await store.write(paymentRowOf(row.id, closed, row))).isWritten) return;
  }
}

/** Writes create and order as after the effect. @returns undefined if a row has changed */
async function complete(store: Store, review: KeptReview, known: PaymentData): Promise<PaymentData | undefined> {
  const { reference = '', order = '', status, paymentId: id, ...money } = review;
  const create = await readCreate(store, { reference });
  const { row: orderRow } = await store.read({ kind: 'order', id: order });
  const payment = { ...money, id, paymentStatus: isPaymentStatus(status) ? status : 'UNKNOWN' } as Payment;
  const verdict = judge({ payment, known, create, orderRow });
  const written = await Promise.all(rowsAfter(verdict, create, orderRow, create).map(row => store.write(row)));
  return written.every(({ isWritten }) => isWritten) ? after(known, status, verdict.outcome) : undefined;
}
