// Makes a create with a reference at most once, across processes and crashes, by a journal.
//
// Between two steps anything may happen. What then?
//
// | after            | a crash                              | another process         | a late answer         | an early callback     |
// | ---------------- | ------------------------------------ | ----------------------- | --------------------- | --------------------- |
// | nothing          | nothing was sent, nothing is written | begins                  | -                     | finds nothing         |
// | begin            | doubt that no callback will settle:  | PaymentInDoubtError     | -                     | finds the doubt;      |
// |                  | an operator's `not_created`          |                         |                       | none can come yet     |
// | the request left | doubt, until its callback            | PaymentInDoubtError     | accept, if the token  | settles the doubt;    |
// |                  |                                      |                         | is still this one     | accept comes on top   |
// | the answer came  | doubt, until its callback; the next  | PaymentInDoubtError     | -                     | settles the doubt     |
// |                  | action is lost, it had been told none|                         |                       |                       |
// | accept           | created                              | replays the result      | -                     | finds it created      |
// | release          | the reference is free                | begins                  | writes itself down    | is written down, or   |
// |                  |                                      |                         | anew, or as a stray   | kept as a stray: event|
// | abandon          | as release; the attempt's own        | begins                  | as after release      | as after release      |
// | (an operator)    | deadline has passed                  |                         |                       |                       |
import { randomUUID } from 'node:crypto';
import {
  adviceOn,
  ConnectionError,
  DuplicateReferenceError,
  GatewayError,
  JournalError,
  type Outcome,
  PaymentInDoubtError,
} from '../errors.ts';
import type { WarningCode } from '../events.ts';
import { isSamePayment } from '../payment-id.ts';
import type { Payment } from '../schemas/payment.ts';
import { type Deadline, deadlineIn, failing, inTime } from '../time.ts';
import { UNSEEN } from './canonical.ts';
import type { Journal, JournalAttempt, JournalRecord, JournalResult } from './journal.ts';

/** A create, ready to be sent. */
export interface GuardedCreate {
  journal: Journal;
  attempt: Omit<JournalAttempt, 'token' | 'timeoutMs'>;
  /** Milliseconds for the whole call: writing it down, and the create. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** Sends it, and nothing after the deadline. */
  send(deadline: Deadline): Promise<JournalResult>;
  /** What settles a doubt that knows its payment's id. */
  lookUp(paymentId: string, timeout: number): Promise<JournalResult>;
  warn: Warn;
}

export type Warn = (code: WarningCode, message: string, paymentId?: string) => void;

/** How a guarded create ended; `replayed` if it was not this call that made the payment. */
export interface GuardedResult extends JournalResult {
  replayed: boolean;
}

interface Flight {
  attempt: GuardedCreate['attempt'];
  landing: Promise<GuardedResult>;
}

/** Creates under way in this process, by journal and reference. */
const flights = new WeakMap<Journal, Map<string, Flight>>();

/**
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create of this reference is under way elsewhere, or its outcome is unknown
 * @throws {JournalError} the attempt could not be written down, so nothing was sent
 * @throws what `send` throws, with an `outcome`
 */
export async function createOnce(create: GuardedCreate): Promise<GuardedResult> {
  const { journal, attempt } = create;
  const inProcess = flights.get(journal) ?? new Map<string, Flight>();
  flights.set(journal, inProcess);
  const key = JSON.stringify([attempt.scope, attempt.reference]);
  const flight = inProcess.get(key);
  if (flight) {
    refuseAnother(flight.attempt, attempt);
    return { ...(await within(create, flight.landing, 'unknown')), replayed: true };
  }
  const landing = make(create);
  inProcess.set(key, { attempt, landing });
  return landing.finally(() => inProcess.delete(key));
}

async function make(create: GuardedCreate): Promise<GuardedResult> {
  const deadline = deadlineIn(create.timeout);
  const token = randomUUID();
  const standing = await writeDown(create, token);
  if (standing) {
    const left = Math.max(deadline.monotonic - performance.now(), 1);
    return { ...(await resume(create, standing, left)), replayed: true };
  }
  let result: JournalResult;
  try {
    result = await create.send(deadline);
  } catch (error) {
    await recordFailure(create, token, error);
    throw error;
  }
  const { id } = result.payment;
  const anew = randomUUID();
  const isRecorded = await record(create, () => tell(create, token, anew, id, result));
  // A result that cannot be stored must not take its id along.
  if (!isRecorded) await inTime(tell(create, token, anew, id), LONGEST_RECORDING, () => {}).catch(() => {});
  return { ...result, replayed: false };
}

/** Answers what stands there already, if anything does. */
async function writeDown(create: GuardedCreate, token: string): Promise<JournalRecord | undefined> {
  const { journal, attempt, timeout } = create;
  const writing = Promise.resolve().then(() => journal.begin({ ...attempt, token, timeoutMs: timeout }));
  try {
    return await within(create, writing, 'not_sent');
  } catch (error) {
    // It may have been written all the same, or be written late: nothing was sent, so it must not stand.
    const undo = () => tried(() => journal.release(attempt, token));
    writing.then(undo, undo);
    if (error instanceof ConnectionError && error.code === 'aborted') throw error;
    const told = `The journal could not write down the creation of ${JSON.stringify(attempt.reference)}.`;
    throw new JournalError(told, { cause: wordsOf(error) });
  }
}

/** A store's own words and code, without what drivers hang onto their errors. */
function wordsOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as Error & { code?: unknown };
  return Object.assign(new Error(message), { name }, typeof code === 'string' && { code });
}

