// Finds payments for a query.
import type { PaymentRecord } from './record.ts';

/** A payment must match every given field. */
export interface PaymentQuery {
  /** A part of the id, reference, description, method, amount or the customer's email. Ignores case. */
  search?: string | undefined;
  paymentStatus?: string | undefined;
  /** The whole reference. */
  reference?: string | undefined;
}

/** The order of an attempt, whose reference is `<order>.<n>`. */
export const orderOf = ({ paymentType, reference }: PaymentRecord): string | undefined =>
  paymentType === 'DEPOSIT' ? /^(.+)\.[1-9]\d{0,2}$/s.exec(reference ?? '')?.[1] : undefined;

export function matcherOf({ search = '', paymentStatus, reference }: PaymentQuery) {
  const wanted = search.trim().toLowerCase();
  return (record: PaymentRecord) =>
    (paymentStatus ?? record.paymentStatus) === record.paymentStatus &&
    (reference ?? record.reference) === record.reference &&
    (!wanted || textOf(record).includes(wanted));
}

function textOf(record: PaymentRecord) {
  const { id, reference, description, paymentMethod, amount, currency, customer } = record;
  const texts = [id, reference, description, paymentMethod, `${amount} ${currency}`, customer?.email];
  return texts.join('\0').toLowerCase();
}
