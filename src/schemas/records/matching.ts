// Compares a payment with the request for it.
import type { Payment } from './payment.ts';

const MONEY = ['paymentType', 'amount', 'currency'] as const;
type Money = (typeof MONEY)[number];

/** The money of a request, and the order that it pays. The amount is a number or a plain decimal. */
interface Requested {
  paymentType: Payment['paymentType'];
  amount: number | string;
  currency: string;
  reference?: string | null | undefined;
}

export function moneyDifferences(request: Requested, payment: Pick<Payment, Money>): Money[] {
  const isSame = {
    paymentType: request.paymentType === payment.paymentType,
    amount: Number(request.amount) === payment.amount,
    currency: request.currency.toUpperCase() === payment.currency.toUpperCase(),
  };
  return MONEY.filter(field => !isSame[field]);
}

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
export const mayBePaymentOf = (request: Requested, payment: Payment): boolean =>
  isPaymentOf(request, payment) || hasReference(payment, request.reference);

/** Fields in which a payment can differ from its create. `paymentId` differs if the store knows another payment. */
export const DIFFERENCES = ['reference', ...MONEY, 'paymentId'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** Lists the fields in which a payment differs from its create. A missing reference counts as equal. */
export function differencesOf(create: Requested, payment: Payment): ('reference' | Money)[] {
  const money = moneyDifferences(create, payment);
  const isSame = !payment.reference || !create.reference || payment.reference === create.reference;
  return isSame ? money : ['reference', ...money];
}
