// Whether a payment is the one that was asked for.
import type { Payment } from './payment.ts';

/** What a request says of the money. The amount is a number or a plain decimal. */
export interface Requested {
  paymentType: Payment['paymentType'];
  amount: number | string;
  currency: string;
}

/** And of the order that it is for. */
interface RequestedFor extends Requested {
  reference?: string | null | undefined;
}

/** What of a payment can differ from its request. */
export type MoneyField = keyof Requested;

/** In what of the money a payment differs from a request. */
export function moneyDifferences(request: Requested, payment: Payment): MoneyField[] {
  const differing: MoneyField[] = [];
  if (request.paymentType !== payment.paymentType) differing.push('paymentType');
  if (Number(request.amount) !== payment.amount) differing.push('amount');
  if (request.currency.toUpperCase() !== payment.currency.toUpperCase()) differing.push('currency');
  return differing;
}

/** Whether a payment can be the one that was requested: of the same type, amount and currency. */
export const isPaymentOf = (request: Requested, payment: Payment): boolean =>
  moneyDifferences(request, payment).length === 0;

/** A gateway may trim a reference, and fold it into one case: upper first, because some letters have no way back. */
export const foldReference = (reference: string): string =>
  trimmed(reference.normalize('NFC')).toUpperCase().toLowerCase();

/** By index: a regular expression for the end takes quadratic time where there is much white space in the middle. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (BLANK.test(text.charAt(start))) start += 1;
  while (BLANK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
const BLANK = /[\s\0]/;

/** Whether the payment has a reference that can be this one, as a gateway may write it. */
export const hasReference = ({ reference }: Payment, wanted: string | null | undefined): boolean =>
  Boolean(reference && wanted && foldReference(reference) === foldReference(wanted));

/**
 * Whether a payment may be the one that was requested, as a gateway may write it: of the same money, under any reference; or
 * under its own reference, of any money.
 */
export const mayBePaymentOf = (request: RequestedFor, payment: Payment): boolean =>
  isPaymentOf(request, payment) || hasReference(payment, request.reference);

/** In what a payment can differ from its create; in `paymentId` if its journal knows another one. */
export const DIFFERENCES = ['reference', 'paymentType', 'amount', 'currency', 'paymentId'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** In what a payment differs from its create. Where one of them has no reference, that says nothing. */
export const differencesOf = (create: RequestedFor, payment: Payment): Exclude<Difference, 'paymentId'>[] => [
  ...(payment.reference && create.reference && payment.reference !== create.reference ? (['reference'] as const) : []),
  ...moneyDifferences(create, payment),
];
