// Looks the ids up that a doubt knows: an error's body may have named anything.
import { isGatewayError } from '../errors.ts';
import { hasReference, isPaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import type { JournalRow } from './contract.ts';

/** Reads the gateway's own record. */
export type ReadPayment = (paymentId: string) => Promise<Payment>;

/** What lookups of a doubt's ids have shown. */
export interface Examined {
  /** The first that can be its payment. */
  standing?: Payment | undefined;
  /** Ids that the gateway has no payment of, or that of another request. */
  disproved: readonly string[];
  /** The payments of other requests. */
  others: readonly Payment[];
}

/** Whether a payment that exists can be that of a doubt. */
type CanBeOf = (row: JournalRow, payment: Payment) => boolean;

/** Beside a payment that has the very reference: a gateway may have written it otherwise, or left it out. */
export const hasItsReference: CanBeOf = (row, payment) =>
  payment.reference ? hasReference(payment, row.reference) : isPaymentOf(row, payment);

/** Where no other payment is known: the reference may be written in any way, or the amount be rounded. */
export const hasItsReferenceOrMoney: CanBeOf = (row, payment) =>
  hasReference(payment, row.reference) || isPaymentOf(row, payment);

/**
 * Looks the ids up one by one, until one can be that of the doubt's payment.
 *
 * @param ids of the row
 * @throws what a lookup throws: nothing is known then
 */
export async function examine(
  row: JournalRow,
  ids: readonly string[],
  readPayment: ReadPayment,
  canBeOf: CanBeOf,
): Promise<Examined> {
  const disproved: string[] = [];
  const others: Payment[] = [];
  for (const id of ids) {
    const payment = await readPayment(id).catch(error => {
      if (isGatewayError(error) && error.name === 'PaymentNotFoundError') return undefined;
      throw error;
    });
    if (payment && canBeOf(row, payment)) return { standing: payment, disproved, others };
    if (payment) others.push(payment);
    disproved.push(id);
  }
  return { disproved, others };
}
