// The fields of a request that the store keeps: the four that decide money, and a hash of the whole.
import { createHash, randomUUID } from 'node:crypto';
import { DuplicateReferenceError } from '../../errors.ts';
import { canonicalAmount } from '../../schemas/amount.ts';
import { isJsonMap } from '../../schemas/json.ts';
import { moneyDifferences } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import type { Attempt, CreateRow, RequestData } from './create-row.ts';

/** Changes with the canonical form: hashes of different versions never match. */
const VERSION = 'v1';

/** Replaces the hash when the store knows only the payment of a request. */
export const UNSEEN = 'unseen';

/** The fields of a request that decide money, as the merchant wrote them. */
type Money = Omit<RequestData, 'amount' | 'bodyHash'> & { amount: number | string };

/** Returns a new attempt to send a request. @param fields all sent fields, as plain data */
export const newAttempt = (
  request: Money & { reference: string },
  fields: object,
  limits: Pick<Attempt, 'timeoutMs' | 'order'>,
): Attempt => ({
  ...requestDataOf(request, fields),
  ...limits,
  reference: request.reference,
  attemptId: randomUUID(),
});

/** Returns the same value for every spelling of a request. @param fields all sent fields, as plain data */
export function requestDataOf(request: Money, fields: object): RequestData {
  const { paymentType, paymentMethod, currency } = request;
  const amount = canonicalAmount(request.amount);
  const canonical = canonicalJson({ ...fields, amount });
  const bodyHash = createHash('sha256').update(`${VERSION}:${canonical}`).digest('hex');
  return { paymentType, paymentMethod, amount, currency, bodyHash };
}

export const requestDataOfPayment = (payment: Payment): RequestData => ({
  paymentType: payment.paymentType,
  paymentMethod: payment.paymentMethod ?? '',
  amount: canonicalAmount(payment.amount),
  currency: payment.currency,
  bodyHash: UNSEEN,
});

const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => {
    if (!isJsonMap(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

type Identity = RequestData & Pick<CreateRow, 'order'>;

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

function differingFields(row: CreateRow, request: Identity): string[] {
  if (row.bodyHash === request.bodyHash) return row.order === request.order ? [] : ['order'];
  // The store saw only the payment: its customer may have chosen the method.
  if (row.bodyHash === UNSEEN) return moneyDifferences(row, { ...request, amount: Number(request.amount) });
  const differing = FIELDS.filter(field => row[field] !== request[field]);
  return differing.length > 0 ? differing : ['other fields'];
}

/** @throws {DuplicateReferenceError} for another request, or a plan, because only upkeep sends that */
export function expectSameRequest(row: CreateRow, request: Identity, { mayBePlanned = false } = {}): void {
  const { reference, state, paymentId } = row;
  const differing = differingFields(row, request);
  if (state === 'freed' || (differing.length === 0 && (mayBePlanned || state !== 'planned'))) return;
  throw new DuplicateReferenceError(reference, differing, state, { paymentId });
}
