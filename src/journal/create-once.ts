// Makes a create with a reference at most once, across processes and crashes, by a journal.
//
// Between two steps anything may happen. What then?
//
// | after            | a crash                              | another process         | a late answer         | an early callback     |
// | ---------------- | ------------------------------------ | ----------------------- | --------------------- | --------------------- |
// | nothing          | nothing was sent or written          | begins                  | -                     | finds nothing         |
// | begin            | doubt that no callback will settle:  | PaymentInDoubtError     | -                     | finds the doubt;      |
// |                  | an operator's `not_created`          |                         |                       | none can come yet     |
// | the request left | doubt, until its callback            | PaymentInDoubtError     | is recorded           | settles the doubt; the|
// |                  |                                      |                         |                       | answer comes on top   |
// | the answer came  | doubt, until its callback; the next  | PaymentInDoubtError     | -                     | settles the doubt     |
// |                  | action is lost                       |                         |                       |                       |
// | recording        | created                              | replays the result      | -                     | finds it created      |
// | release          | the reference is free                | begins                  | is recorded all the   | is recorded all the   |
// |                  |                                      |                         | same, perhaps as a    | same, perhaps as a    |
// |                  |                                      |                         | conflicting id        | conflicting id        |
// | abandon          | as release; the attempt's own        | begins                  | as after release      | as after release      |
// | (an operator)    | deadline has passed                  |                         |                       |                       |
import { randomUUID } from 'node:crypto';
import { Deadline, withSignal, withTimeout } from '../deadline.ts';
import {
  adviceOn,
  ConnectionError,
  DuplicateReferenceError,
  GatewayError,
  InvalidRequestError,
  JournalError,
  type Outcome,
  PaymentInDoubtError,
} from '../errors.ts';
import { type EventListener, notify, type WarningCode } from '../events.ts';
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import { journalRequestOf, type Recordable, UNSEEN } from './attempt.ts';
import { change, inTime, record } from './change.ts';
import type { Journal, JournalRow, Timed } from './contract.ts';
import {
  begin,
  isPaymentOf,
  type JournalAttempt,
  type Learnt,
  newRow,
  recordPayment,
  release,
  settle,
} from './transitions.ts';

/** The journal of one client. */
export interface ClientJournal {
  journal: Journal;
  scope: string;
  onEvent?: EventListener | undefined;
}

/** A create, as far as the journal has to do with it. */
export interface Create extends ClientJournal {
  request: Recordable;
  extra?: object | undefined;
  /** Milliseconds for the whole create. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** Sends it, and nothing after the deadline. */
  send(deadline: Deadline): Promise<Envelope>;
  lookUp(paymentId: string, limits: { timeout: number; signal?: AbortSignal | undefined }): Promise<Payment>;
}

/** How a create ended; `replayed` if an earlier call made the payment. */
export interface CreatedOnce extends Envelope {
  replayed: boolean;
}

interface InFlight {
  attempt: JournalAttempt;
  promise: Promise<CreatedOnce>;
}

/** Creates under way in this process, by journal and reference. */
const inFlight = new WeakMap<Journal, Map<string, InFlight>>();

const NO_REFERENCE = {
  path: 'reference',
  message: 'is needed with a journal: without one, it cannot be known whether the withdrawal was paid',
};

/**
 * Sends a create with a reference at most once; a deposit without one is sent as it is.
 *
 * @throws {InvalidRequestError} for a withdrawal without a reference
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference is under way elsewhere, or its outcome is unknown
 * @throws {JournalError} the attempt could not be written down, so nothing was sent
 * @throws what `send` throws, with an `outcome`
 */
