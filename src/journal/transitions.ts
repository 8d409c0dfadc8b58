// The journal's rules: pure functions from a row, and something that happened, to the next row.
//
//   freed ──▶ planned ──▶ begun ──▶ created, for ever
//
//   planned   by the merchant's own transaction: over nothing, or over what is freed (see plan.ts)
//   begun     by a create: over nothing, over what is freed, or over the same request that is planned
//   created   by an answer, a callback, a lookup or an operator; then its status moves on
//   freed     because it was refused, never sent, or an operator says "not created"; what was planned and never sent is
//             planned again, and an operator may still name its payment
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
 * An attempt begins if the reference is new or freed, if the same request is planned, or if it began already and the answer
 * of the store was lost.
 *
 * @param plan as it was claimed: the attempt begins with this plan only
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

/** What an attempt learnt about its payment: its id, and the whole of it if the answer could be read. */
export interface LearntPayment {
  paymentId: string;
  result?: Envelope | undefined;
}

/** The next row, and the other payment of the reference if there is one. */
export interface RecordedStep extends RowChange {
  /** Without an id the other payment's create is under way, or in doubt. */
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
  { paymentId, result }: LearntPayment,
  now: number,
): RecordedStep {
  if (!row || row.state === 'freed' || row.state === 'planned') {
    const again = newRow({ ...attempt, timeoutMs: 0 }, now);
    const next = { ...(result ? created(again, result) : again), paymentId, revision: row?.revision ?? 1 };
    // What was planned is not sent any more.
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
  // Of a whole payment and an id, the payment counts; of two ids, the first.
  const next = result
    ? withConflict({ ...created(own, result, isSame ? row.result : undefined), paymentId }, known)
    : withConflict(due({ ...row, paymentId: known }), paymentId);
  return isSame ? { next } : { next, otherPayment: { id: known } };
}

/** Its payment is known from now on, and a sweep looks at it until it is final and has taken effect. */
const created = (row: JournalRow, seen: Envelope, known?: Envelope): JournalRow => ({
  ...(row.state === 'created' ? row : due(row)),
  state: 'created',
  result: keep(known, seen),
});

/** How an attempt has ended without a payment. */
export interface UnpaidEnd {
  /** A gateway may keep a payment of what it has refused, as failed. */
  wasSent?: boolean;
  /** What the attempt has begun with, if it is to be sent again. */
  plan?: JournalRow | undefined;
}

/** The gateway refused the attempt, or it never left: the reference is free or planned, unless a payment of it is known. */
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
 * An attempt whose writing failed was not sent: it is taken back. Where there is no row yet, a freed one keeps out a write
 * that is still on its way.
 */
export function takeBack(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  now: number,
  plan?: JournalRow,
): RowChange {
  if (!row) return { next: { ...newRow(attempt, now), state: 'freed' } };
  // Its revision is counted up, so that a write over this row comes too late.
  if (row.state === 'freed') return { next: { ...row } };
  if (row.state === 'planned') return { next: unleased(row) };
  return release(row, attempt, { plan });
}

/** When an operator may say that an attempt made no payment, by the store's clock. */
export const settleableAt = ({ begunAt, timeoutMs }: JournalRow, margin: number): number =>
  begunAt + timeoutMs + margin;

/**
 * An operator says that there is no payment: the reference is free, if nothing of the attempt can be under way any more. What
 * is planned is not sent any more.
 *
 * @param margin milliseconds after the attempt's time-out
 * @param disproved ids of no payment, or of another's
 */
export function abandon(row: JournalRow, now: number, margin: number, disproved: readonly string[] = []): RowChange {
  if (row.state === 'planned') return { next: withdrawn(row) };
  const cleared = withoutIds(row, disproved);
  if (!isWithoutPayment(cleared) || settleableAt(row, margin) >= now) return {};
  return { next: { ...notDue(cleared), isRetry: true, state: 'freed' } };
}

/** What is known of the ids that a row in doubt knows. */
export interface Evidence {
  /** Ids of no payment, or of another's. */
  disproved?: readonly string[];
  /** An operator says that the row's own id is not its payment. */
  isOtherId?: boolean;
}

/**
 * A callback, a lookup or an operator names the payment of a doubt, or of what was freed by a mistake. It never replaces a
 * result, nor another id unless that was disproved.
 */
export function settle(row: JournalRow, seen: Envelope, { disproved = [], isOtherId }: Evidence = {}): RowChange {
  const { id } = seen.payment;
  const { paymentId: other, ...cleared } = withoutIds(row, [...disproved, id]);
  if ((row.state !== 'begun' && row.state !== 'freed') || (other && !isOtherId)) return {};
  const settled = { ...created(cleared, seen), paymentId: id };
  return { next: other ? withConflict(settled, other) : settled };
}

/**
 * The payment of a reference was seen again: its status may have moved on. A final one is due at once, even if another has
 * taken effect before or the sweep has given up, until it has taken effect itself.
 */
export function observe(row: JournalRow | undefined, seen: Envelope): RowChange {
  if (!row?.result || !isSamePayment(row.result.payment.id, seen.payment.id) || isUnchanged(row.result, seen))
    return {};
  const next = { ...row, result: keep(row.result, seen) };
  return { next: isNews(next, [row.result.payment]) ? { ...next, dueAt: row.begunAt, looks: 0 } : next };
}

/** Whether it has a final status in which its payment was not among these. */
const isNews = ({ result }: JournalRow, seen: readonly Payment[]): boolean =>
  result !== undefined &&
  isFinal(result.payment) &&
  !seen.some(one => isSamePayment(one.id, result.payment.id) && rawStatusOf(one) === rawStatusOf(result.payment));

/**
 * The status of a payment has taken effect. Once it is final nothing is left to look at, unless other payments may have the
 * reference, or another final status has come in between.
 */
export function acknowledge(row: JournalRow | undefined, payment: Payment): RowChange {
  if (!row?.paymentId || row.state !== 'created' || !isSamePayment(row.paymentId, payment.id)) return {};
  if (isNews(row, [payment])) return {};
  const { next = row } = observe(row, { payment });
  const isDone = isFinal(payment) && next.dueAt !== undefined && row.conflictingIds.length === 0;
  return { next: isDone ? notDue(next) : next };
}

/**
 * How a sweep found a row: it has nothing left to look at but ids that are not among these, and final statuses in which it
 * has not seen its payment; or when to look again.
 */
export type SweepFinding = { done: readonly string[]; seen: readonly Payment[] } | { pause: number };

/** A sweep has looked at a row, which gives its lease back. @param attemptId of the row as it was claimed */
export function looked(row: JournalRow | undefined, attemptId: string, look: SweepFinding, now: number): RowChange {
  // Its callback came in between; or an operator, and what is there now is another attempt's, or a plan.
  if (row?.dueAt === undefined || row.attemptId !== attemptId) return {};
  const { leasedUntil, ...rest } = { ...row, looks: row.looks + 1 };
  if ('pause' in look) return { next: { ...rest, dueAt: now + look.pause } };
  // Another payment of the reference, or another status, may have been heard of meanwhile.
  const isDone = knownIds(row).every(id => look.done.some(seen => isSamePayment(seen, id))) && !isNews(row, look.seen);
  return { next: isDone ? notDue(rest) : rest };
}

/** What a confirmed payment means for its reference. */
export interface ReconciledStep extends RecordedStep {
  /** The reference had no payment before; it is the one that was in doubt, if it was. */
  outcome?: 'created' | 'settled';
  /** It is another payment than the one requested. */
  isMismatch?: boolean;
}

/**
 * A confirmed payment settles the doubt of its reference. A reference that the journal does not know, or that is only planned,
 * gets the payment all the same, so that it is not paid again: its create was given up, or made without the journal.
 *
 * @param disproved ids of no payment, or of another's
 */
export function reconcile(
  row: JournalRow | undefined,
  { key, payment, attemptId }: { key: JournalKey; payment: Payment; attemptId: string },
  now: number,
  disproved: readonly string[] = [],
): ReconciledStep {
  const isPlanned = row?.state === 'planned';
  // It was made before.
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
  // A later version may have states of its own.
  if (row.state !== 'begun') return {};
  // It may be that of the attempt before, which a gateway has refused and kept all the same.
  if (row.isRetry && isFailed(payment) && !own) {
    return { next: withConflict(row, payment.id), otherPayment: {} };
  }
  return isPaymentOf(row, payment)
    ? { ...settle(row, { payment }, { disproved }), outcome: 'settled' }
    : { next: withConflict(row, payment.id), isMismatch: true };
}

/** Whether it has ended without money. */
export const isFailed = (payment: Payment): boolean => isFinal(payment) && !isPaid(payment);

/** A payment of another reference, as a folding gateway would write this one, is kept in mind: it may be this one's. */
export const suspect = (row: JournalRow | undefined, payment: Payment): RowChange & { isNew?: boolean } =>
  row?.state === 'begun' && !knownIds(row).some(id => isSamePayment(id, payment.id))
    ? { next: withConflict(row, payment.id), isNew: true }
    : {};

const hasFailed = ({ state, result }: JournalRow): boolean =>
  state === 'created' && result !== undefined && isFailed(result.payment);

/** A gateway may keep a payment of a refused attempt as failed: that of the next attempt counts more. */
const replaced = (row: JournalRow, payment: Payment): JournalRow => {
  const { paymentId = payment.id } = row;
  return withConflict(
    due({ ...created(withoutIds(row, [payment.id]), { payment }), paymentId: payment.id }),
    paymentId,
  );
};
