// Sweeps open payments: processes those whose callback may be lost.
import { ConfigurationError } from '../errors.ts';
import type { Processed } from '../inbox/contract.ts';
import { isOfMerchant } from '../inbox/thrown.ts';
import { isSamePayment } from '../schemas/id.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { change, type Transition } from './change.ts';
import { giveBack, inParallel, workOnDue } from './claims.ts';
import type { JournalRow } from './contract.ts';
import { type ClientJournal, warnGaveUp, warnNotSwept } from './reports.ts';
import { knownIds, type RowChange } from './row.ts';
import { looked, type SweepFinding } from './transitions.ts';

/** Applies a payment's effect as its callback would: the return value of `createWebhookHandler`. */
export interface SweepHandler {
  process(paymentId: string, options: { signal?: AbortSignal | undefined; timeout: number }): Promise<Processed>;
  /** False if the payments that it confirms settle no doubt. */
  readonly hasJournal?: boolean | undefined;
}

/** The counts of a sweep, by result. */
export interface Swept {
  /** Final payments whose effect has happened, in this sweep or before. */
  processed: number;
  /** Payments that are not final, or that another process handles. A later sweep retries them. */
  open: number;
  /** Payments older than `giveUpAfter` that are not final. No sweep looks at them again. */
  gaveUp: number;
  /** Payments whose lookup or `onPayment` failed, or that the gateway no longer knows. A later sweep retries them. */
  failed: number;
}

/** The options common to all sweeps. */
interface Limits {
  handler: SweepHandler;
  limit: number;
  concurrency: number;
  signal?: AbortSignal | undefined;
}

export interface SweepOfJournal extends Limits {
  olderThan: number;
  giveUpAfter: number;
}

export interface SweepOfIds extends Limits {
  ids: Iterable<string> | AsyncIterable<string>;
}

const NO_JOURNAL =
  "sweep: the handler's gateway has no journal, so the callbacks that it takes settle no doubt: pass the client that creates to createWebhookHandler.";

/** Milliseconds for one payment: a handler answers within 25 seconds. */
const LONGEST_LOOK = 30_000;

/** Milliseconds until the second look, doubled each time. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 6 * 3_600_000;

/** @param looks the number of looks at a row so far */
export const pauseAfter = (looks: number): number => Math.min(FIRST_PAUSE * 2 ** (looks - 1), LONGEST_PAUSE);

/**
 * Processes the journal's open payments, the longest due first. Leases let many replicas sweep concurrently.
 * After a crash, the next sweep takes over the rows.
 *
 * @throws {ConfigurationError} for a handler without a journal
 * @throws the journal's errors. The next sweep processes the remaining rows
 */
export async function sweepJournal(client: ClientJournal, options: SweepOfJournal): Promise<Swept> {
  const { journal, scope } = client;
  if (options.handler.hasJournal === false) throw new ConfigurationError(NO_JOURNAL);
  const { handler, limit, concurrency, olderThan, giveUpAfter, signal } = options;
  const swept = newSwept();
  /** A gateway may ask for a pause, which ends the sweep. */
  let isAsked = false;
  const isOver = () => isAsked || signal?.aborted === true;
  const query = { scope, states: ['begun', 'created'] as const, olderThan };

  await workOnDue(client, query, { limit, concurrency, isOver }, async ({ row, now }) => {
    const begun = performance.now();
    const seen = await lookAtRow(handler, row, signal);
    if (seen.asked !== undefined) isAsked = true;
    const { outcome, finding, failure } = judge(row, seen, now - row.begunAt > giveUpAfter);
    if (outcome === 'failed' && signal?.aborted) return giveBack(client, row);
    // The row has rarely changed meanwhile, so it is not read again.
    const known = { row, now: now + Math.ceil(performance.now() - begun) };
    const transition: Transition<RowChange> = (current, now) => looked(current, row.attemptId, finding, now);
    const { next } = await change(journal, row, transition, { known });
    // Its callback may have come during the look.
    const isGivenUp = outcome === 'gaveUp' && next !== undefined && next.dueAt === undefined;
    swept[outcome === 'gaveUp' && !isGivenUp ? 'open' : outcome] += 1;
    if (isGivenUp) warnGaveUp(client, row, giveUpAfter);
    if (failure) warnNotSwept(client, row, failure.error);
  });
  return swept;
}

/** Looks at every payment that a row knows. */
async function lookAtRow(handler: SweepHandler, row: JournalRow, signal: AbortSignal | undefined): Promise<Seen> {
  const looks: Look[] = [];
  for (const id of knownIds(row)) {
    // The gateway has answered with this id. An id from an error or a callback may not exist.
    const isThere = row.result !== undefined && isSamePayment(row.result.payment.id, id);
    looks.push(await look(handler, id, { isThere, signal }));
  }
  return sumOf(looks);
}

