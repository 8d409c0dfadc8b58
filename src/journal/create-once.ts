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
import { Deadline, LateError, withSignal, withTimeout } from '../deadline.ts';
import {
  adviceOn,
  ConnectionError,
  GatewayError,
  JournalError,
  NOT_TAKEN_BACK,
  type Outcome,
  PaymentInDoubtError,
} from '../errors.ts';
import type { Envelope } from '../schemas/response.ts';
import { change, type Found, patiently, record } from './change.ts';
import type { Journal, JournalRow } from './contract.ts';
import type { Create } from './create.ts';
import { journalRequestOf } from './fingerprint.ts';
import { InFlight, type Left } from './in-flight.ts';
import { report, reportConflict, warnNotRecorded } from './reports.ts';
import { resume } from './resume.ts';
import { begin, type JournalAttempt, knownIds, type Learnt, recordPayment, release, takeBack } from './transitions.ts';

/** How a create ended. */
export interface CreatedOnce extends Envelope {
  /** An earlier call made the payment. */
  replayed: boolean;
  /** It could not be looked up, and is as the journal last saw it. */
  stale: boolean;
}

/** How an attempt ended: with an answer or an error that is being recorded; or its reference was taken already. */
type Ended = { found: Found } | (Recording & ({ result: Envelope } | { error: unknown }));

interface Recording {
  /** The row as it is then, if it could be written. */
  recording: Promise<Found | undefined>;
}

/** Creates that run in this process, by journal, reference and body. */
const inFlight = new WeakMap<Journal, Map<string, InFlight<Ended>>>();

/**
 * Sends a create at most once per reference. The same create that runs in this process already is joined.
 *
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference runs elsewhere, or its outcome is unknown
 * @throws {JournalError} the attempt could not be written down, so nothing was sent
 * @throws what `send` throws, with an `outcome`
 */
export async function createOnce(create: Create): Promise<CreatedOnce> {
  const { journal, scope, request, fields, timeout, signal } = create;
  const { reference } = request;
  const limits = { deadline: new Deadline(timeout), signal };
  const attempt = {
    scope,
    reference,
    ...journalRequestOf(request, fields),
    attemptId: randomUUID(),
    timeoutMs: timeout,
  };
  const creates = inFlight.get(journal) ?? new Map<string, InFlight<Ended>>();
  inFlight.set(journal, creates);
  const key = JSON.stringify([scope, reference, attempt.bodyHash]);
  const other = creates.get(key);
  if (!other && signal?.aborted) throw stopped(reference, 'aborted', 'not_sent');
  const own = other ?? new InFlight(giveUp => make(create, attempt, limits.deadline, giveUp));
  creates.set(key, own);
  const leave = own.enter();
  try {
    const ended = await own.wait(limits, left => stopped(reference, left, 'unknown'));
    if ('found' in ended) {
      // Whoever comes next reads the row again: it may have changed by then.
      if (creates.get(key) === own) creates.delete(key);
      return { ...(await resume(create, attempt, ended.found, limits)), replayed: true };
    }
    const recorded = await patiently(ended.recording, limits);
    if ('result' in ended) {
      if (other) report(create, 'replayed', reference, ended.result.payment.id);
      return { ...ended.result, replayed: other !== undefined, stale: false };
    }
    if (recorded) {
      // Whatever the answer was: its callback has come already. Another attempt's payment says nothing of this one.
      if (isCreated(recorded.row, attempt)) {
        return { ...(await resume(create, attempt, recorded, limits)), replayed: true };
      }
      refuseOutcome(recorded.row, attempt, ended.error);
    }
    throw ended.error;
  } finally {
    if (leave() && creates.get(key) === own) creates.delete(key);
  }
}

/** @throws {PaymentInDoubtError} if a payment of the reference is known, whatever the answer says of the money */
function refuseOutcome(row: JournalRow | undefined, attempt: JournalAttempt, error: unknown): void {
  if (!isSurelyUnpaid(error) || !isInDoubt(row, attempt)) return;
  const [paymentId] = knownIds(row);
  throw new PaymentInDoubtError(row.reference, new Date(row.begunAt), { paymentId, cause: error });
}

/** Whether the row has the payment of this attempt. */
const isCreated = (row: JournalRow | undefined, { attemptId }: JournalAttempt): boolean =>
  row?.state === 'created' && row.attemptId === attemptId;

/** Whether the row is still that of this attempt. */
const isInDoubt = (row: JournalRow | undefined, { attemptId }: JournalAttempt): row is JournalRow =>
  row?.state === 'begun' && row.attemptId === attemptId;

const isSurelyUnpaid = (error: unknown): boolean =>
  error instanceof GatewayError && (error.outcome === 'rejected' || error.outcome === 'not_sent');

