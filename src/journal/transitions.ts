// The journal's rules: pure functions from a row and an event to the next row.
//
//   freed ──▶ planned ──▶ begun ──▶ created, permanently
//
//   planned   by the merchant's own transaction: over no row or a freed one (see plan.ts)
//   begun     by a create: over no row, a freed one, or a plan of the same request
//   created   by an answer, a callback, a lookup or an operator; then its status moves on
//   freed     because it was refused, never sent, or settled as "not created"; an unsent plan is planned again,
//             and an operator may still name the payment of a freed reference
import { isSamePayment } from '../schemas/id.ts';
import { isPaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, isPaid, rawStatusOf } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';
import type { JournalKey, JournalRow } from './contract.ts';
import { journalRequestOfPayment } from './fingerprint.ts';
import { isUnchanged, keep } from './kept.ts';
import { isSamePlan, replanned, unleased, withdrawn } from './planned.ts';
import {
  due,
  isUntouched,
  isWithoutPayment,
  type JournalAttempt,
  knownIds,
  newRow,
  notDue,
  type RowChange,
  withConflict,
  withoutIds,
} from './row.ts';

/**
 * Begins an attempt if the reference is new or freed, or if the same request is planned. Repeats a begin whose answer
 * from the store was lost.
 *
 * @param plan the claimed plan: the attempt begins only with it
 */
export function begin(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  now: number,
  plan?: JournalRow,
): RowChange & { hasBegun: boolean } {
  if (!row) return plan ? { hasBegun: false } : { hasBegun: true, next: newRow(attempt, now) };
  if (isUntouched(row, attempt)) return { hasBegun: true };
  const isOpen = row.state === 'planned' && row.bodyHash === attempt.bodyHash;
  if (plan ? !isSamePlan(row, plan) : row.state !== 'freed' && !isOpen) return { hasBegun: false };
  return {
    hasBegun: true,
    next: { ...newRow(attempt, now), ...(row.isRetry && { isRetry: true }), revision: row.revision },
  };
}

/** The payment that an attempt made: its id, and the whole payment if the answer was readable. */
export interface LearntPayment {
  paymentId: string;
  result?: Envelope | undefined;
}

/** The next row, with the other payment of the reference if one exists. */
export interface RecordedStep extends RowChange {
  /** Without an id, the other payment's create is running or in doubt. */
  otherPayment?: { id?: string | undefined };
}

/**
 * Records the payment of an attempt. Its own answer overrides a callback's, because only it has the next action. If the
 * attempt was given up meanwhile, its payment becomes the reference's, or a conflicting one of a newer attempt.
 */
export function recordPayment(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  { paymentId, result }: LearntPayment,
  now: number,
): RecordedStep {
  if (!row || row.state === 'freed' || row.state === 'planned') {
    const again = newRow({ ...attempt, timeoutMs: 0 }, now);
    const next = { ...(result ? created(again, result) : again), paymentId, revision: row?.revision ?? 1 };
    // The plan is not sent any more.
    const isOther = row?.state === 'planned' && row.bodyHash !== attempt.bodyHash;
    return { next: due(next), ...(isOther && { otherPayment: {} }) };
  }
  if (row.attemptId !== attempt.attemptId) {
    if (row.paymentId && isSamePayment(row.paymentId, paymentId)) return {};
    return { next: withConflict(row, paymentId), otherPayment: { id: row.paymentId } };
  }
  const { paymentId: known = paymentId } = row;
  const own = withoutIds(row, [paymentId]);
  const isSame = isSamePayment(known, paymentId);
  // A whole payment wins over an id. The first of two ids wins.
  const next = result
    ? withConflict({ ...created(own, result, isSame ? row.result : undefined), paymentId }, known)
    : withConflict(due({ ...row, paymentId: known }), paymentId);
  return isSame ? { next } : { next, otherPayment: { id: known } };
}

/** Marks the payment as known. Sweeps look at it until it is final and has taken effect. */
const created = (row: JournalRow, seen: Envelope, known?: Envelope): JournalRow => ({
  ...(row.state === 'created' ? row : due(row)),
  state: 'created',
  result: keep(known, seen),
});

/** The end of an attempt without a payment. */
export interface UnpaidEnd {
  /** The gateway may keep a FAILED payment for a refused attempt. */
  wasSent?: boolean;
  /** The plan of the attempt, if it will be sent again. */
  plan?: JournalRow | undefined;
}

