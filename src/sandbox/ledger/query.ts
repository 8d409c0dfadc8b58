// Searches and filters the payments.
import type { PaymentRecord } from './record.ts';

/** A query. A payment must match every given field. */
export interface PaymentQuery {
  /** A part of the id, reference, description, method, amount or the customer's email. Ignores case. */
  search?: string | undefined;
  paymentStatus?: string | undefined;
  /** The whole reference. */
  reference?: string | undefined;
}

/** Returns the order of an attempt, whose reference is `<order>.<n>`. */
export const orderOf = ({ paymentType, reference }: PaymentRecord): string | undefined =>
  paymentType === 'DEPOSIT' ? /^(.+)\.[1-9]\d{0,2}$/s.exec(reference ?? '')?.[1] : undefined;

export function matcherOf({ search = '', paymentStatus, reference }: PaymentQuery) {
  const wanted = search.trim().toLowerCase();
  return (record: PaymentRecord): boolean =>
    (paymentStatus === undefined || record.paymentStatus === paymentStatus) &&
    (reference === undefined || record.reference === reference) &&
    (wanted === '' || textsOf(record).some(text => text.toLowerCase().includes(wanted)));
}

const textsOf = (record: PaymentRecord): string[] => {
  const { id, reference, description, paymentMethod, amount, currency, customer } = record;
  const email = typeof customer?.email === 'string' ? customer.email : '';
  return [id, reference ?? '', description ?? '', paymentMethod, `${amount} ${currency}`, email];
};
