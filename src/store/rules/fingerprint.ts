// The fields of a request that the store keeps: the four that decide money, and a hash of the whole.
import { createHash, randomUUID } from 'node:crypto';
import { DuplicateReferenceError } from '../../errors.ts';
import { canonicalAmount } from '../../schemas/amount.ts';
import { isJsonMap } from '../../schemas/json.ts';
import { differencesOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import type { Attempt, CreateRow } from './create-row.ts';

/** Replaces the hash if the store knows only the payment of a request. */
export const UNSEEN = 'unseen';

interface Requested extends Pick<Attempt, 'reference' | 'paymentType' | 'paymentMethod' | 'currency'> {
  amount: number | string;
}

/** Makes an attempt. Every spelling of a request has the same hash. @param fields all sent fields, as plain data */
export function newAttempt(fields: Requested, limits: Pick<Attempt, 'timeoutMs' | 'order'>): Attempt {
  const { reference, paymentType, paymentMethod, currency } = fields;
  const amount = canonicalAmount(fields.amount);
  const body = canonicalJson({ ...fields, amount });
  const bodyHash = createHash('sha256').update(body).digest('hex');
  return { reference, attemptId: randomUUID(), paymentType, paymentMethod, amount, currency, bodyHash, ...limits };
}

export const unseenAttempt = (payment: Payment): Attempt => ({
  reference: payment.reference ?? '',
  attemptId: UNSEEN,
  paymentType: payment.paymentType,
  paymentMethod: payment.paymentMethod ?? '',
  amount: canonicalAmount(payment.amount),
  currency: payment.currency,
  bodyHash: UNSEEN,
  timeoutMs: 0,
});

const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => {
    if (!isJsonMap(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

function differingFields(row: CreateRow, request: Attempt): string[] {
  if (row.bodyHash === request.bodyHash) return row.order === request.order ? [] : ['order'];
  // The store saw only the payment: its customer may have chosen the method.
  if (row.bodyHash === UNSEEN) return differencesOf(row, request);
  const differing = FIELDS.filter(field => row[field] !== request[field]);
  return differing.length > 0 ? differing : ['other fields'];
}

/** @throws {DuplicateReferenceError} for another request, or a plan, because only upkeep sends that */
export function expectSameRequest(row: CreateRow, request: Attempt, { mayBePlanned = false } = {}): void {
  const { reference, state, paymentId } = row;
  const differing = differingFields(row, request);
  if (state === 'freed' || (differing.length === 0 && (mayBePlanned || state !== 'planned'))) return;
  throw new DuplicateReferenceError(reference, differing, state, { paymentId });
}
