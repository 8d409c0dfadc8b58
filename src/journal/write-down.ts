// Writes an attempt of a create into the journal before it is sent.
import { type Deadline, LateError, type Left, within } from '../deadline.ts';
import { adviceOn, ConnectionError, type GatewayError, JournalError, type Outcome } from '../errors.ts';
import { change, type FoundRow, NO_ROW, record } from './change.ts';
import type { JournalRow } from './contract.ts';
import type { JournaledCreate } from './journaled-create.ts';
import { warnNotRecorded } from './reports.ts';
import type { JournalAttempt } from './row.ts';
import { begin, takeBack } from './transitions.ts';

/** What it has taken over, if that was planned, and is to be planned again. */
export interface TakenPlan {
  plan?: JournalRow | undefined;
}

/** It could not be written down, so nothing was sent. */
export interface UnwrittenAttempt extends TakenPlan {
  end: 'not_begun';
  failure: GatewayError;
}

/** An attempt that is written down. */
interface WrittenAttempt extends FoundRow, TakenPlan {
  hasBegun: boolean;
}

/** Writes the attempt down, in one statement if the reference is new. */
export async function writeDown(
  create: JournaledCreate,
  attempt: JournalAttempt,
  deadline: Deadline,
  giveUp: AbortSignal,
): Promise<WrittenAttempt | UnwrittenAttempt> {
  const { journal } = create;
  const { reference } = attempt;
  let seen: JournalRow | undefined;
  let plan: JournalRow | undefined;
  const beginOwn = (row: JournalRow | undefined, now: number) => {
    seen = row;
    if (row?.state === 'planned') plan = row;
    // Withdrawn since it was read. Its own row is there where an earlier write was not answered.
    else if (row && row.attemptId !== attempt.attemptId) plan = undefined;
    return begin(row, attempt, now, create.plan);
  };
  const takeOwnBack = (row: JournalRow | undefined, now: number) => takeBack(row, attempt, now, plan);
  // As a rule a reference is new, so it is not read before.
  const known = create.plan ? undefined : NO_ROW;
  const writing = change(journal, attempt, beginOwn, { known, isUnbounded: true });
  const inTime = <T>(promise: Promise<T>): Promise<T> =>
    within(promise, { ms: deadline.remaining, signal: giveUp }, () => {
      // Whether it was stopped is asked of the signal below.
      throw new LateError();
    });
  try {
    return { ...(await inTime(writing)), plan };
  } catch (error) {
    // It may be written all the same, also later.
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
    const advice = (isTakenBack ? adviceOn('not_sent') : NOT_TAKEN_BACK) + (seen ? '' : MAY_BE_PLANNED);
    const isStopped = giveUp.aborted && !(giveUp.reason instanceof LateError);
    const failure = isStopped
      ? stopped(reference, 'aborted', 'not_sent', advice)
      : notWritten(reference, error, advice);
    return { end: 'not_begun', failure, plan };
  }
}

/** In place of that it is safe, where the journal may hold the attempt that was not sent. */
const NOT_TAKEN_BACK =
  'Nothing was sent. The attempt may be in the journal anyway, and is taken back once the journal answers: until then a create of this reference may end in PaymentInDoubtError.';
/** Where the row was not read. */
export const MAY_BE_PLANNED = ' If it was planned, it still is, and a drain sends it.';

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

/** The error of whoever stopped to wait. */
export function stopped(reference: string, code: Left, outcome: Outcome, advice = adviceOn(outcome)): ConnectionError {
  const message = `The creation of ${JSON.stringify(reference)} was stopped (${code}). ${advice}`;
  return new ConnectionError(message, code, { outcome });
}
