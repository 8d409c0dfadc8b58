// Sweeps open payments: processes those whose callback may be lost, and looks at paid ones again.
//
// A payment is due until it is final and has taken effect. A paid one is looked at again later, because the callback of a
// chargeback can get lost.
import { isSamePayment } from '../schemas/id.ts';
import { isFinal, isPaid, rawStatusOf } from '../schemas/records/payment-status.ts';
import { type StoreCall, tellableOf, warn } from '../store/creates/reports.ts';
import { type CreateRow, createOf, knownIds, type ReadRow, storeRowOf } from '../store/rules/create-row.ts';
import { notDue, unleased } from '../store/rules/transitions.ts';
import { isOfMerchant } from '../store/thrown.ts';
import type { HandlerLink } from './handler-link.ts';
import { giveBack, workOnDue } from './leases.ts';

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

export interface SweepCall extends StoreCall {
  handler: HandlerLink;
  olderThan: number;
  giveUpAfter: number;
  recheckAfter: readonly number[];
  limit: number;
  concurrency: number;
  signal: AbortSignal;
  swept: SweepCounts;
}

/** Milliseconds for one payment: a handler answers within 25 seconds. */
const LONGEST_LOOK = 30_000;

/** Milliseconds until the second look, doubled each time. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 6 * 3_600_000;

/** Processes the open payments of the store, the longest due first. Adds its counts. @throws the store's errors */
export async function sweep(client: SweepCall): Promise<void> {
  const { store, swept, limit, concurrency, olderThan, giveUpAfter, recheckAfter, signal } = client;
  /** The gateway has asked for a pause. */
  let isOut = false;
  const isOver = () => isOut || signal.aborted;

  const work = async (row: ReadRow) => {
    /** If an effect or a callback has changed the row during the look, its change wins, and another look follows soon. */
    const write = async (next: CreateRow): Promise<boolean> => {
      const { isWritten, row: stored, now } = await store.write(storeRowOf(next));
      if (isWritten || stored?.dueAt === undefined) return isWritten;
      const changed = { ...createOf(stored), now };
      const again = { ...unleased(changed), dueAt: now + FIRST_PAUSE };
      await store.write(storeRowOf(needsLook(changed) ? again : finished(changed, recheckAfter)));
      return false;
    };
    if (!needsLook(row)) return void (await write(finished(row, recheckAfter)));
    const looks: Look[] = [];
    for (const id of knownIds(row)) looks.push(await lookAt(row, id, client));
    const first = (is: Look['outcome']) => looks.find(look => look.outcome === is);
    const { outcome, error }: Look = first('failed') ?? first('open') ?? { outcome: 'processed' };
    const asked = Math.max(0, ...looks.map(look => look.asked ?? 0));
    isOut ||= asked > 0;
    if (outcome === 'failed' && signal.aborted) return giveBack(store, row);
    const mayGiveUp = row.now - row.begunAt > giveUpAfter && !looks.some(({ isKept }) => isKept);
    const pause = Math.min(Math.max(FIRST_PAUSE * 2 ** row.looks, asked), LONGEST_PAUSE);
    const later = { ...unleased(row), looks: row.looks + 1, dueAt: row.now + pause };
    const next = outcome === 'processed' || mayGiveUp ? finished(row, recheckAfter) : later;
    const isWritten = await write(next);
    const isGivenUp = outcome !== 'processed' && isWritten && next.dueAt === undefined;
    swept[isGivenUp ? 'gaveUp' : outcome] += 1;
    if (looks.some(({ hasChanged }) => hasChanged)) swept.rechecked += 1;
    if (isGivenUp) warn(client, 'sweep_gave_up', row, String(Math.round(giveUpAfter / 86_400_000)));
    else if (outcome === 'failed') warn(client, 'sweep_failed', row, tellableOf(error));
  };
  await workOnDue(store, { states: ['begun', 'created'], olderThan }, { limit, concurrency, isOver }, work);
}

/** Whether a due row needs a look. An effect that pays leaves the due time unchanged: a sweep schedules its rechecks. */
const needsLook = ({ effectAt, dueAt }: CreateRow): boolean => effectAt === undefined || dueAt !== effectAt;

/** Returns a finished row. A paid one is due at its next recheck. */
function finished(row: ReadRow, recheckAfter: readonly number[]): CreateRow {
  const { now } = row;
  const effectAt = (needsLook(row) ? row.effectAt : now) ?? now;
  const dueAt = Math.min(...recheckAfter.map(ms => effectAt + ms).filter(time => time > now));
  const isPaidRow = row.result && isPaid(row.result.payment);
  return isPaidRow && dueAt < Number.POSITIVE_INFINITY ? { ...unleased(row), effectAt, dueAt, looks: 0 } : notDue(row);
}

interface Look {
  outcome: 'processed' | 'open' | 'failed';
  /** At any age, another look follows. */
  isKept?: boolean;
  /** An error of any type that the merchant's function throws. */
  error?: unknown;
  /** Milliseconds that the gateway asked to wait. */
  asked?: number;
  /** The payment has changed since its effect. */
  hasChanged?: boolean;
}

async function lookAt(row: CreateRow, id: string, { handler, signal }: SweepCall): Promise<Look> {
  const { effectAt, result: { payment: known } = {} } = row;
  const isOwn = known !== undefined && isSamePayment(known.id, id);
  // A final payment is still owed its effect.
  const isOwed = isOwn && isFinal(known);
  try {
    const { result, payment } = await handler.process(id, { signal, timeout: LONGEST_LOOK });
    const hasChanged = isOwn && effectAt !== undefined && rawStatusOf(payment) !== rawStatusOf(known);
    // Another worker may fail.
    if (result === 'busy') return { outcome: 'open', isKept: true, hasChanged };
    return isFinal(payment) ? { outcome: 'processed', hasChanged } : { outcome: 'open', isKept: isOwed, hasChanged };
  } catch (error) {
    // By shape, because the handler may belong to another copy of the SDK.
    const { code, retryAfter } = isOfMerchant(error) ? {} : Object(error);
    if (code !== 'unknown_payment') return { outcome: 'failed', isKept: true, error, asked: Number(retryAfter) || 0 };
    // Another gateway, or one that has forgotten an old payment.
    if (isOwn && effectAt === undefined) return { outcome: 'failed', isKept: isOwed, error };
    // An id from an error or a callback may not exist.
    return { outcome: known ? 'processed' : 'open' };
  }
}