export async function createOnce(create: Create): Promise<CreatedOnce> {
  const { journal, scope, request, extra, timeout } = create;
  const { reference, paymentType } = request;
  if (!reference) {
    if (paymentType === 'WITHDRAWAL') throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
    return { ...(await create.send(new Deadline(timeout))), replayed: false };
  }
  const details = journalRequestOf(request, extra);
  const attempt = { scope, reference, ...details, attempt: randomUUID(), timeoutMs: timeout };
  const creates = inFlight.get(journal) ?? new Map<string, InFlight>();
  inFlight.set(journal, creates);
  const key = JSON.stringify([scope, reference]);
  const other = creates.get(key);
  if (other) {
    refuseAnother(other.attempt, attempt);
    return { ...(await withinLimits(create, other.promise, 'unknown')), replayed: true };
  }
  const promise = make(create, attempt);
  creates.set(key, { attempt, promise });
  return promise.finally(() => creates.delete(key));
}

async function make(create: Create, attempt: JournalAttempt): Promise<CreatedOnce> {
  const deadline = new Deadline(create.timeout);
  const found = await writeDown(create, attempt);
  if (!found.hasBegun) return { ...(await resume(create, attempt, found, deadline)), replayed: true };
  let result: Envelope;
  try {
    result = await create.send(deadline);
  } catch (error) {
    await recordFailure(create, attempt, error, found);
    throw error;
  }
  await recordLearnt(create, attempt, { paymentId: result.payment.id, result }, found);
  return { ...result, replayed: false };
}

/** The row of the attempt, or the one that has the reference already. */
type Begun = Timed<{ row: JournalRow; hasBegun: boolean }>;

async function writeDown(create: Create, attempt: JournalAttempt): Promise<Begun> {
  const { journal } = create;
  const writing = beginRow(journal, attempt);
  try {
    return await withinLimits(create, writing, 'not_sent');
  } catch (error) {
    // It may be written all the same, also later. Nothing was sent, so it is taken back.
    const undo = () => record(journal, attempt, row => release(row, attempt));
    writing.then(undo, undo);
    if (error instanceof ConnectionError && error.code === 'aborted') throw error;
    const message = `The creation of ${JSON.stringify(attempt.reference)} could not be written into the journal.`;
    throw new JournalError(message, { cause: messageOf(error) });
  }
}

/** It has no time-out of its own: who stops waiting must know when it ends, to undo it. */
async function beginRow(journal: Journal, attempt: JournalAttempt): Promise<Begun> {
  for (;;) {
    const { row, isInserted, now } = await journal.insert(newRow(attempt, 0));
    if (isInserted) return { row, hasBegun: true, now };
    const { hasBegun, next } = begin(row, attempt, now);
    if (!next) return { row, hasBegun, now };
    const { isReplaced } = await inTime(journal.replace(next, row.revision));
    if (isReplaced) return { row: { ...next, revision: row.revision + 1 }, hasBegun, now };
  }
}

/** A store's own message and code, without what drivers add to their errors. */
function messageOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as Error & { code?: unknown };
  return Object.assign(new Error(message), { name }, typeof code === 'string' && { code });
}

/** A create that found its reference taken: by the same request, or by the doubt that an earlier one left. */
async function resume(create: Create, attempt: JournalAttempt, found: Begun, deadline: Deadline): Promise<Envelope> {
  const { row } = found;
  refuseAnother(row, attempt);
  if (row.result) return row.result;
  const { paymentId, reference } = row;
  const since = new Date(row.begunAt);
  if (!paymentId) throw new PaymentInDoubtError(reference, since);
  const limits = { timeout: Math.max(deadline.remaining, 1), signal: create.signal };
  const payment = await create.lookUp(paymentId, limits).catch(cause => {
    throw new PaymentInDoubtError(reference, since, { paymentId, cause });
  });
  if (!isPaymentOf(row, payment) || (payment.reference && payment.reference !== reference)) {
    const message = `Payment ${paymentId} is another one than the payment requested under this reference.`;
    warn(create, reference, 'journal_mismatch', message, paymentId);
    throw new PaymentInDoubtError(reference, since, { paymentId });
  }
  const settleSame = (current: JournalRow | undefined) =>
    current?.attempt === row.attempt ? settle(current, { payment }) : {};
  const step = await record(create.journal, row, settleSame, found);
  if (!step) warnNotRecorded(create, reference);
  return { payment };
}

