// The rules of a create: pure functions from a row and an event to the next row.
//
//   freed ──▶ planned ──▶ begun ──▶ created, permanently
//
//   planned   by the merchant's own transaction: over no row or a freed one
//   begun     by a create over no row or a freed one, or by upkeep over a plan
//   created   by an answer, a callback, a lookup or an operator; then its status moves on
//   freed     because it was refused, never sent, or settled as "not created"; an unsent plan is planned again,
//             and an operator may still name the payment of a freed reference
import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '../../errors.ts';
import { isSamePayment } from '../../schemas/id.ts';
import { hasReference, isPaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { isFinal, isPaid, rawStatusOf } from '../../schemas/records/payment-status.ts';
import type { Envelope } from '../../schemas/records/response.ts';
import { type Attempt, type CreateRow, isOwnPayment, knownIds, newRow, type ReadRow } from './create-row.ts';
import { UNSEEN, unseenAttempt } from './fingerprint.ts';
import { mergeKept } from './kept.ts';

export interface Step {
  /** The next row. Absent if nothing changes. */
  next?: CreateRow | undefined;
  /** The other payment of the reference. Empty while its create is running or in doubt. */
  otherPayment?: string | undefined;
  /** How a reference without a payment has got one. `settled` if it was in doubt. */
  outcome?: 'created' | 'settled';
}

/** Whether the reference is new or freed, or the row is still the claimed plan. Planning again makes a different plan. */
const canBegin = (row: CreateRow | undefined, plan?: CreateRow): boolean =>
  plan ? row?.state === 'planned' && row.revision === plan.revision : !row || row.state === 'freed';

/** Begins an attempt if it can. A library may repeat a begin whose answer was lost. */
export function begin(row: ReadRow | undefined, attempt: Attempt, plan?: CreateRow): Step {
  if (row?.attemptId === attempt.attemptId && isWithoutPayment(row)) return { next: row };
  return canBegin(row, plan) ? { next: newRow(attempt, row) } : {};
}

/** Plans a payout if the reference is new or freed. @param body the whole request */
export const plan = (row: ReadRow | undefined, attempt: Attempt, body: string): Step =>
  canBegin(row) ? { next: { ...due(newRow(attempt, row)), state: 'planned', body } } : {};

const due = (row: CreateRow): CreateRow => ({ ...row, dueAt: row.dueAt ?? row.begunAt });

export const unleased = ({ leasedUntil, ...row }: CreateRow): CreateRow => row;

export const notDue = ({ dueAt, ...row }: CreateRow): CreateRow => unleased(row);

const isWithoutPayment = (row: CreateRow): boolean => row.state === 'begun' && knownIds(row).length === 0;

/** The row without ids that turned out to be of no payment, or of another create's. */
export function withoutIds<R extends CreateRow>(row: R, ids: readonly string[]): R {
  const isLeft = (id: string) => !ids.some(out => isSamePayment(out, id));
  const paymentId = row.paymentId && isLeft(row.paymentId) ? row.paymentId : undefined;
  return { ...row, paymentId, conflictingIds: row.conflictingIds.filter(isLeft) };
}

/** The row with one more conflicting id, or the same row if it knows the id. */
const withConflict = (row: CreateRow, id: string): CreateRow =>
  knownIds(row).some(known => isSamePayment(known, id))
    ? row
    : due({ ...row, conflictingIds: [...row.conflictingIds, id] });

const beside = (row: CreateRow, id: string): Step => ({
  next: withConflict(row, id),
  otherPayment: row.paymentId ?? '',
});

/** Records the payment of an attempt. @param seen the whole payment, or its id from an unreadable answer */
export function recordPayment(row: ReadRow | undefined, attempt: Attempt, seen: Envelope | string): Step {
  const paymentId = typeof seen === 'string' ? seen : seen.payment.id;
  // An attempt that was given up meanwhile gets its reference back. A plan of that is not sent any more.
  const isGivenUp = !row || row.state === 'freed' || row.state === 'planned';
  const own = isGivenUp ? newRow({ ...attempt, timeoutMs: 0 }, row) : row;
  if (own.attemptId !== attempt.attemptId) return isOwnPayment(own, paymentId) ? {} : beside(own, paymentId);
  const { isAnswerLost, ...answered } = own;
  const { paymentId: known = paymentId } = own;
  // A whole payment wins over an id, also over a callback's: only it has the next action. The first of two ids wins.
  const next =
    typeof seen === 'string'
      ? withConflict(due({ ...unanswered(own), paymentId: known }), paymentId)
      : created(answered, seen);
  if (!isSamePayment(known, paymentId)) return { next, otherPayment: known };
  const isOfOtherRequest = row?.state === 'planned' && row.bodyHash !== attempt.bodyHash;
  return isOfOtherRequest ? { next, otherPayment: '' } : { next };
}

/** Records the end of an attempt with an unknown outcome. @param taken another create's payment, named by the answer */
export function recordEnd(row: CreateRow | undefined, { attemptId }: Attempt, taken?: string): Step {
  if (row?.attemptId !== attemptId || row.state !== 'begun') return {};
  return { next: taken ? withConflict(unanswered(row), taken) : unanswered(row) };
}

const unanswered = (row: CreateRow): CreateRow => (row.state === 'begun' ? { ...row, isAnswerLost: true } : row);

/** The row with its payment, and other ids as conflicting. Sweeps look at it until it is final and has taken effect. */
function created(row: CreateRow, seen: Envelope): CreateRow {
  const { id } = seen.payment;
  const isKnown = row.state === 'created' && isOwnPayment(row, id);
  return {
    ...(isKnown ? row : due(row)),
    state: 'created',
    paymentId: id,
    conflictingIds: knownIds(withoutIds(row, [id])),
    result: mergeKept(isKnown ? row.result : undefined, seen),
  };
}

/** Frees the reference of a refused or unsent attempt, or restores its plan, unless a payment of it is known. */
export function release(row: CreateRow | undefined, { attemptId }: Attempt, outcome: Outcome, plan?: CreateRow): Step {
  if (row?.attemptId !== attemptId || !isWithoutPayment(row)) return {};
  // The gateway may keep a FAILED payment for a refused attempt.
  const isRetry = outcome === 'rejected' && { isRetry: true };
  return { next: plan ? { ...unleased(plan), ...isRetry } : { ...row, ...isRetry, state: 'freed' } };
}

/** Takes back an attempt whose write failed, or changes the row that it was written over, so that a late write fails. */
export function takeBack(row: CreateRow | undefined, attempt: Attempt, plan?: CreateRow): Step {
  if (!canBegin(row, plan)) return release(row, attempt, 'not_sent', plan);
  return { next: row ? unleased(row) : { ...newRow(attempt), state: 'freed' } };
}

export const settleableAt = ({ begunAt, timeoutMs }: CreateRow, margin: number): number => begunAt + timeoutMs + margin;

/** Frees the reference by an operator's word, if its attempt cannot be running any more. Withdraws a plan. */
export function abandon(row: ReadRow, margin: number): Step {
  const { body, ...rest } = notDue(row);
  if (row.state === 'planned') return { next: { ...rest, state: 'freed' } };
  if (!isWithoutPayment(row) || settleableAt(row, margin) >= row.now) return {};
  return { next: { ...rest, isRetry: true, state: 'freed' } };
}

/** Settles a doubt, or a mistakenly freed reference, with its payment. */
export function settle(row: CreateRow, payment: Payment): Step {
  if (row.state !== 'begun' && row.state !== 'freed') return {};
  return { next: { ...created(row, { payment }), isAnswerLost: payment.redirectUrl ? undefined : true } };
}

/**
 * Gives a confirmed payment to its reference, and settles a doubt. An unknown, planned or freed reference gets it too, to
 * prevent a second payment.
 *
 * @param isBeforeEffect leaves a status to the effect if a sweep would find it after a crash
 */
export function reconcile(found: CreateRow | undefined, payment: Payment, isBeforeEffect = false): Step {
  if (!found) return { next: created(newRow(unseenAttempt(payment)), { payment }), outcome: 'created' };
  const isOwn = isOwnPayment(found, payment.id);
  if (found.result) {
    const canWait = isBeforeEffect && found.dueAt === found.begunAt && found.effectAt === undefined;
    if (isOwn) return canWait ? {} : observe(found, payment);
    const kept = beside(found, payment.id);
    // A gateway may keep a FAILED payment of a refused attempt. The next attempt's payment replaces it.
    const isReplaced = isFailed(found.result.payment) && !isFailed(payment) && isPaymentOf(found, payment);
    return isReplaced ? { ...kept, next: created(found, { payment }) } : kept;
  }
  const isOpen = found.state === 'planned' || found.state === 'freed';
  // A failed payment is older than the plan, and leaves a free reference free. Any other reopens the doubt.
  if (isOpen && isFailed(payment)) return {};
  const again = { state: 'begun', isAnswerLost: true, looks: 0, body: undefined } as const;
  const row = isOpen ? { ...unleased(found), ...again } : found;
  // A folded reference may be another order's, unless the own answer has named the payment.
  const isExact = isOwn
    ? !payment.reference || hasReference(payment, row.reference)
    : payment.reference === row.reference;
  if (!isExact || !isPaymentOf(row, payment)) {
    const next = withConflict(row, payment.id);
    return next === found ? {} : { next };
  }
  // It may belong to the attempt before, because a gateway may keep a refused payment. Or the own answer has named another.
  if (isFailed(payment) && !isOwn && (row.isRetry || row.paymentId)) return beside(row, payment.id);
  return { ...settle(row, payment), outcome: isOpen ? 'created' : 'settled' };
}

/** Frees a row that was made only from a payment, which turns out to belong to another create. */
export function yieldPayment(row: CreateRow | undefined): Step {
  if (row?.state !== 'created' || row.bodyHash !== UNSEEN) return {};
  return { next: { ...notDue(row), state: 'freed', paymentId: undefined, result: undefined } };
}

/** Records a newer status. A final one is due immediately until it has taken effect, even after an earlier effect. */
export function observe(row: CreateRow | undefined, payment: Payment): Step {
  if (!row?.result || !isOwnPayment(row, payment.id)) return {};
  const result = mergeKept(row.result, { payment });
  if (isDeepStrictEqual(result, row.result)) return {};
  const again = isNews(result.payment, row.result.payment) && { dueAt: row.begunAt, effectAt: undefined, looks: 0 };
  return { next: { ...row, result, ...again } };
}

const isNews = (payment: Payment, seen: Payment): boolean =>
  isFinal(payment) && rawStatusOf(payment) !== rawStatusOf(seen);

/** The row after a status has taken effect. A paid payment stays due for its rechecks, as do two of one reference. */
export function acknowledge(row: CreateRow, payment: Payment): CreateRow {
  if (!row.result || !isOwnPayment(row, payment.id) || isNews(row.result.payment, payment)) return row;
  const { next = row } = observe(row, payment);
  const isDone = isFinal(payment) && next.dueAt !== undefined && row.conflictingIds.length === 0;
  if (!isDone || next.effectAt !== undefined) return next;
  return isPaid(payment) ? { ...next, effectAt: next.dueAt } : notDue(next);
}

export const isFailed = (payment: Payment): boolean => isFinal(payment) && !isPaid(payment);
