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

const MONEY = ['paymentType', 'amount', 'currency'] as const;

/** Lists the fields of the money in which a payment differs from a request. */
export const moneyDifferences = (request: Requested, payment: Pick<Payment, keyof Requested>): (keyof Requested)[] => {
  const isSame = {
    paymentType: request.paymentType === payment.paymentType,
    amount: Number(request.amount) === payment.amount,
    currency: request.currency.toUpperCase() === payment.currency.toUpperCase(),
  };
  return MONEY.filter(field => !isSame[field]);
};
/** Checks whether a payment has the type, amount and currency of a request. */
export const isPaymentOf = (request: Requested, payment: Payment): boolean =>
  moneyDifferences(request, payment).length === 0;

/** A gateway may trim a reference and change its case. Upper case first, because some letters have no way back. */
export const foldReference = (reference: string): string =>
  reference.normalize('NFC').trim().toUpperCase().toLowerCase();

/** Checks whether the payment's reference can be this one, as a gateway may write it. */
export const hasReference = ({ reference }: Payment, wanted: string | null | undefined): boolean =>
  Boolean(reference && wanted && (reference === wanted || foldReference(reference) === foldReference(wanted)));

/** Checks whether a payment has the money or the reference of a request, as a gateway may write it. */
export const mayBePaymentOf = (request: RequestedFor, payment: Payment): boolean =>
  isPaymentOf(request, payment) || hasReference(payment, request.reference);

/** Fields in which a payment can differ from its create. `paymentId` differs if the store knows another payment. */
export const DIFFERENCES = ['reference', ...MONEY, 'paymentId'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** Lists the fields in which a payment differs from its create. A missing reference counts as equal. */
export const differencesOf = (create: RequestedFor, payment: Payment): Exclude<Difference, 'paymentId'>[] => [
  ...(payment.reference && create.reference && payment.reference !== create.reference ? (['reference'] as const) : []),
  ...moneyDifferences(create, payment),
];
