// Makes a create with a reference at most once, across processes and crashes, by the store.
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
import { Deadline } from '../deadline.ts';
import { ApiError, ConfigurationError, GatewayError, PaymentInDoubtError } from '../errors.ts';
import type { Envelope } from '../schemas/response.ts';
import { Untold } from '../telemetry/call.ts';
import { bounded, type FoundRow, isTaken, record, waitForRecording } from './change.ts';
import type { Journal, JournalRow } from './creates.ts';
import { journalRequestOf } from './fingerprint.ts';
import { InFlight, type WaitLimits } from './in-flight.ts';
import type { Accepted, JournaledCreate } from './journaled-create.ts';
import { isRefusedRequest, postponed } from './planned.ts';
import { report, reportConflict, warnNotRecorded } from './reports.ts';
import { resume } from './resume.ts';
import { type JournalAttempt, knownIds } from './row.ts';
import { type LearntPayment, recordEnd, recordPayment, recordTaken, release, type UnpaidEnd } from './transitions.ts';
import { stopped, type UnwrittenAttempt, writeDown } from './write-down.ts';

/** How a create ended. */
export interface CreatedOnce extends Envelope {
  /** An earlier call made the payment. */
  replayed: boolean;
  /** The lookup failed, so this is the last state in the store. */
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

interface FailedAttempt extends Recording {
  end: 'failed';
  error: unknown;
  since: Date;
  /** The plan will be sent again. */
  staysPlanned: boolean;
}

interface Recording {
  /** The row after recording, if the store could be written. */
  recording: Promise<RecordedRow | undefined>;
}

interface RecordedRow extends FoundRow {
  /** The answer had the payment of another create. */
  failure?: GatewayError;
}

/** The creates that run in this process, by store, reference, body and plan. */
const inFlight = new WeakMap<Journal, Map<string, InFlight<AttemptEnd>>>();

/**
 * Sends a create at most once per reference, and joins the same create if this process already runs it.
 *
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference runs elsewhere, or its outcome is unknown
 * @throws {StoreError} the attempt could not be written down, so it was not sent
 * @throws {PlanGone} the plan is sent elsewhere, or was withdrawn
 * @throws {ConfigurationError} the plan's row was changed by hand, or the store's scope belongs to another gateway
 * @throws the errors of `send`, each with an `outcome`
 */
export async function createOnce(create: JournaledCreate): Promise<CreatedOnce> {
  const { journal, scope, request, fields, timeout, signal, order, plan } = create;
  const { reference } = request;
  const limits = { deadline: new Deadline(timeout), signal };
  const attempt = {
    scope,
    reference,
    ...journalRequestOf(request, fields),
    attemptId: randomUUID(),
    timeoutMs: timeout,
    order,
  };
  if (plan && plan.bodyHash !== attempt.bodyHash) throw new ConfigurationError(ALTERED(reference), NOT_SENT);
  const creates = inFlight.get(journal) ?? new Map<string, InFlight<AttemptEnd>>();
  inFlight.set(journal, creates);
  const key = JSON.stringify([scope, reference, attempt.bodyHash, plan?.attemptId]);
  const running = creates.get(key);
  if (!running && signal?.aborted) throw stopped(reference, 'aborted', 'not_sent');
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
        if (plan) throw new PlanGone();
        return { ...(await resume(create, attempt, ended.found, limits)), replayed: true };
      case 'not_begun':
        throw ended.failure;
      case 'created':
        await expectRecorded(ended, create, limits);
        if (running) report(create, 'replayed', reference, ended.result.payment.id);
        return { ...ended.result, replayed: running !== undefined, stale: false };
      default:
        return await afterFailed(create, attempt, ended, limits);
    }
  } finally {
    if (leave()) forget();
  }
}

const NOT_SENT = { outcome: 'not_sent' } as const;
const ALTERED = (reference: string) =>
  `The planned payout ${JSON.stringify(reference)} differs from the request that was planned: another program has changed its row. Nothing was sent. Withdraw it with gateway.settle(reference, 'not_created').`;

/** Waits until the payment is recorded. @throws {GatewayError} if another create has the payment */
async function expectRecorded(ended: CreatedAttempt, create: JournaledCreate, limits: WaitLimits): Promise<void> {
  const recorded = await untilRecorded(ended, create, limits);
  if (recorded?.failure) throw recorded.failure;
}

/** Throws the error, unless a callback has reported the payment in the meantime. */
async function afterFailed(
  create: JournaledCreate,
  attempt: JournalAttempt,
  ended: FailedAttempt,
  limits: WaitLimits,
): Promise<CreatedOnce> {
  const { error, since, staysPlanned } = ended;
  const recorded = await untilRecorded(ended, create, limits);
  if (recorded) {
    // The callback has come already, so the answer does not matter. Another attempt's payment proves nothing here.
    if (isCreated(recorded.row, attempt)) {
      return { ...(await resume(create, attempt, recorded, limits)), replayed: true };
    }
    refuseOutcome(recorded.row, attempt, error);
  } else if (staysPlanned) {
    // The plan returns only once the store answers. It is lost if the process ends before.
    throw new PaymentInDoubtError(attempt.reference, since, { cause: error });
  }
  throw error;
}

