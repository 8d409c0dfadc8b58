// Looks the ids up that a doubt knows: an error's body may have named anything.
import { isGatewayError, type PaymentNotFoundError } from '../errors.ts';
import { hasReference, isPaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import type { JournalRow } from './contract.ts';

/** Reads the gateway's own record. */
export type ReadPayment = (paymentId: string) => Promise<Payment>;

/** What lookups of a doubt's ids have shown. */
export interface Examined {
  /** The first that can be its payment. */
  match?: Payment | undefined;
  /** Ids that the gateway has no payment of, or that of another request. */
  disproved: readonly string[];
  /** The payments of other requests. */
  others: readonly Payment[];
}

/** Whether a payment that exists can be that of a doubt. */
type CanBeOf = (row: JournalRow, payment: Payment) => boolean;

/** The payment has the row's reference, as a gateway may fold it; or it has none, and is of the same type, amount and currency. */
export const hasItsReference: CanBeOf = (row, payment) =>
  payment.reference ? hasReference(payment, row.reference) : isPaymentOf(row, payment);

/** Under exactly its reference. */
export const hasExactReference: CanBeOf = (row, payment) => payment.reference === row.reference;

/**
 * Looks the ids up one by one, until one can be that of the doubt's payment.
 *
 * @param ids of the row
 * @throws what a lookup throws: nothing is known then
 */
export async function examine(
  row: JournalRow,
  ids: readonly string[],
  readPayment: (paymentId: string) => Promise<Payment | undefined>,
  canBeOf: CanBeOf,
): Promise<Examined> {
  const disproved: string[] = [];
  const others: Payment[] = [];
  for (const id of ids) {
    const payment = await readPayment(id).catch(unlessMissing);
    if (payment && canBeOf(row, payment)) return { match: payment, disproved, others };
    if (payment) others.push(payment);
    disproved.push(id);
  }
  return { disproved, others };
}

/** Whether a lookup was answered 404. */
export const isMissing = (error: unknown): error is PaymentNotFoundError =>
  isGatewayError(error) && error.name === 'PaymentNotFoundError';

/** Undefined if the gateway has no such payment. @throws every other error */
export function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
