// The rules of a create: pure functions from a row and an event to the next row.
//
//   freed ──▶ planned ──▶ begun ──▶ created, permanently
//
//   planned   by the merchant's own transaction: over no row or a freed one (see plan.ts)
//   begun     by a create over no row or a freed one, or by upkeep over a plan
//   created   by an answer, a callback, a lookup or an operator; then its status moves on
//   freed     because it was refused, never sent, or settled as "not created"; an unsent plan is planned again,
//             and an operator may still name the payment of a freed reference
import { isSamePayment } from '../schemas/id.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, isPaid, rawStatusOf } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';
import type { JournalRow } from './creates.ts';
import { UNSEEN } from './fingerprint.ts';
import { isUnchanged, keep } from './kept.ts';
import { isSamePlan, replanned, unleased, withdrawn } from './planned.ts';
import {
  due,
  isUntouched,
  isWithoutPayment,
  type JournalAttempt,
  knownIds,
  newRow,
  nextRow,
  notDue,
  type RowChange,
  withConflict,
  withoutIds,
} from './row.ts';

/**
 * Begins an attempt if the reference is new or freed. Repeats a begin whose answer from the store was lost.
 *
 * @param plan the claimed plan: the attempt begins only over it
 */
export function begin(
  row: JournalRow | undefined,
  attempt: JournalAttempt,
  now: number,
  plan?: JournalRow,
): RowChange & { hasBegun: boolean } {
  if (!row) return plan ? { hasBegun: false } : { hasBegun: true, next: newRow(attempt, now) };
  if (isUntouched(row, attempt)) return { hasBegun: true };
  const canBegin = plan ? isSamePlan(row, plan) : row.state === 'freed';
  return canBegin ? { hasBegun: true, next: nextRow(row, attempt, now) } : { hasBegun: false };
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
    const late = { ...attempt, timeoutMs: 0 };
    const again = row ? nextRow(row, late, now) : newRow(late, now);
    const next = { ...(result ? created(again, result) : ended(again)), paymentId };
    // The plan is not sent any more.
    const isOther = row?.state === 'planned' && row.bodyHash !== attempt.bodyHash;
    return { next: due(next), ...(isOther && { otherPayment: {} }) };
  }
  if (row.attemptId !== attempt.attemptId) {
    if (row.paymentId && isSamePayment(row.paymentId, paymentId)) return {};
    return { next: withConflict(row, paymentId), otherPayment: { id: row.paymentId } };
  }
  const { paymentId: known = paymentId } = row;
  const { isPageLost, ...own } = withoutIds(row, [paymentId]);
  const isSame = isSamePayment(known, paymentId);
  // A whole payment wins over an id. The first of two ids wins.
  const next = result
    ? withConflict({ ...created(own, result, isSame ? row.result : undefined), paymentId }, known)
    : withConflict(due({ ...ended(row), paymentId: known }), paymentId);
  return isSame ? { next } : { next, otherPayment: { id: known } };
}

/** Records the end of an attempt with an unknown outcome. */
export const recordEnd = (row: JournalRow | undefined, { attemptId }: JournalAttempt): RowChange =>
  row?.attemptId === attemptId ? { next: ended(row) } : {};

/** Records that the answer to an attempt has the payment of another create. */
export const recordTaken = (row: JournalRow | undefined, attempt: JournalAttempt, paymentId: string): RowChange =>
  row?.state === 'begun' && row.attemptId === attempt.attemptId ? { next: withConflict(ended(row), paymentId) } : {};

const ended = (row: JournalRow): JournalRow => (row.state === 'begun' ? { ...row, isEnded: true } : row);

/** Marks the payment as known. Sweeps look at it until it is final and has taken effect. */
export const created = ({ isEnded, ...row }: JournalRow, seen: Envelope, known?: Envelope): JournalRow => ({
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
  if (plan && isSamePlan(row, plan)) return { next: unleased(row) };
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
  const settled = { ...created(cleared, seen), paymentId: id, ...(!hasPage(seen) && { isPageLost: true }) };
  return { next: other ? withConflict(settled, other) : settled };
}

const hasPage = ({ payment, transfer }: Envelope): boolean => Boolean(payment.redirectUrl || transfer);

/** Frees a row that was made only from a payment, which turns out to belong to another create. */
export function yieldPayment(row: JournalRow | undefined): RowChange {
  if (row?.state !== 'created' || row.bodyHash !== UNSEEN) return {};
  const { paymentId, result, ...rest } = notDue(row);
  return { next: { ...rest, state: 'freed' } };
}

/**
 * Records a newer status of a payment. A final status is due immediately until it has taken effect, even after an
 * earlier effect or after the sweep gave up.
 */
export function observe(row: JournalRow | undefined, seen: Envelope): RowChange {
  if (!row?.result || !isSamePayment(row.result.payment.id, seen.payment.id) || isUnchanged(row.result, seen))
    return {};
  const next = { ...row, result: keep(row.result, seen) };
  if (!isNews(next, [row.result.payment])) return { next };
  const { effectAt, ...news } = next;
  return { next: { ...news, dueAt: row.begunAt, looks: 0 } };
}

/** Whether the payment has a final status that these records do not show. */
export const isNews = ({ result }: JournalRow, seen: readonly Payment[]): boolean =>
  result !== undefined &&
  isFinal(result.payment) &&
  !seen.some(one => isSamePayment(one.id, result.payment.id) && rawStatusOf(one) === rawStatusOf(result.payment));

/**
 * Records that a status has taken effect. A paid payment stays due for its rechecks. Another final one is no longer due,
 * unless other payments may have the reference or another final status has come meanwhile.
 */
export function acknowledge(row: JournalRow | undefined, payment: Payment): RowChange {
  if (!row?.paymentId || row.state !== 'created' || !isSamePayment(row.paymentId, payment.id)) return {};
  if (isNews(row, [payment])) return {};
  const { next = row } = observe(row, { payment });
  const isDone = isFinal(payment) && next.dueAt !== undefined && row.conflictingIds.length === 0;
  if (!isDone || next.effectAt !== undefined) return { next };
  return { next: isPaid(payment) ? { ...next, effectAt: next.dueAt } : notDue(next) };
}

/** Whether the payment has ended without money. */
export const isFailed = (payment: Payment): boolean => isFinal(payment) && !isPaid(payment);
