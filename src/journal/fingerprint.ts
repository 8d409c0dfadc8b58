// What the journal keeps of a request: the four fields that decide money, and a hash of the whole.
import { createHash } from 'node:crypto';
import { canonicalAmount } from '../schemas/amount.ts';
import { isJsonMap } from '../schemas/json.ts';
import type { Payment } from '../schemas/payment.ts';
import type { JournalRequest } from './contract.ts';

/** Changes when the form does: a hash of another version never equals one of this. */
const VERSION = 'v1';

/** In place of a hash: the request is not known, only the payment that it made. */
export const UNSEEN = 'unseen';

/** A creation request, as far as the journal looks at it. */
export interface Recordable {
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  amount: number | string;
  currency: string;
  reference?: string | null | undefined;
}

/** The same for every way of writing the same request. @param fields all that is sent, as plain data */
export function journalRequestOf(request: Recordable, fields: object): JournalRequest {
  const { paymentType, paymentMethod, currency } = request;
  const amount = canonicalAmount(request.amount);
  const canonical = canonicalJson({ ...fields, amount });
  const bodyHash = createHash('sha256').update(`${VERSION}:${canonical}`).digest('hex');
  return { paymentType, paymentMethod, amount, currency, bodyHash };
}

/** As much of a request as its payment shows. */
export const journalRequestOfPayment = (payment: Payment): JournalRequest => ({
  paymentType: payment.paymentType,
  paymentMethod: payment.paymentMethod ?? '',
  amount: canonicalAmount(payment.amount),
  currency: payment.currency,
  bodyHash: UNSEEN,
});

/** Keys in order, `undefined` dropped, null kept, everything else as its JSON. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => {
    if (!isJsonMap(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** What references are unique within, unless the journal says otherwise. */
export const scopeOf = (baseUrl: string): string => createHash('sha256').update(baseUrl).digest('hex').slice(0, 16);