const stopped = (reference: string, code: Left, outcome: Outcome): ConnectionError => {
  const message = `The creation of ${JSON.stringify(reference)} was stopped (${code}).`;
  return new ConnectionError(`${message} ${adviceOn(outcome)}`, code, { outcome });
};

/** One attempt: write it down → send it → record how it ended, which goes on in the background. */
async function make(create: Create, attempt: JournalAttempt, deadline: Deadline, giveUp: AbortSignal): Promise<Ended> {
  const { reference } = attempt;
  const { hasBegun, ...found } = await writeDown(create, attempt, deadline, giveUp);
  if (!hasBegun) return { found };
  report(create, 'begun', reference);
  try {
    const result = await create.send(deadline, giveUp);
    return { result, recording: recordLearnt(create, attempt, { paymentId: result.payment.id, result }, found) };
  } catch (error) {
    return { error, recording: recordFailure(create, attempt, error, found) };
  }
}

/** Writes the attempt down, in one statement if the reference is new. */
async function writeDown(
  create: Create,
  attempt: JournalAttempt,
  deadline: Deadline,
  giveUp: AbortSignal,
): Promise<Found & { hasBegun: boolean }> {
  const { journal } = create;
  const { reference } = attempt;
  const beginOwn = (row: JournalRow | undefined, now: number) => begin(row, attempt, now);
  const takeOwnBack = (row: JournalRow | undefined, now: number) => takeBack(row, attempt, now);
  const writing = change(journal, attempt, beginOwn, { known: { now: 0 }, isPatient: true });
  const late = () => {
    throw new LateError();
  };
  try {
    return await withSignal(withTimeout(writing, deadline.remaining, late), giveUp);
  } catch (error) {
    // It may be written all the same, also later.
    const isRunning = giveUp.aborted || error instanceof LateError;
    const takingBack = isRunning ? Promise.reject(error) : change(journal, attempt, takeOwnBack);
    const isTakenBack = await withSignal(withTimeout(takingBack, deadline.remaining, late), giveUp).then(
      () => true,
      () => false,
    );
    if (!isTakenBack) {
      const goOn = async () => (await record(journal, attempt, takeOwnBack)) ?? warnNotRecorded(create, reference);
      writing.then(goOn, goOn);
    }
    const advice = isTakenBack ? adviceOn('not_sent') : NOT_TAKEN_BACK;
    if (giveUp.aborted && !(giveUp.reason instanceof LateError)) {
      const message = `The creation of ${JSON.stringify(reference)} was stopped (aborted). ${advice}`;
      throw new ConnectionError(message, 'aborted', { outcome: 'not_sent' });
    }
    const cause = causeOf(error);
    const why = cause ? ` (${cause.message})` : '';
    const message = `The creation of ${JSON.stringify(reference)} could not be written into the journal${why}. ${advice}`;
    throw new JournalError(message, { cause });
  }
}

/** A store's own message and code, without what drivers add to their errors. */
function causeOf(error: unknown): Error | undefined {
  if (error instanceof LateError) return new Error('it did not answer in time');
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as Error & { code?: unknown };
  return Object.assign(new Error(message), { name }, typeof code === 'string' && { code });
}

/** Milliseconds to look whether a callback has come before the answer. */
const LONGEST_LOOK = 1_000;

async function recordFailure(
  create: Create,
  attempt: JournalAttempt,
  error: unknown,
  found: Found,
): Promise<Found | undefined> {
  const { journal } = create;
  const { reference } = attempt;
  const { outcome, paymentId } = error instanceof GatewayError ? error : {};
  if (isSurelyUnpaid(error)) {
    const step = await record(journal, attempt, row => release(row, attempt, outcome === 'rejected'), found);
    if (step?.next) report(create, 'freed', reference);
    else if (step && isInDoubt(step.row, attempt)) report(create, 'in_doubt', reference, knownIds(step.row)[0]);
    if (!step) warnNotRecorded(create, reference);
    return step;
  }
  // Read again: a callback may have settled it before the answer came.
  const step = paymentId
    ? await recordLearnt(create, attempt, { paymentId }, found)
    : await withTimeout<Found | undefined>(journal.read(attempt), LONGEST_LOOK, () => undefined).catch(() => undefined);
  if (!isCreated(step?.row, attempt)) report(create, 'in_doubt', reference, paymentId);
  return step;
}

async function recordLearnt(
  create: Create,
  attempt: JournalAttempt,
  learnt: Learnt,
  found: Found,
): Promise<Found | undefined> {
  const { reference } = attempt;
  const { paymentId, result } = learnt;
  const transition = (row: JournalRow | undefined, now: number) => recordPayment(row, attempt, learnt, now);
  const step = await record(create.journal, attempt, transition, found);
  if (!step) warnNotRecorded(create, reference);
  if (result && step?.row?.paymentId === paymentId) report(create, 'created', reference, paymentId);
  if (step?.otherPayment) reportConflict(create, reference, paymentId, step.otherPayment.id);
  return step;
}
