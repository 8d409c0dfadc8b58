// Sweeps open payments: processes those whose callback may be lost, and looks at paid ones again.
//
// A payment is due until it is final and has taken effect. A paid one is looked at again later, because the callback of a
// chargeback can get lost.
import { isSamePayment } from '../../schemas/id.ts';
import { isFinal, isPaid, rawStatusOf } from '../../schemas/records/payment-status.ts';
import { change } from '../creates/change.ts';
import { type StoreCall, warnGaveUp, warnNotSwept } from '../creates/reports.ts';
import { type CreateRow, knownIds } from '../rules/create-row.ts';
import { notDue, unleased } from '../rules/transitions.ts';
import { isOfMerchant } from '../thrown.ts';
import { type Claimed, giveBack, workOnDue } from './claims.ts';
import type { HandlerLink } from './handler-link.ts';

/** The counts of a sweep, by result. */
export interface SweepCounts {
  /** Final payments whose effect has happened, in this sweep or before. */
  processed: number;
  /** Payments that are not final, or that another process handles. A later sweep retries them. */
  open: number;
  /** Payments older than `giveUpAfter` that are not final. No sweep looks at them again. */
  gaveUp: number;
  /** Payments whose lookup or effect failed, or that the gateway no longer knows. A later sweep retries them. */
  failed: number;
  /** Paid payments that have changed since their effect, such as by a chargeback. The other counts include them. */
  rechecked: number;
}

export const newSweepCounts = (): SweepCounts => ({ processed: 0, open: 0, gaveUp: 0, failed: 0, rechecked: 0 });

/** The options of a sweep, as those of `upkeep`. */
export interface SweepSettings {
  handler: HandlerLink;
  olderThan: number;
  giveUpAfter: number;
  recheckAfter: readonly number[];
  limit: number;
  concurrency: number;
  signal?: AbortSignal | undefined;
}

/** Milliseconds for one payment: a handler answers within 25 seconds. */
const LONGEST_LOOK = 30_000;

/** Milliseconds until the second look, doubled each time. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 6 * 3_600_000;

/**
 * Processes the open payments of the store, the longest due first. Leases let many replicas sweep concurrently. After a
 * crash, the next sweep takes over the rows.
 *
 * @param swept the counts to add to
 * @throws the store's errors. The next sweep processes the remaining rows
 */
export async function sweep(client: StoreCall, settings: SweepSettings, swept: SweepCounts): Promise<void> {
  const { store } = client;
  const { handler, limit, concurrency, olderThan, giveUpAfter, recheckAfter, signal } = settings;
  /** The gateway has asked for a pause. */
  let isOut = false;
  const isOver = () => isOut || signal?.aborted === true;

  /** Writes the next row. If an effect or a callback has changed the row during the look, another look follows soon. */
  const write = (row: CreateRow, next: CreateRow, now: number) =>
    change(
      store,
      row,
      (current, now) => {
        if (current === row) return { next };
        if (current?.dueAt === undefined) return {};
        if (!needsLook(current)) return { next: finished(current, now, recheckAfter) };
        return { next: { ...unleased(current), dueAt: now + FIRST_PAUSE } };
      },
      { row, now },
    );

  const work = async ({ row, now: claimedAt }: Claimed) => {
    if (!needsLook(row)) return void (await write(row, finished(row, claimedAt, recheckAfter), claimedAt));
    const begun = performance.now();
    const looks = await lookAt(handler, row, signal);
    const now = claimedAt + Math.ceil(performance.now() - begun);
    const asked = Math.max(0, ...looks.map(look => look.asked));
    isOut ||= asked > 0;
    const { outcome, error } = resultOf(row, looks, claimedAt - row.begunAt > giveUpAfter);
    if (outcome === 'failed' && signal?.aborted) return giveBack(store, row);
    const pause = Math.min(Math.max(FIRST_PAUSE * 2 ** row.looks, asked), LONGEST_PAUSE);
    const isLeft = outcome === 'open' || outcome === 'failed';
    const seen = { ...unleased(row), looks: row.looks + 1 };
    const next = isLeft ? { ...seen, dueAt: now + pause } : finished(seen, now, recheckAfter);
    const written = await write(row, next, now);
    const isGivenUp = outcome === 'gaveUp' && written.next === next && next.dueAt === undefined;
    swept[outcome === 'gaveUp' && !isGivenUp ? 'open' : outcome] += 1;
    if (looks.some(({ hasChanged }) => hasChanged)) swept.rechecked += 1;
    if (isGivenUp) warnGaveUp(client, row, giveUpAfter);
    if (outcome === 'failed') warnNotSwept(client, row, error);
  };
  await workOnDue(store, { states: ['begun', 'created'], olderThan }, { limit, concurrency, isOver }, work);
}

