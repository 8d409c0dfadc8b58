// Reduces a request to the fields that the store keeps: the four that decide money, and a hash of the whole.
import { createHash } from 'node:crypto';
import { canonicalAmount } from '../schemas/amount.ts';
import { isJsonMap } from '../schemas/json.ts';
import type { Payment } from '../schemas/payment.ts';
import type { JournalRequest } from './creates.ts';

/** Changes with the canonical form: hashes of different versions never match. */
const VERSION = 'v1';

/** Replaces the hash when the store knows only the payment of a request. */
export const UNSEEN = 'unseen';

/** The fields of a creation request that the store reads. */
export interface Recordable {
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  amount: number | string;
  currency: string;
  reference?: string | null | undefined;
}

/** Returns the same value for every spelling of a request. @param fields all sent fields, as plain data */
export function journalRequestOf(request: Recordable, fields: object): JournalRequest {
  const { paymentType, paymentMethod, currency } = request;
  const amount = canonicalAmount(request.amount);
  const canonical = canonicalJson({ ...fields, amount });
  const bodyHash = createHash('sha256').update(`${VERSION}:${canonical}`).digest('hex');
  return { paymentType, paymentMethod, amount, currency, bodyHash };
}

/** The part of a request that its payment shows. */
export const journalRequestOfPayment = (payment: Payment): JournalRequest => ({
  paymentType: payment.paymentType,
  paymentMethod: payment.paymentMethod ?? '',
  amount: canonicalAmount(payment.amount),
  currency: payment.currency,
  bodyHash: UNSEEN,
});

/** Sorts keys, drops `undefined`, keeps null and serializes all other values as JSON. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => {
    if (!isJsonMap(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
