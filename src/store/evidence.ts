// Looks up the ids that a doubt knows, because an error's body may have named any id.
import { isGatewayError, type PaymentNotFoundError } from '../errors.ts';
import { hasReference, isPaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import type { JournalRow } from './creates.ts';

/** Reads the gateway's own record. */
export type ReadPayment = (paymentId: string) => Promise<Payment>;

/** The results of looking up a doubt's ids. */
export interface Examined {
  /** The first payment that can belong to the doubt. */
  match?: Payment | undefined;
  /** Ids without a payment, or with the payment of another request. */
  disproved: readonly string[];
  /** The payments of other requests. */
  others: readonly Payment[];
}

/** Whether an existing payment can be that of a doubt. */
type CanBeOf = (row: JournalRow, payment: Payment) => boolean;

/** Whether the payment has the row's reference, possibly folded, or has none but the same type, amount and currency. */
export const hasItsReference: CanBeOf = (row, payment) =>
  payment.reference ? hasReference(payment, row.reference) : isPaymentOf(row, payment);

/** Whether the payment has exactly the row's reference. */
export const hasExactReference: CanBeOf = (row, payment) => payment.reference === row.reference;

/**
 * Looks up the ids one by one, until one can be that of the doubt's payment.
 *
 * @param ids of the row
 * @throws the lookup's error. It proves nothing about the doubt
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

/** Whether the gateway answered a lookup with 404. */
export const isMissing = (error: unknown): error is PaymentNotFoundError =>
  isGatewayError(error) && error.name === 'PaymentNotFoundError';

/** Returns undefined if the gateway has no such payment. @throws every other error */
export function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
