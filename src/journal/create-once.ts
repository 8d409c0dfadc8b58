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
// | release          | the reference is freed               | begins                  | is recorded all the   | is recorded all the   |
// |                  |                                      |                         | same, or as a         | same, or as a         |
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
  JournalError,
  type Outcome,
  PaymentInDoubtError,
} from '../errors.ts';
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import { change, type Found, record } from './change.ts';
import type { Journal, JournalRow } from './contract.ts';
import { journalRequestOf, type Recordable, UNSEEN } from './fingerprint.ts';
import { begin, isPaymentOf, type JournalAttempt, type Learnt, recordPayment, release, settle } from './transitions.ts';
import { type ClientJournal, warnMismatch, warnNotRecorded, warnTwoPayments } from './warnings.ts';

/** A create, as far as the journal has to do with it. */
export interface Create extends ClientJournal {
  request: Recordable & { reference: string };
  /** All that is sent, as plain data. */
  fields: object;
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

/** Creates that run in this process, by journal and reference. */
const inFlight = new WeakMap<Journal, Map<string, InFlight>>();

/**
 * Sends a create at most once per reference. The same create that runs in this process already is joined.
 *
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference runs elsewhere, or its outcome is unknown
 * @throws {JournalError} the attempt could not be written down, so nothing was sent
 * @throws what `send` throws, with an `outcome`
 */
export async function createOnce(create: Create): Promise<CreatedOnce> {
  const { journal, scope, request, fields, timeout } = create;
  const { reference } = request;
  const fingerprint = journalRequestOf(request, fields);
  const attempt = { scope, reference, ...fingerprint, attemptId: randomUUID(), timeoutMs: timeout };
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
  const { hasBegun, ...found } = await writeDown(create, attempt);
  if (!hasBegun) return { ...(await resume(create, attempt, found, deadline)), replayed: true };
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

/** Writes the attempt down, in one statement if the reference is new. */
async function writeDown(create: Create, attempt: JournalAttempt): Promise<Found & { hasBegun: boolean }> {
  const { journal } = create;
  const beginOwn = (row: JournalRow | undefined, now: number) => begin(row, attempt, now);
  const writing = change(journal, attempt, beginOwn, { known: { now: 0 }, isPatient: true });
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

/** A store's own message and code, without what drivers add to their errors. */
function messageOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as Error & { code?: unknown };
  return Object.assign(new Error(message), { name }, typeof code === 'string' && { code });
}

/** A create that found its reference taken: by the same request, or by the doubt that an earlier one left. */
async function resume(create: Create, attempt: JournalAttempt, found: Found, deadline: Deadline): Promise<Envelope> {
  const row = found.row as JournalRow;
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
    warnMismatch(create, reference, payment);
    throw new PaymentInDoubtError(reference, since, { paymentId });
  }
  const settleSame = (current: JournalRow | undefined) =>
    current?.attemptId === row.attemptId ? settle(current, { payment }) : {};
  if (!(await record(create.journal, row, settleSame, found))) warnNotRecorded(create, reference);
  return { payment };
}

async function recordFailure(create: Create, attempt: JournalAttempt, error: unknown, found: Found): Promise<void> {
  const { outcome, paymentId } = error instanceof GatewayError ? error : {};
  if (outcome === 'rejected' || outcome === 'not_sent') {
    const step = await record(create.journal, attempt, row => release(row, attempt), found);
    if (!step) warnNotRecorded(create, attempt.reference);
  } else if (paymentId) {
    await recordLearnt(create, attempt, { paymentId }, found);
  }
}

/** The payment exists, so the caller gets it even if it cannot be recorded: then its reference is in doubt. */
async function recordLearnt(create: Create, attempt: JournalAttempt, learnt: Learnt, found: Found): Promise<void> {
  const { journal } = create;
  const { paymentId } = learnt;
  const transition = (learnt: Learnt) => (row: JournalRow | undefined, now: number) =>
    recordPayment(row, attempt, learnt, now);
  let step = await record(journal, attempt, transition(learnt), found);
  if (!step) {
    warnNotRecorded(create, attempt.reference);
    // A result that cannot be stored must not take its id with it.
    step = await change(journal, attempt, transition({ paymentId })).catch(() => undefined);
  }
  if (step?.otherPayment) warnTwoPayments(create, attempt.reference, paymentId, step.otherPayment.id);
}

/** Waits for work that is shared, or that cannot be stopped, no longer than this call may take. */
async function withinLimits<T>({ timeout, signal, request }: Create, work: Promise<T>, outcome: Outcome): Promise<T> {
  const stopped = (code: 'aborted' | 'timeout') => {
    const message = `The creation of ${JSON.stringify(request.reference)} was stopped (${code}).`;
    return new ConnectionError(`${message} ${adviceOn(outcome)}`, code, { outcome });
  };
  const limited = withTimeout(work, timeout, () => {
    throw stopped('timeout');
  });
  return withSignal(limited, signal).catch(error => {
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
