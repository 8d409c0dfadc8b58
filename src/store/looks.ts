// The rules for a sweep's looks: pure functions from a row and a look to the next row.
//
// A payment is due until it is final and has taken effect. A paid one is looked at again later, because the callback of a
// chargeback can get lost.
import { isSamePayment } from '../schemas/id.ts';
import type { Payment } from '../schemas/payment.ts';
import { isPaid } from '../schemas/payment-status.ts';
import type { Step } from './change.ts';
import { type CreateRow, knownIds } from './creates.ts';
import { isNews, notDue, unleased } from './transitions.ts';

/**
 * The result of a sweep's look: the ids without further work and the payments as seen, or the pause until the next
 * look.
 */
export type SweepFinding = { done: readonly string[]; seen: readonly Payment[] } | { pause: number };

/**
 * Records a sweep's look and releases the lease.
 *
 * @param claimed the row before the look. If its payment had no effect then, that happened now
 * @param recheckAfter ascending milliseconds after the effect
 */
export function looked(
  row: CreateRow | undefined,
  claimed: CreateRow,
  look: SweepFinding,
  now: number,
  recheckAfter: readonly number[] = [],
): Step {
  // Meanwhile a callback has finished it, or an operator freed it for another attempt or a plan.
  if (row?.dueAt === undefined || row.attemptId !== claimed.attemptId) return {};
  const rest = { ...unleased(row), looks: row.looks + 1 };
  if ('pause' in look) return { next: { ...rest, dueAt: now + look.pause } };
  // Another payment or status of the reference may have arrived meanwhile.
  const isDone = knownIds(row).every(id => look.done.some(seen => isSamePayment(seen, id))) && !isNews(row, look.seen);
  if (!isDone) return { next: rest };
  if (!row.result || !isPaid(row.result.payment)) return { next: notDue(rest) };
  return { next: nextRecheck({ ...rest, effectAt: claimed.effectAt ?? now }, now, recheckAfter) };
}

/**
 * Whether a due row needs a look. A callback that takes effect leaves the due time unchanged, so a paid payment is first
 * due for its schedule. Later it is due for a recheck, or for the retry of one.
 *
 * @param first milliseconds from the effect to the first recheck
 */
export const needsLook = ({ effectAt, dueAt }: CreateRow, now: number, [first]: readonly number[]): boolean =>
  effectAt === undefined || dueAt !== effectAt || (first !== undefined && effectAt + first <= now);

/**
 * Returns the row of a paid payment, due at its next recheck, or no longer due.
 *
 * @param recheckAfter ascending milliseconds after the effect
 */
export function nextRecheck(row: CreateRow, now: number, recheckAfter: readonly number[]): CreateRow {
  const { effectAt = now } = row;
  const dueAt = recheckAfter.map(ms => effectAt + ms).find(time => time > now);
  return dueAt === undefined ? notDue(row) : { ...unleased(row), effectAt, dueAt, looks: 0 };
}