/** Frees the reference of a refused or unsent attempt, or restores its plan, unless a payment of it is known. */
export function release(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  { wasSent = false, plan }: UnpaidEnd = {},
): RowChange {
  if (!row || !isUntouched(row, attempt)) return {};
  const ended: JournalRow = { ...row, ...(wasSent && { isRetry: true }), state: 'freed' };
  return { next: plan ? replanned(ended, plan) : ended };
}

/**
 * Takes back an attempt whose write failed, so that it was not sent. Without a row, a freed one keeps out a late write.
 */
export function takeBack(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  now: number,
  plan?: JournalRow,
): RowChange {
  if (!row) return { next: { ...newRow(attempt, now), state: 'freed' } };
  // The next revision makes a late write over this row fail.
  if (row.state === 'freed') return { next: { ...row } };
  if (row.state === 'planned') return { next: unleased(row) };
  return release(row, attempt, { plan });
}

/** The earliest time to settle an attempt as not created, by the store's clock. */
export const settleableAt = ({ begunAt, timeoutMs }: JournalRow, margin: number): number =>
  begunAt + timeoutMs + margin;

/**
 * Frees the reference by an operator's word, if the attempt cannot be running any more. A plan is withdrawn.
 *
 * @param margin milliseconds after the attempt's timeout
 * @param disproved ids without a payment, or with another order's
 */
export function abandon(row: JournalRow, now: number, margin: number, disproved: readonly string[] = []): RowChange {
  if (row.state === 'planned') return { next: withdrawn(row) };
  const cleared = withoutIds(row, disproved);
  if (!isWithoutPayment(cleared) || settleableAt(row, margin) >= now) return {};
  return { next: { ...notDue(cleared), isRetry: true, state: 'freed' } };
}

/** The evidence about the ids that a row in doubt knows. */
export interface Evidence {
  /** Ids without a payment, or with another order's. */
  disproved?: readonly string[];
  /** The operator says that the row's own id belongs to another payment. */
  isOtherId?: boolean;
}

/**
 * Settles a doubt, or a mistakenly freed reference, with the payment of a callback, lookup or operator. It keeps a
 * result, and replaces another id only if that was disproved.
 */
export function settle(row: JournalRow, seen: Envelope, { disproved = [], isOtherId }: Evidence = {}): RowChange {
  const { id } = seen.payment;
  const { paymentId: other, ...cleared } = withoutIds(row, [...disproved, id]);
  if ((row.state !== 'begun' && row.state !== 'freed') || (other && !isOtherId)) return {};
  const settled = { ...created(cleared, seen), paymentId: id };
  return { next: other ? withConflict(settled, other) : settled };
}

/**
 * Records a newer status of a payment. A final status is due immediately until it has taken effect, even after an
 * earlier effect or after the sweep gave up.
 */
export function observe(row: JournalRow | undefined, seen: Envelope): RowChange {
  if (!row?.result || !isSamePayment(row.result.payment.id, seen.payment.id) || isUnchanged(row.result, seen))
    return {};
  const next = { ...row, result: keep(row.result, seen) };
  return { next: isNews(next, [row.result.payment]) ? { ...next, dueAt: row.begunAt, looks: 0 } : next };
}

/** Whether the payment has a final status that these records do not show. */
const isNews = ({ result }: JournalRow, seen: readonly Payment[]): boolean =>
  result !== undefined &&
  isFinal(result.payment) &&
  !seen.some(one => isSamePayment(one.id, result.payment.id) && rawStatusOf(one) === rawStatusOf(result.payment));

/**
 * Records that a status has taken effect. A final payment is then no longer due, unless other payments may have the
 * reference or another final status has come meanwhile.
 */
export function acknowledge(row: JournalRow | undefined, payment: Payment): RowChange {
  if (!row?.paymentId || row.state !== 'created' || !isSamePayment(row.paymentId, payment.id)) return {};
  if (isNews(row, [payment])) return {};
  const { next = row } = observe(row, { payment });
  const isDone = isFinal(payment) && next.dueAt !== undefined && row.conflictingIds.length === 0;
  return { next: isDone ? notDue(next) : next };
}

/**
 * The result of a sweep's look: the ids without further work and the payments as seen, or the pause until the next
 * look.
 */