/** No customer waits for a plan, so the store gets a fresh timeout after the create has used its own. */
const untilRecorded = ({ recording }: Recording, { plan, timeout }: JournaledCreate, limits: WaitLimits) =>
  waitForRecording(recording, plan ? { deadline: new Deadline(timeout) } : limits);

/** The plan must not be sent: another process sends it, or it was withdrawn. */
export class PlanGone extends Untold {}

/** @throws {PaymentInDoubtError} if the store knows a payment of the reference, even after a refusal */
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
  const { hasBegun, ...found } = written;
  if (!hasBegun) return { end: 'taken', found };
  report(create, 'begun', reference);
  try {
    const accepted = await create.send(deadline, giveUp);
    return { end: 'created', result: accepted.created, recording: recordCreated(create, attempt, accepted, found) };
  } catch (error) {
    const since = new Date(found.row?.begunAt ?? found.now);
    const isUnpaid = isSurelyUnpaid(error);
    const staysPlanned =
      create.plan !== undefined && isUnpaid && (!isRefusedRequest(error) || create.onPlanRefused?.() === true);
    const recording = isUnpaid
      ? recordUnpaid(create, attempt, error, { found, plan: staysPlanned ? create.plan : undefined })
      : recordUnknown(create, attempt, error, found);
    return { end: 'failed', error, since, staysPlanned, recording };
  }
}

/** Frees the reference, or restores its plan. */
async function recordUnpaid(
  create: JournaledCreate,
  attempt: JournalAttempt,
  error: GatewayError,
  { found, plan }: { found: FoundRow; plan: JournalRow | undefined },
): Promise<FoundRow | undefined> {
  const { reference } = attempt;
  const wasSent = error.outcome === 'rejected';
  const unpaid = (now: number): UnpaidEnd => ({ wasSent, plan: plan && planAfter(error, plan, now) });
  const step = await record(create.journal, attempt, (row, now) => release(row, attempt, unpaid(now)), found);
  const end = step?.next?.state;
  if (end === 'planned' || end === 'freed') report(create, end, reference);
  if (step && isInDoubt(step.row, attempt)) report(create, 'in_doubt', reference, knownIds(step.row)[0]);
  if (!step) warnNotRecorded(create, reference);
  return step;
}

/** Restores the plan of an unpaid attempt. If the gateway answered, the plan may be the cause, so it is postponed. */
const planAfter = (error: unknown, plan: JournalRow, now: number): JournalRow =>
  error instanceof ApiError ? postponed(plan, now) : plan;

/** Records the end of an attempt that may have made a payment. A callback may have settled it already. */
async function recordUnknown(
  create: JournaledCreate,
  attempt: JournalAttempt,
  error: unknown,
  found: FoundRow,
): Promise<FoundRow | undefined> {
  const { paymentId } = error instanceof GatewayError ? error : {};
  const step = paymentId
    ? await recordLearnt(create, attempt, { paymentId }, found)
    : await record(create.journal, attempt, row => recordEnd(row, attempt), found);
  if (!step) warnNotRecorded(create, attempt.reference);
  if (!isCreated(step?.row, attempt)) report(create, 'in_doubt', attempt.reference, paymentId);
  return step;
}

async function recordCreated(
  create: JournaledCreate,
  attempt: JournalAttempt,
  { created: result, anothers }: Accepted,
  found: FoundRow,
): Promise<RecordedRow | undefined> {
  const { journal } = create;
  const { reference } = attempt;
  const paymentId = result.payment.id;
  try {
    const step = await recordLearnt(create, attempt, { paymentId, result }, found);
    if (!step) warnNotRecorded(create, reference);
    if (step?.row?.paymentId === paymentId) report(create, 'created', reference, paymentId);
    return step;
  } catch (error) {
    if (!isTaken(error)) throw error;
    const step = await record(journal, attempt, row => recordTaken(row, attempt, paymentId));
    report(create, 'in_doubt', reference, paymentId);
    const owner = await bounded(journal.owner(paymentId)).then(
      ({ row }) => row?.reference,
      () => undefined,
    );
    return { ...(step ?? found), failure: anothers(owner) };
  }
}

async function recordLearnt(
  create: JournaledCreate,
  attempt: JournalAttempt,
  learnt: LearntPayment,
  found: FoundRow,
): Promise<FoundRow | undefined> {
  const transition = (row: JournalRow | undefined, now: number) => recordPayment(row, attempt, learnt, now);
  const step = await record(create.journal, attempt, transition, found);
  if (step?.otherPayment) reportConflict(create, attempt.reference, learnt.paymentId, step.otherPayment.id);
  return step;
}
