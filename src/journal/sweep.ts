// Looks at what is open: payments whose callback may be lost are processed as it would have been.
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

/** Lets a payment take effect as its callback would: what `createWebhookHandler` returns. */
export interface SweepHandler {
  process(paymentId: string, options: { signal?: AbortSignal | undefined; timeout: number }): Promise<Processed>;
  /** False if the payments that it confirms settle no doubt. */
  readonly hasJournal?: boolean | undefined;
}

/** What a sweep did: how many payments it looked at, by how it found them. */
export interface Swept {
  /** Final, and its effect has happened, now or before. */
  processed: number;
  /** Not final yet, or somebody else is at work on it: looked at again by a later sweep. */
  open: number;
  /** Older than `giveUpAfter`, and not final: no sweep looks at it again. */
  gaveUp: number;
  /** The lookup or `onPayment` failed, or the gateway does not know a payment that there is: tried again by a later sweep. */
  failed: number;
}

/** How a sweep goes on. */
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

/** Milliseconds until the second look, then twice as long each time. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 6 * 3_600_000;

/** @param looks how often a row was looked at */
export const pauseAfter = (looks: number): number => Math.min(FIRST_PAUSE * 2 ** (looks - 1), LONGEST_PAUSE);

/**
 * Looks at what the journal has open, due first. Rows are leased, so that many replicas can sweep at once, and what one that
 * died has left is looked at by the next.
 *
 * @throws {ConfigurationError} for a handler without a journal
 * @throws what the journal throws: what was not looked at is left for the next sweep
 */
export async function sweepJournal(client: ClientJournal, options: SweepOfJournal): Promise<Swept> {
  const { journal, scope } = client;
  if (options.handler.hasJournal === false) throw new ConfigurationError(NO_JOURNAL);
  const { handler, limit, concurrency, olderThan, giveUpAfter, signal } = options;
  const swept = newSwept();
  /** A gateway that asks for a pause gets it. */
  let isAsked = false;
  const isOver = () => isAsked || signal?.aborted === true;
  const query = { scope, states: ['begun', 'created'] as const, olderThan };

  await workOnDue(client, query, { limit, concurrency, isOver }, async ({ row, now }) => {
    const begun = performance.now();
    const seen = await lookAtRow(handler, row, signal);
    if (seen.asked !== undefined) isAsked = true;
    const { outcome, finding, failure } = judge(row, seen, now - row.begunAt > giveUpAfter);
    if (outcome === 'failed' && signal?.aborted) return giveBack(client, row);
    // As a rule nobody has changed it meanwhile, so it is not read again.
    const known = { row, now: now + Math.ceil(performance.now() - begun) };
    const transition: Transition<RowChange> = (current, now) => looked(current, row.attemptId, finding, now);
    const { next } = await change(journal, row, transition, { known });
    // Its callback may have come while it was looked at.
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
    // The gateway has answered with it. What an error or a callback has named may be nothing.
    const isThere = row.result !== undefined && isSamePayment(row.result.payment.id, id);
    looks.push(await look(handler, id, { isThere, signal }));
  }
  return sumOf(looks);
}

/** What a look at a row comes to. */
interface Judgement {
  outcome: keyof Swept;
  finding: SweepFinding;
  /** Why it is tried again. */
  failure?: { error: unknown } | undefined;
}

/** @param isOverdue whether patience with it has an end */
function judge(row: JournalRow, seen: Seen, isOverdue: boolean): Judgement {
  const known = row.result ? [row.result.payment] : [];
  // What was final has an effect to have yet, however old it is.
  const isOwed = known.some(isFinal) && !seen.hasEffect;
  const isOld = isOverdue && !seen.isBusy && !isOwed;
  const failure = seen.failure ?? (isOld ? undefined : seen.missing);
  const pause = Math.max(pauseAfter(row.looks + 1), Math.min(seen.asked ?? 0, LONGEST_PAUSE));
  if (failure) return { outcome: 'failed', finding: { pause }, failure };
  if (!seen.isFinal && !isOld) return { outcome: 'open', finding: { pause } };
  const finding = { done: knownIds(row), seen: [...known, ...seen.payments] };
  return { outcome: seen.isFinal ? 'processed' : 'gaveUp', finding };
}

/** Looks at payments of the merchant's own list: without a journal there is neither a schedule nor an end of patience. */
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

/** What a look at a payment has shown. */
interface Look {
  /** As the gateway has it now. */
  payment?: Payment;
  /** Nothing is left to happen. */
  isFinal?: boolean;
  /** The payment that there is has ended, and that has taken effect. */
  hasEffect?: boolean;
  /** Somebody else is at work on one, and may fail. */
  isBusy?: boolean;
  /** Milliseconds for which the gateway has asked. */
  asked?: number | undefined;
  /** The error, which may be anything that `onPayment` throws. */
  failure?: { error: unknown } | undefined;
  /** The gateway does not know a payment that there is. It may be another gateway; or it has forgotten an old one. */
  missing?: { error: unknown } | undefined;
}

/** What the looks at all payments of a row have shown. */
interface Seen extends Omit<Look, 'payment'> {
  payments: readonly Payment[];
}

/** A payment that the gateway does not have. */
const UNKNOWN: ReadonlySet<unknown> = new Set(['unknown_payment', 'payment_not_found']);

/** @param isThere whether there is such a payment */
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
    // By shape, as the handler may be of another copy of the SDK.
    const told = isOfMerchant(error) ? {} : (error ?? {});
    const { code, retryAfter } = told as { code?: unknown; retryAfter?: unknown };
    if (UNKNOWN.has(code)) return { missing: isThere ? { error } : undefined };
    const asked = typeof retryAfter === 'number' ? retryAfter : undefined;
    return { failure: { error }, asked };
  }
}

/** Of several errors the first counts, and of several pauses the longest. */
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