async function recordFailure(create: Create, attempt: JournalAttempt, error: unknown, found: Begun): Promise<void> {
  const { outcome, paymentId } = error instanceof GatewayError ? error : {};
  if (outcome === 'rejected' || outcome === 'not_sent') {
    const step = await record(create.journal, attempt, row => release(row, attempt), found);
    if (!step) warnNotRecorded(create, attempt.reference);
  } else if (paymentId) {
    await recordLearnt(create, attempt, { paymentId }, found);
  }
}

/** The payment exists, so the caller gets it even if it cannot be recorded: then its reference is in doubt. */
async function recordLearnt(create: Create, attempt: JournalAttempt, learnt: Learnt, found: Begun): Promise<void> {
  const { journal } = create;
  const { reference } = attempt;
  const { paymentId } = learnt;
  let step = await record(journal, attempt, (row, now) => recordPayment(row, attempt, learnt, now), found);
  if (!step) {
    warnNotRecorded(create, reference);
    // A result that cannot be stored must not take its id with it.
    if (learnt.result) {
      const recordId = (row: JournalRow | undefined, now: number) => recordPayment(row, attempt, { paymentId }, now);
      step = await change(journal, attempt, recordId).catch(() => undefined);
    }
  }
  if (step?.conflictsWith) {
    const message = twoPayments(reference, step.conflictsWith, paymentId);
    warn(create, reference, 'journal_two_payments', message, paymentId);
  }
}

export const twoPayments = (reference: string, one: string, another: string): string =>
  `Reference ${JSON.stringify(reference)} has two payments, ${one} and ${another}: look at both.`;

const warnNotRecorded = (client: ClientJournal, reference: string): void =>
  warn(
    client,
    reference,
    'journal_not_recorded',
    'The end of this create could not be recorded in the journal: its reference is in doubt.',
  );

/** Reports to the merchant's listener that somebody should look at a reference. */
export function warn(
  { onEvent }: ClientJournal,
  reference: string,
  code: WarningCode,
  message: string,
  paymentId?: string,
): void {
  notify(onEvent, { operation: 'create', reference, paymentId, type: 'warning', code, message });
}

/** Waits for work that is shared, or that cannot be stopped, no longer than this call may take. */
async function withinLimits<T>({ timeout, signal, request }: Create, work: Promise<T>, outcome: Outcome): Promise<T> {
  const stopped = (code: 'aborted' | 'timeout') => {
    const message = `The creation of ${JSON.stringify(request.reference)} was stopped (${code}).`;
    return new ConnectionError(`${message} ${adviceOn(outcome)}`, code, { outcome });
  };
  const inTime = withTimeout(work, timeout, () => {
    throw stopped('timeout');
  });
  return withSignal(inTime, signal).catch(error => {
    throw signal?.aborted && error === signal.reason ? stopped('aborted') : error;
  });
}

/** @throws {DuplicateReferenceError} unless both are the same request */
function refuseAnother(existing: JournalAttempt | JournalRow, attempt: JournalAttempt): void {
  if (existing.bodyHash === attempt.bodyHash) return;
  const fields = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;
  const differing = fields.filter(field => existing[field].toUpperCase() !== attempt[field].toUpperCase());
  // That request is not known, only what its payment shows. A customer may have chosen the method.
  if (existing.bodyHash === UNSEEN && differing.every(field => field === 'paymentMethod')) return;
  const { paymentId, result } = existing as Partial<JournalRow>;
  const differences = differing.length > 0 ? differing : ['other fields'];
  throw new DuplicateReferenceError(attempt.reference, differences, !result, { paymentId });
}
