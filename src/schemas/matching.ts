// Compares a payment with the request for it.
import type { Payment } from './payment.ts';

/** The money of a request. The amount is a number or a plain decimal. */
export interface Requested {
  paymentType: Payment['paymentType'];
  amount: number | string;
  currency: string;
}

/** The money of a request, and the order that it pays. */
interface RequestedFor extends Requested {
  reference?: string | null | undefined;
}

/** A field of the money, in which a payment can differ from its request. */
export type MoneyField = keyof Requested;

/** Lists the fields of the money in which a payment differs from a request. */
export function moneyDifferences(request: Requested, payment: Pick<Payment, MoneyField>): MoneyField[] {
  const differing: MoneyField[] = [];
  if (request.paymentType !== payment.paymentType) differing.push('paymentType');
  if (Number(request.amount) !== payment.amount) differing.push('amount');
  if (request.currency.toUpperCase() !== payment.currency.toUpperCase()) differing.push('currency');
  return differing;
}

/** Checks whether a payment has the type, amount and currency of a request. */
export const isPaymentOf = (request: Requested, payment: Payment): boolean =>
  moneyDifferences(request, payment).length === 0;

/** A gateway may trim a reference and change its case. Upper case first, because some letters have no way back. */
export const foldReference = (reference: string): string =>
  trimmed(reference.normalize('NFC')).toUpperCase().toLowerCase();

/** By index, because a regular expression for the end takes quadratic time on much white space in the middle. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (BLANK.test(text.charAt(start))) start += 1;
  while (BLANK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
const BLANK = /[\s\0]/;

/** Checks whether the payment's reference can be this one, as a gateway may write it. */
export const hasReference = ({ reference }: Payment, wanted: string | null | undefined): boolean =>
  Boolean(reference && wanted && foldReference(reference) === foldReference(wanted));

/** Checks whether a payment has the money or the reference of a request, as a gateway may write it. */
export const mayBePaymentOf = (request: RequestedFor, payment: Payment): boolean =>
  isPaymentOf(request, payment) || hasReference(payment, request.reference);

/** Fields in which a payment can differ from its create. `paymentId` differs if the store knows another payment. */
export const DIFFERENCES = ['reference', 'paymentType', 'amount', 'currency', 'paymentId'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** Lists the fields in which a payment differs from its create. A missing reference counts as equal. */
export const differencesOf = (create: RequestedFor, payment: Payment): Exclude<Difference, 'paymentId'>[] => [
  ...(payment.reference && create.reference && payment.reference !== create.reference ? (['reference'] as const) : []),
  ...moneyDifferences(create, payment),
];
