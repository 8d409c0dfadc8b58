// Makes a create with a reference at most once, across processes and crashes, by a journal.
//
// Events between two steps, and their consequences:
//
// | after            | a crash                              | another process         | a late answer         | an early callback     |
// | ---------------- | ------------------------------------ | ----------------------- | --------------------- | --------------------- |
// | nothing          | no row, no request                   | begins                  | -                     | finds no row          |
// | begin            | doubt that no callback will settle:  | PaymentInDoubtError     | -                     | finds the doubt       |
// |                  | an operator's `not_created`          |                         |                       | (cannot come yet)     |
// | the request left | doubt, until its callback            | PaymentInDoubtError     | is recorded           | settles the doubt; the|
// |                  |                                      |                         |                       | answer is added       |
// | the answer came  | doubt, until its callback; the next  | PaymentInDoubtError     | -                     | settles the doubt     |
// |                  | action is lost                       |                         |                       |                       |
// | recording        | created                              | replays the result      | -                     | finds it created      |
// | release          | the reference is freed               | begins                  | is recorded anyway,   | is recorded anyway,   |
// |                  |                                      |                         | or as a               | or as a               |
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
  /** The lookup failed, so this is the last state in the journal. */
  stale: boolean;
}

/** How an attempt ended. */
type AttemptEnd =
  /** The reference was taken, so the attempt was not sent. */
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
  /** The row after recording, if the journal could be written. */
  recording: Promise<FoundRow | undefined>;
}

/** The creates that run in this process, by journal, reference and body. */
const inFlight = new WeakMap<Journal, Map<string, InFlight<AttemptEnd>>>();

/**
 * Sends a create at most once per reference, and joins the same create if this process already runs it.
 *
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference runs elsewhere, or its outcome is unknown
 * @throws {JournalError} the attempt could not be written down, so it was not sent
 * @throws {PlanGone} another create has taken over the plan, or it was withdrawn
 * @throws the errors of `send`, each with an `outcome`
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
        // The next caller reads the row again, because it may have changed.
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

/** Returns the payment of the same request. If the reference turns out to be free, starts a create instead. */
async function afterTaken(
  create: JournaledCreate,
  attempt: JournalAttempt,
  found: FoundRow,
  limits: WaitLimits,
): Promise<CreatedOnce> {
  if (create.plan) throw new PlanGone();
  // The call has joined the create of a plan that was gone.
  if (isFree(found.row, attempt)) return createOnce({ ...create, timeout: limits.deadline.timeout });
  return { ...(await resume(create, attempt, found, limits)), replayed: true };
}

/** Throws the error, unless a callback has reported the payment in the meantime. */
async function afterFailed(
  create: JournaledCreate,
  attempt: JournalAttempt,
  ended: FailedAttempt,
  limits: WaitLimits,
): Promise<CreatedOnce> {
  const { error, since, plan } = ended;
  const recorded = await untilRecorded(ended, create, limits);
  if (recorded) {
    // The callback has come already, so the answer does not matter. Another attempt's payment proves nothing here.
    if (isCreated(recorded.row, attempt)) {
      return { ...(await resume(create, attempt, recorded, limits)), replayed: true };
    }
    refuseOutcome(recorded.row, attempt, error);
  } else if (create.plan && plan) {
    // The plan returns only once the journal answers. It is lost if the process ends before.
    throw new PaymentInDoubtError(attempt.reference, since, { cause: error });
  }
  // This also applies before the end is recorded, and after a drain has sent the plan.
  if (!recorded || recorded.row?.state === 'planned') tellOfPlan(create, ended, error);
  throw error;
}

/** No customer waits for a plan, so the journal gets a fresh timeout after the create has used its own. */
const untilRecorded = ({ recording }: Recording, { plan, timeout }: JournaledCreate, limits: WaitLimits) =>
  waitForRecording(recording, plan ? { deadline: new Deadline(timeout) } : limits);

/** Marks the error of a direct create that made no payment: a drain will send the plan. */
function tellOfPlan(create: JournaledCreate, { plan }: TakenPlan, error: unknown): void {
  if (plan && !create.plan && isSurelyUnpaid(error)) tellStillPlanned(error);
}

/** The plan must not be sent: another create has taken it over, or it was withdrawn. */
export class PlanGone extends Untold {}

/** Whether a create without a plan can begin. */
const isFree = (row: JournalRow | undefined, { bodyHash }: JournalAttempt): boolean =>
  !row || row.state === 'freed' || (row.state === 'planned' && row.bodyHash === bodyHash);

/** @throws {PaymentInDoubtError} if the journal knows a payment of the reference, even after a refusal */
function refuseOutcome(row: JournalRow | undefined, attempt: JournalAttempt, error: unknown): void {
  if (!isSurelyUnpaid(error) || !isInDoubt(row, attempt)) return;
  const [paymentId] = knownIds(row);
  throw new PaymentInDoubtError(row.reference, new Date(row.begunAt), { paymentId, cause: error });
}

/** Whether the row has the payment of this attempt. */
const isCreated = (row: JournalRow | undefined, { attemptId }: JournalAttempt): boolean =>
  row?.state === 'created' && row.attemptId === attemptId;

/** Whether the row is still in doubt about this attempt. */
const isInDoubt = (row: JournalRow | undefined, { attemptId }: JournalAttempt): row is JournalRow =>
  row?.state === 'begun' && row.attemptId === attemptId;

const isSurelyUnpaid = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && (error.outcome === 'rejected' || error.outcome === 'not_sent');

/** Writes the attempt down, sends it, and records its end in the background. */
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

/** Milliseconds to check for a callback that came before the answer. */
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
  // Read again: a callback may have settled the doubt before the answer came.
  const step = paymentId
    ? await recordLearnt(create, attempt, { paymentId }, found)
    : await withTimeout<FoundRow | undefined>(journal.read(attempt), LONGEST_LOOK, () => undefined).catch(
        () => undefined,
      );
  if (!isCreated(step?.row, attempt)) report(create, 'in_doubt', reference, paymentId);
  return step;
}

/** Restores the plan of an unpaid attempt. If the gateway answered, the plan may be the cause, so it is postponed. */
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