export type SweepFinding = { done: readonly string[]; seen: readonly Payment[] } | { pause: number };

/** Records a sweep's look and releases the lease. @param attemptId of the claimed row */
export function looked(row: JournalRow | undefined, attemptId: string, look: SweepFinding, now: number): RowChange {
  // Meanwhile a callback has finished it, or an operator freed it for another attempt or a plan.
  if (row?.dueAt === undefined || row.attemptId !== attemptId) return {};
  const { leasedUntil, ...rest } = { ...row, looks: row.looks + 1 };
  if ('pause' in look) return { next: { ...rest, dueAt: now + look.pause } };
  // Another payment or status of the reference may have arrived meanwhile.
  const isDone = knownIds(row).every(id => look.done.some(seen => isSamePayment(seen, id))) && !isNews(row, look.seen);
  return { next: isDone ? notDue(rest) : rest };
}

/** The effect of a confirmed payment on its reference. */
export interface ReconciledStep extends RecordedStep {
  /** The reference had no payment before. `settled` if it was in doubt. */
  outcome?: 'created' | 'settled';
  /** The payment differs from the request. */
  isMismatch?: boolean;
}

/**
 * Settles the doubt of a reference with a confirmed payment. An unknown or planned reference gets the payment too, to
 * prevent a second one: its create was given up, or made without the journal.
 *
 * @param disproved ids without a payment, or with another order's
 */
export function reconcile(
  row: JournalRow | undefined,
  { key, payment, attemptId }: { key: JournalKey; payment: Payment; attemptId: string },
  now: number,
  disproved: readonly string[] = [],
): ReconciledStep {
  const isPlanned = row?.state === 'planned';
  // The failed payment is older than the plan.
  if (isPlanned && isFailed(payment)) return {};
  if (isPlanned && !isPaymentOf(row, payment)) {
    const doubt = { ...newRow({ ...row, attemptId, timeoutMs: 0 }, now), revision: row.revision };
    return { next: withConflict(doubt, payment.id), isMismatch: true };
  }
  if (!row || row.state === 'freed' || isPlanned) {
    const request = isPlanned ? row : journalRequestOfPayment(payment);
    const seen = newRow({ ...request, ...key, attemptId, timeoutMs: 0 }, now);
    const next = { ...created(seen, { payment }), paymentId: payment.id, revision: row?.revision ?? 1 };
    return { next, outcome: 'created' };
  }
  const { paymentId: own } = withoutIds(row, row.state === 'begun' ? disproved : []);
  const known = own ?? payment.id;
  if (!isSamePayment(known, payment.id)) {
    const next = hasFailed(row) && !isFailed(payment) && isPaymentOf(row, payment) ? replaced(row, payment) : row;
    return { next: withConflict(next, payment.id), otherPayment: { id: row.paymentId } };
  }
  if (row.state === 'created') return observe(row, { payment });
  // A later version may have other states.
  if (row.state !== 'begun') return {};
  // The payment may belong to the attempt before: a gateway may keep a payment that it has refused.
  if (row.isRetry && isFailed(payment) && !own) {
    return { next: withConflict(row, payment.id), otherPayment: {} };
  }
  return isPaymentOf(row, payment)
    ? { ...settle(row, { payment }, { disproved }), outcome: 'settled' }
    : { next: withConflict(row, payment.id), isMismatch: true };
}

/** Whether the payment has ended without money. */
export const isFailed = (payment: Payment): boolean => isFinal(payment) && !isPaid(payment);

/** Keeps a payment whose reference differs only by folding, because it may be this reference's. */
export const suspect = (row: JournalRow | undefined, payment: Payment): RowChange & { isNew?: boolean } =>
  row?.state === 'begun' && !knownIds(row).some(id => isSamePayment(id, payment.id))
    ? { next: withConflict(row, payment.id), isNew: true }
    : {};

const hasFailed = ({ state, result }: JournalRow): boolean =>
  state === 'created' && result !== undefined && isFailed(result.payment);

/** A gateway may keep a FAILED payment of a refused attempt. The next attempt's payment replaces it. */
const replaced = (row: JournalRow, payment: Payment): JournalRow => {
  const { paymentId = payment.id } = row;
  return withConflict(
    due({ ...created(withoutIds(row, [payment.id]), { payment }), paymentId: payment.id }),
    paymentId,
  );
};