/** Whether a due row needs a look. An effect that pays leaves the due time unchanged: a sweep schedules its rechecks. */
const needsLook = ({ effectAt, dueAt }: CreateRow): boolean => effectAt === undefined || dueAt !== effectAt;

/**
 * Returns a finished row. A paid one is due at its next recheck.
 *
 * @param recheckAfter ascending milliseconds after the effect
 */
function finished(row: CreateRow, now: number, recheckAfter: readonly number[]): CreateRow {
  const effectAt = (needsLook(row) ? row.effectAt : now) ?? now;
  const dueAt = recheckAfter.map(ms => effectAt + ms).find(time => time > now);
  const isPaidRow = row.result && isPaid(row.result.payment);
  return isPaidRow && dueAt !== undefined ? { ...unleased(row), effectAt, dueAt, looks: 0 } : notDue(row);
}

/** The result of looking at one payment that a row knows. */
interface Look {
  /**
   * `ended`: its final status has taken effect. `busy`: another process is working on it, and may fail. `missing`: the
   * gateway does not know it.
   */
  as: 'ended' | 'open' | 'busy' | 'missing' | 'failed';
  /** The gateway has answered with this id. An id from an error or a callback may not exist. */
  isConfirmed: boolean;
  /** Its status differs from the one in the row. */
  hasChanged?: boolean;
  /** An error of any type that the merchant's function throws. */
  error?: unknown;
  /** Milliseconds that the gateway asked to wait. */
  asked: number;
}

/** The codes for a payment that the gateway does not have. */
const UNKNOWN: ReadonlySet<unknown> = new Set(['unknown_payment', 'payment_not_found']);

/** Processes one by one the payments that a row knows. */
async function lookAt(handler: HandlerLink, row: CreateRow, signal: AbortSignal | undefined): Promise<Look[]> {
  const known = row.result?.payment;
  const looks: Look[] = [];
  for (const id of knownIds(row)) {
    const isConfirmed = known !== undefined && isSamePayment(known.id, id);
    try {
      const { result, payment } = await handler.process(id, { signal, timeout: LONGEST_LOOK });
      const as = result === 'busy' ? result : isFinal(payment) ? 'ended' : 'open';
      const hasChanged = isConfirmed && row.effectAt !== undefined && rawStatusOf(payment) !== rawStatusOf(known);
      looks.push({ as, isConfirmed, hasChanged, asked: 0 });
    } catch (error) {
      // By shape, because the handler may belong to another copy of the SDK.
      const { code, retryAfter }: { code?: unknown; retryAfter?: unknown } = isOfMerchant(error) ? {} : Object(error);
      const as = UNKNOWN.has(code) ? 'missing' : 'failed';
      const asked = as === 'failed' && typeof retryAfter === 'number' ? retryAfter : 0;
      looks.push({ as, isConfirmed, error, asked });
    }
  }
  return looks;
}

/** @param isOverdue whether the payment is older than `giveUpAfter` */
function resultOf(
  { effectAt, result }: CreateRow,
  looks: readonly Look[],
  isOverdue: boolean,
): { outcome: keyof SweepCounts; error?: unknown } {
  const confirmed = looks.find(({ isConfirmed }) => isConfirmed);
  const failed = looks.find(({ as }) => as === 'failed');
  // Another gateway, or one that has forgotten an old payment. Any other id that it does not know is not a payment.
  const missing = confirmed?.as === 'missing' ? confirmed : undefined;
  if (effectAt !== undefined && missing && !failed) return { outcome: 'processed' };
  // A final payment is still owed its effect, at any age.
  const isOwed = result && isFinal(result.payment) && confirmed?.as !== 'ended';
  const isOld = isOverdue && !isOwed && !looks.some(({ as }) => as === 'busy');
  const failure = failed ?? (isOld ? undefined : missing);
  if (failure) return { outcome: 'failed', error: failure.error };
  const isDone = looks.every(look => look.as === 'ended' || (look.as === 'missing' && result && look !== missing));
  return { outcome: isDone ? 'processed' : isOld ? 'gaveUp' : 'open' };
}
