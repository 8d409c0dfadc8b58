// Makes a create with a reference at most once, across processes and crashes, by the store.
//
// Events between two steps, and their consequences. The same create of another process gets PaymentInDoubtError from
// begin to recording, and then the payment.
//
// | after            | a crash leaves                          | a late answer      | an early callback   |
// | ---------------- | --------------------------------------- | ------------------ | ------------------- |
// | nothing          | no row and no request                   | -                  | finds no row        |
// | begin            | a doubt, for an operator                | -                  | cannot come yet     |
// | the request left | a doubt, until its callback             | is recorded        | settles the doubt;  |
// |                  |                                         |                    | the answer is added |
// | the answer came  | the same, and the next action is lost   | -                  | settles the doubt   |
// | recording        | the payment                             | -                  | finds it created    |
// | release          | a free reference, or its plan restored  | is recorded, or is | as the late answer  |
// |                  |                                         | a conflicting id   |                     |
// | abandon          | a free reference, by an operator's word | the same           | the same            |
import { Deadline } from '../../deadline.ts';
import { GatewayError, type Outcome } from '../../errors.ts';
import type { Envelope } from '../../schemas/records/response.ts';
import { NothingDone } from '../../telemetry/call.ts';
import type { Store } from '../contract.ts';
import { type CreateRow, knownIds, type ReadRow } from '../rules/create-row.ts';
import { replanned } from '../rules/plan.ts';
import { recordEnd, recordPayment, release } from '../rules/transitions.ts';
import { type Changed, isTaken, ownerOf, record, type Transition, waitForRecording } from './change.ts';
import { inDoubt } from './doubts.ts';
import { type Join, startShared, type WaitLimits } from './in-flight.ts';
import { type CreatedOnce, type Replayable, resume } from './replay.ts';
import { report, reportConflict } from './reports.ts';
import { stopped, writeDown } from './write-down.ts';

export interface Accepted {
  created: Envelope;
  /** Makes the error for an answer with the payment of another create. */
  anothers(reference: string | undefined): GatewayError;
}

export interface CreateOnce extends Replayable {
  /** The claimed plan: the create sends only this plan. */
  plan?: CreateRow | undefined;
  /** Sends the create, but never after the deadline. The signal ends the wait for its answer. */
  send(limits: WaitLimits): Promise<Accepted>;
}

/** The running creates of this process. */
const running = new WeakMap<Store, Map<string, Join<CreatedOnce>>>();

/** Sends a create at most once per reference. Joins the same create if this process already runs it. */
export async function createOnce(create: CreateOnce): Promise<CreatedOnce> {
  const { store, attempt, plan, signal } = create;
  const { reference, bodyHash, order } = attempt;
  const creates = running.get(store) ?? new Map<string, Join<CreatedOnce>>();
  running.set(store, creates);
  const key = JSON.stringify([reference, bodyHash, order, plan?.attemptId]);
  const joined = creates.get(key);
  if (!joined && signal?.aborted) throw stopped(reference, 'aborted', 'not_sent');
  const begin = (giveUp: AbortSignal) => makeAttempt({ ...create, signal: giveUp }).finally(() => creates.delete(key));
  const join = joined ?? startShared(begin);
  creates.set(key, join);
  const ended = await join(create, left => stopped(reference, left, 'unknown'));
  return joined ? { ...ended, replayed: true } : ended;
}

/** Begin → send → record → answer. */
async function makeAttempt(create: CreateOnce): Promise<CreatedOnce> {
  const { attempt, plan } = create;
  const { next, row: begun } = await writeDown(create);
  // Another process sends the plan, or it was withdrawn.
  if (!next && plan) throw new NothingDone();
  if (!next) return resume(create, begun);
  report(create, 'begun', attempt.reference);
  const sent = await create.send(create).catch((error: unknown) => ({ error }));
  const recording = 'error' in sent ? recordFailure(create, sent.error, begun) : recordCreated(create, sent, begun);
  // No customer waits for a plan, so the store gets a fresh timeout after the create has used its own.
  const recorded = await waitForRecording(recording, plan ? { deadline: new Deadline(attempt.timeoutMs) } : create);
  if (!('error' in sent)) return { ...sent.created, replayed: false, stale: false };
  const { error } = sent;
  const row = recorded?.row;
  // The callback has come already, so the answer does not matter.
  if (row?.state === 'created') return resume(create, row);
  // The store knows a payment of it, or may lose the plan if the process ends now.
  const isDoubt = row?.state === 'begun' || (plan && !recorded);
  throw isDoubt && outcomeOf(error) !== 'unknown' ? inDoubt(row ?? begun, { cause: error }) : error;
}

const outcomeOf = (error: unknown): Outcome => (error instanceof GatewayError && error.outcome) || 'unknown';

/** Frees the reference, restores its plan, or records the doubt. @returns the row, if it is still this attempt's */
async function recordFailure(create: CreateOnce, error: unknown, begun: ReadRow): Promise<Changed | undefined> {
  const { attempt, plan } = create;
  const { reference } = attempt;
  const { paymentId } = error instanceof GatewayError ? error : {};
  const outcome = outcomeOf(error);
  const end: Transition = row => {
    if (outcome !== 'unknown') return release(row, attempt, outcome, plan && row && replanned(plan, error, row.now));
    return paymentId ? recordPayment(row, attempt, paymentId) : recordEnd(row, attempt);
  };
  const step = await record(create, end, begun);
  reportConflict(create, reference, paymentId, step?.otherPayment);
  // Another attempt's payment proves nothing here.
  const own = step?.row?.attemptId === attempt.attemptId ? step.row : undefined;
  const { state = outcome === 'unknown' && 'begun' } = own ?? step?.next ?? {};
  if (state === 'begun') report(create, 'in_doubt', reference, paymentId ?? (own && knownIds(own)[0]));
  else if (state === 'freed' || state === 'planned') report(create, state, reference);
  return step && { row: own };
}

/** Records the payment of an attempt. @throws {GatewayError} if another create has it: one id belongs to one create */
async function recordCreated(create: CreateOnce, { created, anothers }: Accepted, begun: ReadRow): Promise<undefined> {
  const { store, attempt } = create;
  const { reference } = attempt;
  const { id: paymentId } = created.payment;
  try {
    const step = await record(create, row => recordPayment(row, attempt, created), begun);
    reportConflict(create, reference, paymentId, step?.otherPayment);
    if (step?.row?.paymentId === paymentId) report(create, 'created', reference, paymentId);
  } catch (error) {
    if (!isTaken(error)) throw error;
    await record(create, row => recordEnd(row, attempt, paymentId));
    report(create, 'in_doubt', reference, paymentId);
    const owner = await ownerOf(store, paymentId).catch(() => undefined);
    throw anothers(owner?.reference);
  }
}
