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
import { Deadline, withTimeout } from '../deadline.ts';
import { ApiError, adviceOn, GatewayError, PaymentInDoubtError } from '../errors.ts';
import type { Envelope } from '../schemas/response.ts';
import { Untold } from '../telemetry/call.ts';
import { type FoundRow, record, waitForRecording } from './change.ts';
import type { Journal, JournalRow } from './contract.ts';
import { journalRequestOf } from './fingerprint.ts';
import { InFlight, type WaitLimits } from './in-flight.ts';
import type { JournaledCreate } from './journaled-create.ts';
import { isRefusedRequest, postponed, tellStillPlanned } from './planned.ts';
import { report, reportConflict, warnNotRecorded } from './reports.ts';
import { resume } from './resume.ts';
import { type JournalAttempt, knownIds } from './row.ts';
import { type LearntPayment, recordPayment, release, type UnpaidEnd } from './transitions.ts';
import { MAY_BE_PLANNED, stopped, type TakenPlan, type UnwrittenAttempt, writeDown } from './write-down.ts';

/** How a create ended. */
export interface CreatedOnce extends Envelope {
  /** An earlier call made the payment. */
  replayed: boolean;
  /** It could not be looked up, and is as the journal last saw it. */
  stale: boolean;
}

/** How an attempt ended. */
type AttemptEnd =
  /** Its reference was taken: nothing was sent. */
  { end: 'taken'; found: FoundRow } | UnwrittenAttempt | CreatedAttempt | FailedAttempt;

interface CreatedAttempt extends Recording {
  end: 'created';
  result: Envelope;
}

interface FailedAttempt extends Recording, TakenPlan {
  end: 'failed';
  error: unknown;
  since: Date;
}

interface Recording {
  /** The row as it is then, if it could be written. */
  recording: Promise<FoundRow | undefined>;
}

/** Creates that run in this process, by journal, reference and body. */
const inFlight = new WeakMap<Journal, Map<string, InFlight<AttemptEnd>>>();

/**
 * Sends a create at most once per reference. The same create that runs in this process already is joined.
 *
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference runs elsewhere, or its outcome is unknown
 * @throws {JournalError} the attempt could not be written down, so nothing was sent
 * @throws {PlanGone} another create has the plan, or it is no plan any more
 * @throws what `send` throws, with an `outcome`
 */
export async function createOnce(create: JournaledCreate): Promise<CreatedOnce> {
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
  const creates = inFlight.get(journal) ?? new Map<string, InFlight<AttemptEnd>>();
  inFlight.set(journal, creates);
  const key = JSON.stringify([scope, reference, attempt.bodyHash]);
  const running = creates.get(key);
  if (!running && signal?.aborted) {
    throw stopped(reference, 'aborted', 'not_sent', adviceOn('not_sent') + MAY_BE_PLANNED);
  }
  const flight = running ?? new InFlight(giveUp => makeAttempt(create, attempt, limits.deadline, giveUp));
  creates.set(key, flight);
  const forget = () => {
    if (creates.get(key) === flight) creates.delete(key);
  };
  const leave = flight.enter();
  try {
    const ended = await flight.wait(limits, left => stopped(reference, left, 'unknown'));
    switch (ended.end) {
      case 'taken':
        // Whoever comes next reads the row again: it may have changed by then.
        forget();
        return await afterTaken(create, attempt, ended.found, limits);
      case 'not_begun':
        tellOfPlan(create, ended, ended.failure);
        throw ended.failure;
      case 'created':
        await untilRecorded(ended, create, limits);
        if (running) report(create, 'replayed', reference, ended.result.payment.id);
        return { ...ended.result, replayed: running !== undefined, stale: false };
      default:
        return await afterFailed(create, attempt, ended, limits);
    }
  } finally {
    if (leave()) forget();
  }
}

/** The payment of the reference, if it is this one's, or a create of its own where the reference is free after all. */
async function afterTaken(
  create: JournaledCreate,
  attempt: JournalAttempt,
  found: FoundRow,
  limits: WaitLimits,
): Promise<CreatedOnce> {
  if (create.plan) throw new PlanGone();
  // It has joined the create of a plan that was gone.
  if (isFree(found.row, attempt)) return createOnce({ ...create, timeout: limits.deadline.timeout });
  return { ...(await resume(create, attempt, found, limits)), replayed: true };
}