/** The result of a look at a row. */
interface Judgement {
  outcome: keyof Swept;
  finding: SweepFinding;
  /** The reason for a retry. */
  failure?: { error: unknown } | undefined;
}

/** @param isOverdue whether the payment is older than `giveUpAfter` */
function judge(row: JournalRow, seen: Seen, isOverdue: boolean): Judgement {
  const known = row.result ? [row.result.payment] : [];
  // A final payment is still owed its effect, at any age.
  const isOwed = known.some(isFinal) && !seen.hasEffect;
  const isOld = isOverdue && !seen.isBusy && !isOwed;
  const failure = seen.failure ?? (isOld ? undefined : seen.missing);
  const pause = Math.max(pauseAfter(row.looks + 1), Math.min(seen.asked ?? 0, LONGEST_PAUSE));
  if (failure) return { outcome: 'failed', finding: { pause }, failure };
  if (!seen.isFinal && !isOld) return { outcome: 'open', finding: { pause } };
  const finding = { done: knownIds(row), seen: [...known, ...seen.payments] };
  return { outcome: seen.isFinal ? 'processed' : 'gaveUp', finding };
}

/** Looks at the payments of the merchant's own list. A schedule and an age limit need a journal. */
export async function sweepIds(options: SweepOfIds): Promise<Swept> {
  const { handler, ids, limit, concurrency, signal } = options;
  const swept = newSwept();
  let isAsked = false;
  const taken = take(ids, limit, () => isAsked || signal?.aborted === true);
  await inParallel(taken, concurrency, async id => {
    const seen = await look(handler, id, { isThere: true, signal });
    if (seen.asked !== undefined) isAsked = true;
    const failure = seen.failure ?? seen.missing;
    if (!(failure && signal?.aborted)) swept[failure ? 'failed' : seen.isFinal ? 'processed' : 'open'] += 1;
  });
  return swept;
}

const newSwept = (): Swept => ({ processed: 0, open: 0, gaveUp: 0, failed: 0 });

/** The result of a look at one payment. */
interface Look {
  /** The gateway's current record. */
  payment?: Payment;
  /** The payment needs no further work. */
  isFinal?: boolean;
  /** An existing payment has ended, and its status has taken effect. */
  hasEffect?: boolean;
  /** Another process is working on a payment, and may fail. */
  isBusy?: boolean;
  /** Milliseconds that the gateway asked to wait. */
  asked?: number | undefined;
  /** The error, of any type that `onPayment` throws. */
  failure?: { error: unknown } | undefined;
  /** The gateway does not know an existing payment: it is another gateway, or has forgotten an old payment. */
  missing?: { error: unknown } | undefined;
}

/** The combined result for all payments of a row. */
interface Seen extends Omit<Look, 'payment'> {
  payments: readonly Payment[];
}

/** The codes for a payment that the gateway does not have. */
const UNKNOWN: ReadonlySet<unknown> = new Set(['unknown_payment', 'payment_not_found']);

/** @param isThere whether the payment is known to exist */
async function look(
  handler: SweepHandler,
  id: string,
  { isThere, signal }: { isThere: boolean; signal: AbortSignal | undefined },
): Promise<Look> {
  try {
    const { result, payment } = await handler.process(id, { signal, timeout: LONGEST_LOOK });
    const isBusy = result === 'busy';
    const hasEnded = isFinal(payment) && !isBusy;
    return { payment, isFinal: hasEnded, hasEffect: hasEnded && isThere, isBusy };
  } catch (error) {
    // By shape, because the handler may belong to another copy of the SDK.
    const told = isOfMerchant(error) ? {} : (error ?? {});
    const { code, retryAfter } = told as { code?: unknown; retryAfter?: unknown };
    if (UNKNOWN.has(code)) return { missing: isThere ? { error } : undefined };
    const asked = typeof retryAfter === 'number' ? retryAfter : undefined;
    return { failure: { error }, asked };
  }
}

/** The first of several errors counts, and the longest of several pauses. */
function sumOf(looks: readonly Look[]): Seen {
  const pauses = looks.flatMap(({ asked }) => asked ?? []);
  return {
    payments: looks.flatMap(({ payment }) => payment ?? []),
    isFinal: looks.every(({ isFinal }) => isFinal),
    hasEffect: looks.some(({ hasEffect }) => hasEffect),
    isBusy: looks.some(({ isBusy }) => isBusy),
    asked: pauses.length > 0 ? Math.max(...pauses) : undefined,
    failure: looks.find(({ failure }) => failure)?.failure,
    missing: looks.find(({ missing }) => missing)?.missing,
  };
}

async function* take(
  ids: Iterable<string> | AsyncIterable<string>,
  limit: number,
  isOver: () => boolean,
): AsyncGenerator<string> {
  let left = limit;
  for await (const id of ids) {
    if (isOver() || left === 0) return;
    left -= 1;
    yield id;
  }
}
