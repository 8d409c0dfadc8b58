// The journal's rules: pure functions from a row, and something that happened, to the next row.
//
//             begin                         an answer, a callback, a lookup, an operator
//   freed ───────────────▶ begun ─────────────────────────────────────────────────────▶ created, for ever
//     ▲                      │
//     └──────────────────────┘
//      refused, never sent, or an operator says "not created"
import { isSamePayment, type Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { journalRequestOfPayment } from './fingerprint.ts';

/** The next row; absent if nothing changes. */
export interface Step {
  next?: JournalRow | undefined;
}

/** A create that is about to be sent. */
export interface JournalAttempt extends JournalKey, JournalRequest {
  attemptId: string;
  timeoutMs: number;
}

/** The first row of an attempt. */
export const newRow = (
  { scope, reference, paymentType, paymentMethod, amount, currency, bodyHash, ...rest }: JournalAttempt,
  now: number,
): JournalRow => ({
  scope,
  reference,
  state: 'begun',
  attemptId: rest.attemptId,
  begunAt: now,
  timeoutMs: rest.timeoutMs,
  paymentType,
  paymentMethod,
  amount,
  currency,
  bodyHash,
  conflictingIds: [],
  looks: 0,
  revision: 1,
});

/** Whether the row is this attempt, and nothing has happened to it since it began. */
const isUntouched = (row: JournalRow, { attemptId }: JournalAttempt): boolean =>
  row.state === 'begun' && row.attemptId === attemptId && !row.paymentId && row.conflictingIds.length === 0;

/** An attempt begins if the reference is new or freed, or if it began already and the answer of the store was lost. */
export function begin(row: JournalRow | undefined, attempt: JournalAttempt, now: number): Step & { hasBegun: boolean } {
  if (!row) return { hasBegun: true, next: newRow(attempt, now) };
  if (isUntouched(row, attempt)) return { hasBegun: true };
  if (row.state !== 'freed') return { hasBegun: false };
  return { hasBegun: true, next: { ...newRow(attempt, now), revision: row.revision } };
}

/** What an attempt learnt about its payment: its id, and the whole of it if the answer could be read. */
export interface Learnt {
  paymentId: string;
  result?: Envelope | undefined;
}

/** The next row, and the other payment of the reference if there is one. */
export interface Recorded extends Step {
  /** Without an id the other payment's create is still running. */
  otherPayment?: { id?: string | undefined };
}

/**
 * An attempt learns its payment. Its own answer counts for ever, also over what a callback said before, because it has the
 * next action. If the attempt was given up in the meantime, the payment is written down all the same, as that of the
 * reference or beside that of a newer attempt.
 */
export function recordPayment(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  { paymentId, result }: Learnt,
  now: number,
): Recorded {
  const created = result && ({ state: 'created', result } as const);
  if (!row || row.state === 'freed') {
    const again = newRow({ ...attempt, timeoutMs: 0 }, now);
    return { next: { ...again, ...created, paymentId, revision: row?.revision ?? 1 } };
  }
  if (row.attemptId !== attempt.attemptId) {
    if (row.paymentId && isSamePayment(row.paymentId, paymentId)) return {};
    return { next: withConflict(row, paymentId), otherPayment: { id: row.paymentId } };
  }
  const { paymentId: known = paymentId } = row;
  // Of a whole payment and an id, the payment counts; of two ids, the first.
  const next = created
    ? withConflict({ ...row, ...created, paymentId }, known)
    : withConflict({ ...row, paymentId: known }, paymentId);
  return isSamePayment(known, paymentId) ? { next } : { next, otherPayment: { id: known } };
}

/** The gateway refused the attempt, or it never left: the reference is free, unless a payment of it is known. */
export const release = (row: JournalRow | undefined, { attemptId }: JournalAttempt): Step =>
  row?.attemptId === attemptId && isWithoutPayment(row) ? { next: { ...row, state: 'freed' } } : {};

/**
 * An operator says that there is no payment: the reference is free, if the attempt can send nothing any more.
 *
 * @param nonexistentId a suspected id that the gateway has no payment of
 */
export function abandon(row: JournalRow, now: number, nonexistentId?: string): Step & { isTooEarly: boolean } {
  const { paymentId, ...rest } = row;
  const cleared = paymentId && isEqualId(paymentId, nonexistentId) ? rest : row;
  if (!isWithoutPayment(cleared) || row.begunAt + row.timeoutMs >= now) return { isTooEarly: true };
  return { isTooEarly: false, next: { ...cleared, state: 'freed' } };
}

/**
 * A callback, a lookup or an operator names the payment of a doubt. It never replaces a result, or another id.
 *
 * @param nonexistentId a suspected id that the gateway has no payment of: it may be replaced, and is kept as conflicting
 */
export function settle(row: JournalRow, result: Envelope, nonexistentId?: string): Step {
  const { id } = result.payment;
  const { paymentId: known = id } = row;
  if (row.state !== 'begun' || !(isSamePayment(known, id) || isEqualId(known, nonexistentId))) return {};
  return { next: withConflict({ ...row, state: 'created', paymentId: id, result }, known) };
}

/** What a confirmed payment means for its reference. */
export interface Reconciled extends Recorded {
  /** It is another payment than the one requested. */
  isMismatch?: boolean;
}

/**
 * A confirmed payment settles the doubt of its reference. A reference that the journal does not know gets the payment all
 * the same, so that it is not paid again: its create was given up, or made without the journal.
 */
export function reconcile(
  row: JournalRow | undefined,
  key: JournalKey,
  payment: Payment,
  attemptId: string,
  now: number,
): Reconciled {
  if (!row || row.state === 'freed') {
    const seen = newRow({ ...key, ...journalRequestOfPayment(payment), attemptId, timeoutMs: 0 }, now);
    const created = { state: 'created', paymentId: payment.id, result: { payment } } as const;
    return { next: { ...seen, ...created, revision: row?.revision ?? 1 } };
  }
  if (row.paymentId && !isSamePayment(row.paymentId, payment.id)) {
    return { next: withConflict(row, payment.id), otherPayment: { id: row.paymentId } };
  }
  if (row.state !== 'begun') return {};
  return isPaymentOf(row, payment) ? settle(row, { payment }) : { isMismatch: true };
}

/** Whether a payment can be the one that was requested: of the same type, amount and currency. */
export const isPaymentOf = (request: JournalRequest, payment: Payment): boolean =>
  request.paymentType === payment.paymentType &&
  request.currency.toUpperCase() === payment.currency.toUpperCase() &&
  Number(request.amount) === payment.amount;

const isEqualId = (a: string, b: string | undefined): boolean => b !== undefined && isSamePayment(a, b);

/** Whether the row is in doubt, and no id was ever reported. */
const isWithoutPayment = ({ state, paymentId, conflictingIds }: JournalRow): boolean =>
  state === 'begun' && !paymentId && conflictingIds.length === 0;

/** The row with the id among its conflicting ones, unless it is its own or already there. */
function withConflict(row: JournalRow, id: string): JournalRow {
  const isKnown = [row.paymentId ?? '', ...row.conflictingIds].some(known => isSamePayment(known, id));
  return isKnown ? row : { ...row, conflictingIds: [...row.conflictingIds, id] };
}