/** The error, unless a callback has told of the payment in the meantime. */
async function afterFailed(
  create: JournaledCreate,
  attempt: JournalAttempt,
  ended: FailedAttempt,
  limits: WaitLimits,
): Promise<CreatedOnce> {
  const { error, since, plan } = ended;
  const recorded = await untilRecorded(ended, create, limits);
  if (recorded) {
    // Whatever the answer was: its callback has come already. Another attempt's payment says nothing of this one.
    if (isCreated(recorded.row, attempt)) {
      return { ...(await resume(create, attempt, recorded, limits)), replayed: true };
    }
    refuseOutcome(recorded.row, attempt, error);
  } else if (create.plan && plan) {
    // It is planned again as soon as the journal can be told, and never if the process ends before.
    throw new PaymentInDoubtError(attempt.reference, since, { cause: error });
  }
  // Also before that is recorded, and if a drain has sent it.
  if (!recorded || recorded.row?.state === 'planned') tellOfPlan(create, ended, error);
  throw error;
}

/** No customer waits for what was planned, so the journal has its time also after a create that took all of its own. */
const untilRecorded = ({ recording }: Recording, { plan, timeout }: JournaledCreate, limits: WaitLimits) =>
  waitForRecording(recording, plan ? { deadline: new Deadline(timeout) } : limits);

/** A direct create has made no payment: a drain will, if it was planned. */
function tellOfPlan(create: JournaledCreate, { plan }: TakenPlan, error: unknown): void {
  if (plan && !create.plan && isSurelyUnpaid(error)) tellStillPlanned(error);
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

/** Writes the attempt down, sends it, and records how it ended, which goes on in the background. */
async function makeAttempt(
  create: JournaledCreate,
  attempt: JournalAttempt,
  deadline: Deadline,
  giveUp: AbortSignal,
): Promise<AttemptEnd> {
  const { reference } = attempt;
  const written = await writeDown(create, attempt, deadline, giveUp);
  if ('failure' in written) return written;
  const { hasBegun, plan, ...found } = written;
  if (!hasBegun) return { end: 'taken', found };
  report(create, 'begun', reference);
  try {
    const result = await create.send(deadline, giveUp);
    const recording = recordLearnt(create, attempt, { paymentId: result.payment.id, result }, found);
    return { end: 'created', result, recording };
  } catch (error) {
    const since = new Date(found.row?.begunAt ?? found.now);
    const staysPlanned = isSurelyUnpaid(error) && (!isRefusedRequest(error) || create.onPlanRefused?.() === true);
    const left = staysPlanned ? plan : undefined;
    return {
      end: 'failed',
      error,
      since,
      plan: left,
      recording: recordFailure(create, attempt, error, { found, plan: left }),
    };
  }
}

/** Milliseconds to look whether a callback has come before the answer. */
const LONGEST_LOOK = 1_000;

async function recordFailure(
  create: JournaledCreate,
  attempt: JournalAttempt,
  error: unknown,
  { found, plan }: { found: FoundRow; plan: JournalRow | undefined },
): Promise<FoundRow | undefined> {
  const { journal } = create;
  const { reference } = attempt;
  const { outcome, paymentId } = error instanceof GatewayError ? error : {};
  if (isSurelyUnpaid(error)) {
    const wasSent = outcome === 'rejected';
    const unpaid = (now: number): UnpaidEnd => ({ wasSent, plan: plan && planAfter(error, plan, now) });
    const step = await record(journal, attempt, (row, now) => release(row, attempt, unpaid(now)), found);
    const end = step?.next?.state;
    if (end === 'planned' || end === 'freed') report(create, end, reference);
    if (step && isInDoubt(step.row, attempt)) report(create, 'in_doubt', reference, knownIds(step.row)[0]);
    if (!step) warnNotRecorded(create, reference);
    return step;
  }
  // Read again: a callback may have settled it before the answer came.
  const step = paymentId
    ? await recordLearnt(create, attempt, { paymentId }, found)
    : await withTimeout<FoundRow | undefined>(journal.read(attempt), LONGEST_LOOK, () => undefined).catch(
        () => undefined,
      );
  if (!isCreated(step?.row, attempt)) report(create, 'in_doubt', reference, paymentId);
  return step;
}

/** A plan whose attempt has made no payment. What the gateway has answered to may be the reason itself: it makes way. */
const planAfter = (error: unknown, plan: JournalRow, now: number): JournalRow =>
  error instanceof ApiError ? postponed(plan, now) : plan;

async function recordLearnt(
  create: JournaledCreate,
  attempt: JournalAttempt,
  learnt: LearntPayment,
  found: FoundRow,
): Promise<FoundRow | undefined> {
  const { reference } = attempt;
  const { paymentId, result } = learnt;
  const transition = (row: JournalRow | undefined, now: number) => recordPayment(row, attempt, learnt, now);
  const step = await record(create.journal, attempt, transition, found);
  if (!step) warnNotRecorded(create, reference);
  if (result && step?.row?.paymentId === paymentId) report(create, 'created', reference, paymentId);
  if (step?.otherPayment) reportConflict(create, reference, paymentId, step.otherPayment.id);
  return step;
}
