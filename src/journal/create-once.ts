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
  ApiError,
  adviceOn,
  ConnectionError,
  GatewayError,
  JournalError,
  type Outcome,
  PaymentInDoubtError,
} from '../errors.ts';
import type { Envelope } from '../schemas/response.ts';
import { Untold } from '../telemetry/call.ts';
import { change, type Found, patiently, record } from './change.ts';
import type { Journal, JournalRow } from './contract.ts';
import type { Create } from './create.ts';
import { journalRequestOf } from './fingerprint.ts';
import { InFlight, type Left } from './in-flight.ts';
import { isRefused, postponed, tellStillPlanned } from './planned.ts';
import { report, reportConflict, warnNotRecorded } from './reports.ts';
import { resume } from './resume.ts';
import { type JournalAttempt, knownIds } from './row.ts';
import { begin, type Learnt, recordPayment, release, takeBack, type Unpaid } from './transitions.ts';

/** How a create ended. */
export interface CreatedOnce extends Envelope {
  /** An earlier call made the payment. */
  replayed: boolean;
  /** It could not be looked up, and is as the journal last saw it. */
  stale: boolean;
}

/** How an attempt ended: with an answer or an error that is being recorded; or its reference was taken already. */
type Ended = { found: Found } | (Recording & ({ result: Envelope } | { error: unknown; since: Date }));

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
 * @throws {PlanGone} another create has the plan, or it is no plan any more
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
      if (create.plan) throw new PlanGone();
      // It has joined the create of a plan that was gone.
      const again = { ...create, timeout: limits.deadline.remaining || 1 };
      if (isFree(ended.found.row, attempt)) return await createOnce(again);
      return { ...(await resume(create, attempt, ended.found, limits)), replayed: true };
    }
    // No customer waits for what was planned, so the journal has its time also after a create that took all of its own.
    const recorded = await patiently(ended.recording, create.plan ? { deadline: new Deadline(timeout) } : limits);
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
    } else if (create.plan && isSurelyUnpaid(ended.error) && !isRefused(ended.error)) {
      // It is planned again as soon as the journal can be told, and never if the process ends before.
      throw new PaymentInDoubtError(reference, ended.since, { cause: ended.error });
    }
    throw ended.error;
  } finally {
    if (leave() && creates.get(key) === own) creates.delete(key);
  }
}

/** A plan is not to be sent any more: another create has taken it over, or it was withdrawn. */
export class PlanGone extends Untold {}

/** Whether a create that knows of no plan can begin. */
const isFree = (row: JournalRow | undefined, { bodyHash }: JournalAttempt): boolean =>
  !row || row.state === 'freed' || (row.state === 'planned' && row.bodyHash === bodyHash);

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

const isSurelyUnpaid = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && (error.outcome === 'rejected' || error.outcome === 'not_sent');

function stopped(reference: string, code: Left, outcome: Outcome, advice = adviceOn(outcome)): ConnectionError {
  const message = `The creation of ${JSON.stringify(reference)} was stopped (${code}). ${advice}`;
  return new ConnectionError(message, code, { outcome });
}

/** One attempt: write it down → send it → record how it ended, which goes on in the background. */
async function make(create: Create, attempt: JournalAttempt, deadline: Deadline, giveUp: AbortSignal): Promise<Ended> {
  const { reference } = attempt;
  const { hasBegun, plan, ...found } = await writeDown(create, attempt, deadline, giveUp);
  if (!hasBegun) return { found };
  report(create, 'begun', reference);
  try {
    const result = await create.send(deadline, giveUp);
    return { result, recording: recordLearnt(create, attempt, { paymentId: result.payment.id, result }, found) };
  } catch (error) {
    const since = new Date(found.row?.begunAt ?? found.now);
    return { error, since, recording: recordFailure(create, attempt, error, { found, plan }) };
  }
}

/** An attempt that is written down. */
interface Begun extends Found {
  hasBegun: boolean;
  /** What it has taken over. */
  plan?: JournalRow | undefined;
}

