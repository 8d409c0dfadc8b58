// Sweeps open payments: processes those whose callback may be lost, and looks at paid ones again.

import { isSamePayment } from '../schemas/id.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, rawStatusOf } from '../schemas/payment-status.ts';
import { change, type Step, type Transition } from './change.ts';
import { type Claimed, giveBack, workOnDue } from './claims.ts';
import { type CreateRow, knownIds } from './creates.ts';
import type { HandlerLink } from './link.ts';
import { looked, needsLook, nextRecheck, type SweepFinding } from './looks.ts';
import { type StoreCall, warnGaveUp, warnNotSwept } from './reports.ts';
import { isOfMerchant } from './thrown.ts';

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
interface SweepSettings {
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

/** @param looks the number of looks at a row so far */
const pauseAfter = (looks: number): number => Math.min(FIRST_PAUSE * 2 ** (looks - 1), LONGEST_PAUSE);

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

  const work = async ({ row, now }: Claimed) => {
    const begun = performance.now();
    if (!needsLook(row, now, recheckAfter)) {
      const next = nextRecheck(row, now, recheckAfter);
      await change(store, row, current => (current === row ? { next } : {}), { row, now });
      return;
    }
    const seen = await lookAtRow(handler, row, signal);
    if (seen.asked !== undefined) isOut = true;
    const { outcome, finding, failure } = judge(row, seen, now - row.begunAt > giveUpAfter);
    if (outcome === 'failed' && signal?.aborted) return giveBack(store, row);
    // The row has rarely changed meanwhile, so it is not read again.
    const known = { row, now: now + Math.ceil(performance.now() - begun) };
    const record: Transition<Step> = (current, now) => looked(current, row, finding, now, recheckAfter);
    const { next } = await change(store, row, record, known);
    // Its callback may have come during the look.
    const isGivenUp = outcome === 'gaveUp' && next !== undefined && next.dueAt === undefined;
    swept[outcome === 'gaveUp' && !isGivenUp ? 'open' : outcome] += 1;
    if (hasChanged(row, seen)) swept.rechecked += 1;
    if (isGivenUp) warnGaveUp(client, row, giveUpAfter);
    if (failure) warnNotSwept(client, row, failure.error);
  };
  await workOnDue(store, { states: ['begun', 'created'], olderThan }, { limit, concurrency, isOver }, work);
}

/** Whether a recheck has found another status than the one that took effect. */
const hasChanged = ({ effectAt, result }: CreateRow, { payments }: Seen): boolean =>
  effectAt !== undefined &&
  payments.some(
    seen => result && isSamePayment(seen.id, result.payment.id) && rawStatusOf(seen) !== rawStatusOf(result.payment),
  );

/** The result of looking at every payment that a row knows. */
interface Seen {
  /** The gateway's current records. */
  payments: Payment[];
  /** Every payment has ended, and its status has taken effect. */
  isFinal: boolean;
  /** An existing payment has ended, and its status has taken effect. */
  hasEffect: boolean;
  /** Another process is working on a payment, and may fail. */
  isBusy: boolean;
  /** The longest pause in milliseconds that the gateway asked for. */
  asked?: number | undefined;
  /** The first error, of any type that the merchant's function throws. */
  failure?: { error: unknown } | undefined;
  /** The gateway does not know an existing payment: it is another gateway, or has forgotten an old payment. */
  missing?: { error: unknown } | undefined;
}

/** The codes for a payment that the gateway does not have. */
const UNKNOWN: ReadonlySet<unknown> = new Set(['unknown_payment', 'payment_not_found']);

async function lookAtRow(handler: HandlerLink, row: CreateRow, signal: AbortSignal | undefined): Promise<Seen> {
  const seen: Seen = { payments: [], isFinal: true, hasEffect: false, isBusy: false };
  for (const id of knownIds(row)) {
    // The gateway has answered with this id. An id from an error or a callback may not exist.
    const isThere = row.result !== undefined && isSamePayment(row.result.payment.id, id);
    try {
      const { result, payment } = await handler.process(id, { signal, timeout: LONGEST_LOOK });
      const hasEnded = isFinal(payment) && result !== 'busy';
      seen.payments.push(payment);
      seen.isFinal &&= hasEnded;
      seen.hasEffect ||= hasEnded && isThere;
      seen.isBusy ||= result === 'busy';
    } catch (error) {
      // By shape, because the handler may belong to another copy of the SDK.
      const { code, retryAfter }: { code?: unknown; retryAfter?: unknown } = isOfMerchant(error) ? {} : Object(error);
      const isUnknown = UNKNOWN.has(code);
      // Next to a confirmed payment, an id that the gateway does not know is not a payment.
      if (isThere || !isUnknown || !row.result) seen.isFinal = false;
      if (!isUnknown) seen.failure ??= { error };
      else if (isThere) seen.missing ??= { error };
      if (!isUnknown && typeof retryAfter === 'number') seen.asked = Math.max(seen.asked ?? 0, retryAfter);
    }
  }
  return seen;
}

/** The result of a look at a row. */
interface Judgement {
  outcome: keyof SweepCounts;
  finding: SweepFinding;
  /** The reason for a retry. */
  failure?: { error: unknown } | undefined;
}

/** @param isOverdue whether the payment is older than `giveUpAfter` */
function judge(row: CreateRow, seen: Seen, isOverdue: boolean): Judgement {
  const known = row.result ? [row.result.payment] : [];
  const finding = { done: knownIds(row), seen: [...known, ...seen.payments] };
  // The gateway may forget a payment whose effect has happened long ago.
  if (row.effectAt !== undefined && seen.missing && !seen.failure) return { outcome: 'processed', finding };
  // A final payment is still owed its effect, at any age.
  const isOwed = known.some(isFinal) && !seen.hasEffect;
  const isOld = isOverdue && !seen.isBusy && !isOwed;
  const failure = seen.failure ?? (isOld ? undefined : seen.missing);
  const pause = Math.max(pauseAfter(row.looks + 1), Math.min(seen.asked ?? 0, LONGEST_PAUSE));
  if (failure) return { outcome: 'failed', finding: { pause }, failure };
  if (!seen.isFinal && !isOld) return { outcome: 'open', finding: { pause } };
  return { outcome: seen.isFinal ? 'processed' : 'gaveUp', finding };
}
