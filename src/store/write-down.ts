// Writes an attempt of a create into the store before the SDK sends it.
import { type Deadline, LateError, type Left, within } from '../deadline.ts';
import {
  adviceOn,
  ConfigurationError,
  ConnectionError,
  type GatewayError,
  type Outcome,
  StoreError,
} from '../errors.ts';
import { change, type FoundRow, NO_ROW, record } from './change.ts';
import type { JournalRow } from './creates.ts';
import type { JournaledCreate } from './journaled-create.ts';
import { warnNotRecorded } from './reports.ts';
import type { JournalAttempt } from './row.ts';
import { begin, takeBack } from './transitions.ts';

/** An attempt that could not be written down, so it was not sent. */
export interface UnwrittenAttempt {
  end: 'not_begun';
  failure: GatewayError;
}

/** Writes the attempt down, in one statement if the reference is new. */
export async function writeDown(
  create: JournaledCreate,
  attempt: JournalAttempt,
  deadline: Deadline,
  giveUp: AbortSignal,
): Promise<(FoundRow & { hasBegun: boolean }) | UnwrittenAttempt> {
  const { journal, plan } = create;
  const { reference } = attempt;
  const beginOwn = (row: JournalRow | undefined, now: number) => begin(row, attempt, now, plan);
  const takeOwnBack = (row: JournalRow | undefined, now: number) => takeBack(row, attempt, now, plan);
  // A reference is usually new, so it is not read first.
  const known = plan ? undefined : NO_ROW;
  const writing = change(journal, attempt, beginOwn, { known, isUnbounded: true });
  const inTime = <T>(promise: Promise<T>): Promise<T> =>
    within(promise, { ms: deadline.remaining, signal: giveUp }, () => {
      // The signal below shows whether the caller stopped it.
      throw new LateError();
    });
  try {
    return await inTime(writing);
  } catch (error) {
    // The store's scope belongs to another gateway.
    if (error instanceof ConfigurationError) return { end: 'not_begun', failure: error };
    // The row may be written anyway, even later.
    const isRunning = giveUp.aborted || error instanceof LateError;
    const takingBack = async () => {
      if (isRunning) throw error;
      if (!isNeverWritten(error)) await change(journal, attempt, takeOwnBack);
    };
    const isTakenBack = await inTime(takingBack()).then(
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
    return { end: 'not_begun', failure };
  }
}

/** Replaces the usual advice when the store may hold the attempt that was not sent. */
const NOT_TAKEN_BACK =
  'Nothing was sent. The store may hold the attempt anyway. It is taken back once the store answers. Until then a create of this reference may end in PaymentInDoubtError.';

/** Codes of an unreachable database, a missing user, database, schema, table or right, and a key that is too long. */
const NEVER_WRITTEN =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|28\w{3}|3D000|3F000|42\w{3}|ER_(?:\w*ACCESS_DENIED|BAD_DB|NO_SUCH_TABLE|DATA_TOO_LONG)\w*)$/;
const isNeverWritten = (error: unknown) => NEVER_WRITTEN.test(String((error as { code?: unknown } | undefined)?.code));

function notWritten(reference: string, error: unknown, advice: string): StoreError {
  const cause = causeOf(error);
  const why = cause ? ` (${cause.message})` : '';
  const message = `The creation of ${JSON.stringify(reference)} could not be written into the store${why}. ${advice}`;
  return new StoreError(message, { cause });
}

/** Returns a store's message and code, without the extras that drivers add to errors. */
function causeOf(error: unknown): Error | undefined {
  if (error instanceof LateError) return new Error('it did not answer in time');
  if (!(error instanceof Error)) return undefined;
  const { name, message, code } = error as Error & { code?: unknown };
  return Object.assign(new Error(message), { name }, typeof code === 'string' && { code });
}

/** The error of a caller that stopped waiting. */
export function stopped(reference: string, code: Left, outcome: Outcome, advice = adviceOn(outcome)): ConnectionError {
  const message = `The creation of ${JSON.stringify(reference)} was stopped (${code}). ${advice}`;
  return new ConnectionError(message, code, { outcome });
}