/** Writes the attempt down, in one statement if the reference is new. */
async function writeDown(
  create: Create,
  attempt: JournalAttempt,
  deadline: Deadline,
  giveUp: AbortSignal,
): Promise<Begun> {
  const { journal } = create;
  const { reference } = attempt;
  let plan: JournalRow | undefined;
  const beginOwn = (row: JournalRow | undefined, now: number) => {
    if (row?.state === 'planned') plan = row;
    return begin(row, attempt, now, create.plan);
  };
  const takeOwnBack = (row: JournalRow | undefined, now: number) => takeBack(row, attempt, now, plan);
  // As a rule a reference is new, so it is not read before.
  const known = create.plan ? undefined : { now: 0 };
  const writing = change(journal, attempt, beginOwn, { known, isPatient: true });
  const late = () => {
    throw new LateError();
  };
  try {
    return { ...(await withSignal(withTimeout(writing, deadline.remaining, late), giveUp)), plan };
  } catch (error) {
    // It may be written all the same, also later.
    const isRunning = giveUp.aborted || error instanceof LateError;
    const takingBack = async () => {
      if (isRunning) throw error;
      if (!isNeverWritten(error)) await change(journal, attempt, takeOwnBack);
    };
    const isTakenBack = await withSignal(withTimeout(takingBack(), deadline.remaining, late), giveUp).then(
      () => true,
      () => false,
    );
    if (!isTakenBack) {
      const goOn = async () => (await record(journal, attempt, takeOwnBack)) ?? warnNotRecorded(create, reference);
      writing.then(goOn, goOn);
    }
    const advice = isTakenBack ? adviceOn('not_sent') : NOT_TAKEN_BACK;
    const isStopped = giveUp.aborted && !(giveUp.reason instanceof LateError);
    const failure = isStopped
      ? stopped(reference, 'aborted', 'not_sent', advice)
      : notWritten(reference, error, advice);
    if (plan && !create.plan) tellStillPlanned(failure);
    throw failure;
  }
}

/** In place of that it is safe, where the journal may hold the attempt that was not sent. */
const NOT_TAKEN_BACK =
  'Nothing was sent. The attempt may be in the journal anyway, and is taken back once the journal answers: until then a create of this reference ends in PaymentInDoubtError.';

/** Of a database that was not reached, or knows no such user, database, schema, table or right; or of a key too long. */
const NEVER_WRITTEN =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|28\w{3}|3D000|3F000|42\w{3}|ER_(?:\w*ACCESS_DENIED|BAD_DB|NO_SUCH_TABLE|DATA_TOO_LONG)\w*)$/;
const isNeverWritten = (error: unknown) => NEVER_WRITTEN.test(String((error as { code?: unknown } | undefined)?.code));

function notWritten(reference: string, error: unknown, advice: string): JournalError {
  const cause = causeOf(error);
  const why = cause ? ` (${cause.message})` : '';
  const message = `The creation of ${JSON.stringify(reference)} could not be written into the journal${why}. ${advice}`;
  return new JournalError(message, { cause });
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
  { found, plan }: { found: Found; plan: JournalRow | undefined },
): Promise<Found | undefined> {
  const { journal } = create;
  const { reference } = attempt;
  const { outcome, paymentId } = error instanceof GatewayError ? error : {};
  if (isSurelyUnpaid(error)) {
    const wasSent = outcome === 'rejected';
    const unpaid = (now: number): Unpaid => ({ wasSent, plan: plan && planAfter(error, plan, now) });
    const step = await record(journal, attempt, (row, now) => release(row, attempt, unpaid(now)), found);
    const end = step?.next?.state;
    if (end === 'planned' || end === 'freed') report(create, end, reference);
    if (end === 'planned' && !create.plan) tellStillPlanned(error);
    if (step && isInDoubt(step.row, attempt)) report(create, 'in_doubt', reference, knownIds(step.row)[0]);
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

/** What becomes of a plan whose attempt has made no payment; undefined if its request was refused. */
function planAfter(error: unknown, plan: JournalRow, now: number): JournalRow | undefined {
  if (isRefused(error)) return undefined;
  return error instanceof ApiError ? postponed(plan, now) : plan;
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
