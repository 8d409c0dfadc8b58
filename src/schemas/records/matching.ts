// Compares a payment with the request for it.
import type { Payment } from './payment.ts';

const COMPARED = ['reference', 'paymentType', 'amount', 'currency'] as const;

/** Fields in which a payment can differ from its create. `paymentId` differs if the store knows another payment. */
export const DIFFERENCES = [...COMPARED, 'paymentId'] as const;
export type Difference = (typeof DIFFERENCES)[number];

type Requested = Pick<Payment, 'reference' | 'paymentType' | 'currency'> & { amount: number | string };

/** A missing reference counts as equal. */
export function differencesOf(create: Requested, payment: Requested) {
  const isSame = {
    reference: !payment.reference || !create.reference || payment.reference === create.reference,
    paymentType: create.paymentType === payment.paymentType,
    amount: Number(create.amount) === Number(payment.amount),
    currency: create.currency.toUpperCase() === payment.currency.toUpperCase(),
  };
  return COMPARED.filter(field => !isSame[field]);
}

/** Compares type, amount and currency. */
export const isPaymentOf = (request: Requested, payment: Requested) =>
  differencesOf(request, payment).every(field => field === 'reference');

/** A gateway may trim a reference and change its case. Upper case first: some letters have no way back. */
export const foldReference = (reference: string) => reference.normalize('NFC').trim().toUpperCase().toLowerCase();

/** Checks for a reference, as a gateway may write it. */
export const hasReference = ({ reference }: Payment, wanted: string | null | undefined) =>
  Boolean(reference && wanted && foldReference(reference) === foldReference(wanted));

/** Checks for the money or the reference of a request, as a gateway may write it. */
export const mayBePaymentOf = (request: Requested, payment: Payment) =>
  isPaymentOf(request, payment) || hasReference(payment, request.reference);