/** A create that found its reference taken: the same request again, or the doubt that an earlier one left. */
async function resume(
  create: GuardedCreate,
  standing: JournalRecord,
  timeout: number,
): Promise<JournalResult> {
  const { journal, attempt, warn } = create;
  refuseAnother(standing, attempt);
  if (standing.result) return standing.result;
  const { paymentId, since, reference } = standing;
  if (!paymentId) throw new PaymentInDoubtError(reference, since);
  const result = await create.lookUp(paymentId, timeout).catch(cause => {
    throw new PaymentInDoubtError(reference, since, { paymentId, cause });
  });
  const told = result.payment.reference;
  if (!isPaymentOf(standing, result.payment) || (told && told !== reference)) {
    warn(
      'journal_mismatch',
      `Payment ${paymentId} is not the one that was asked for under this reference.`,
      paymentId,
    );
    throw new PaymentInDoubtError(reference, since, { paymentId });
  }
  await record(create, () => journal.settle(attempt, standing.token, result));
  return result;
}

async function recordFailure(create: GuardedCreate, token: string, error: unknown): Promise<void> {
  const { journal, attempt } = create;
  const { outcome, paymentId } = error instanceof GatewayError ? error : {};
  if (outcome === 'rejected' || outcome === 'not_sent') {
    await record(create, () => journal.release(attempt, token));
  } else if (paymentId) {
    const anew = randomUUID();
    await record(create, () => tell(create, token, anew, paymentId));
  }
}

/**
 * Tells the journal of a payment, with the result if it is known. An operator may have given the attempt up in the
 * meantime: then the payment is written down anew, or kept beside that of the newer attempt.
 *
 * @param anew the token of an attempt written down anew: the same in every try
 */
async function tell(
  create: GuardedCreate,
  token: string,
  anew: string,
  id: string,
  result?: JournalResult,
): Promise<void> {
  const { journal, attempt, warn } = create;
  const write = (token: string) =>
    result ? journal.accept(attempt, token, result) : journal.suspect(attempt, token, id);
  const first = await write(token);
  let { other } = first;
  if (!first.accepted) {
    const standing = await journal.begin({ ...attempt, token: anew, timeoutMs: 0 });
    if (!standing || standing.token === anew) ({ other } = await write(anew));
    else if (!standing.paymentId || !isSamePayment(standing.paymentId, id)) {
      other = standing.paymentId ?? 'one that is under way';
      await journal.keepStray(attempt, standing.token, id);
    }
  }
  if (other) warn('journal_two_payments', twoPayments(attempt.reference, other, id), id);
}

export const twoPayments = (reference: string, one: string, another: string): string =>
  `Reference ${JSON.stringify(reference)} has two payments, ${one} and ${another}: look at both.`;

/** Milliseconds for one try at the journal, and between two. */
const LONGEST_RECORDING = 5_000;
const RECORDING_PAUSES = [100, 1_000];

/** Whether the journal has taken it, at last. */
async function tried(work: () => Promise<unknown>): Promise<boolean> {
  for (const pause of [...RECORDING_PAUSES, undefined]) {
    try {
      await inTime(work(), LONGEST_RECORDING, failing('The journal did not answer.'));
      return true;
    } catch {
      if (pause !== undefined) await new Promise(resolve => setTimeout(resolve, pause));
    }
  }
  return false;
}

/** The payment is what it is, so the caller hears of it even if the journal cannot: then its reference is in doubt. */
async function record(create: GuardedCreate, write: () => Promise<unknown>): Promise<boolean> {
  const isRecorded = await tried(write);
  if (!isRecorded) {
    const told = 'The journal could not be told how this create ended: its reference is in doubt.';
    create.warn('journal_not_recorded', told);
  }
  return isRecorded;
}

/** Waits for work that is shared, or that cannot be stopped, no longer than this call may take. */
function within<T>(
  { timeout, signal, attempt }: GuardedCreate,
  work: Promise<T>,
  outcome: Outcome,
): Promise<T> {
  const stopped = (code: 'aborted' | 'timeout') => {
    const told = `The creation of ${JSON.stringify(attempt.reference)} was stopped (${code}).`;
    return new ConnectionError(`${told} ${adviceOn(outcome)}`, code, { outcome });
  };
  return new Promise((resolve, reject) => {
    const abort = () => reject(stopped('aborted'));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    inTime(work, timeout, () => {
      throw stopped('timeout');
    })
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', abort));
  });
}

/** @throws {DuplicateReferenceError} unless both are the same request */
function refuseAnother(
  standing: GuardedCreate['attempt'] | JournalRecord,
  attempt: GuardedCreate['attempt'],
): void {
  if (standing.bodyHash === attempt.bodyHash) return;
  const fields = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;
  const differing = fields.filter(field => standing[field].toUpperCase() !== attempt[field].toUpperCase());
  // Nobody has seen that request: what its payment shows must do. A customer may have chosen the method.
  if (standing.bodyHash === UNSEEN && differing.every(field => field === 'paymentMethod')) return;
  const { paymentId, result } = standing as Partial<JournalRecord>;
  const told = differing.length > 0 ? differing : ['other fields'];
  throw new DuplicateReferenceError(attempt.reference, told, !result, { paymentId });
}

/** Whether a payment can be the one that was asked for: of the same type, amount and currency. */
export const isPaymentOf = (asked: JournalRecord, payment: Payment): boolean =>
  asked.paymentType === payment.paymentType &&
  asked.currency.toUpperCase() === payment.currency.toUpperCase() &&
  Number(asked.amount) === payment.amount;
