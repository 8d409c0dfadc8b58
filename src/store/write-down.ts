// Writes an attempt of a create into the store before the SDK sends it.
import { LateError, type Left, within } from '../deadline.ts';
import { adviceOn, ConfigurationError, ConnectionError, type Outcome, StoreError } from '../errors.ts';
import { change, type FoundRow, NO_ROW, record } from './change.ts';
import type { Attempt, CreateRow } from './creates.ts';
import type { WaitLimits } from './in-flight.ts';
import { type StoreCall, warnNotRecorded } from './reports.ts';
import { begin, takeBack } from './transitions.ts';

/**
 * Writes the attempt down, in one statement if the reference is new.
 *
 * @throws {StoreError} or {@link ConnectionError} if it could not be written, so that it must not be sent
 * @throws {ConfigurationError} the store's scope belongs to another gateway
 */
export async function writeDown(
  client: StoreCall & { plan?: CreateRow | undefined },
  attempt: Attempt,
  { deadline, signal }: WaitLimits,
): Promise<FoundRow & { hasBegun: boolean }> {
  const { store, plan } = client;
  const { reference } = attempt;
  const takeOwnBack = (row: CreateRow | undefined, now: number) => takeBack(row, attempt, now, plan);
  // A reference is usually new, so it is not read first.
  const options = { known: plan ? undefined : NO_ROW, isUnbounded: true };
  const writing = change(store, attempt, (row, now) => begin(row, attempt, now, plan), options);
  const inTime = <T>(promise: Promise<T>): Promise<T> =>
    within(promise, { ms: deadline.remaining, signal }, () => {
      // The signal below shows whether the caller stopped it.
      throw new LateError();
    });
  try {
    return await inTime(writing);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const takingBack = async () => {
      // The row may be written anyway, even later.
      if (signal?.aborted || error instanceof LateError) throw error;
      if (!isNeverWritten(error)) await change(store, attempt, takeOwnBack);
      return adviceOn('not_sent');
    };
    const advice = await inTime(takingBack()).catch(() => {
      const goOn = async () => (await record(store, attempt, takeOwnBack)) ?? warnNotRecorded(client, reference);
      writing.then(goOn, goOn);
      return NOT_TAKEN_BACK;
    });
    const isStopped = signal?.aborted && !(signal.reason instanceof LateError);
    throw isStopped ? stopped(reference, 'aborted', 'not_sent', advice) : notWritten(reference, error, advice);
  }
}

/** Replaces the usual advice when the store may hold the attempt that was not sent. */
const NOT_TAKEN_BACK =
  'Nothing was sent. The store may contain the attempt anyway. The SDK removes it once the store answers. Until then, a create of this reference may throw PaymentInDoubtError.';

/** Codes of an unreachable database, a missing user, database, schema, table or right, and a key that is too long. */
const NEVER_WRITTEN =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|28\w{3}|3D000|3F000|42\w{3}|ER_(?:\w*ACCESS_DENIED|BAD_DB|NO_SUCH_TABLE|DATA_TOO_LONG)\w*)$/;
const isNeverWritten = (error: unknown) => NEVER_WRITTEN.test(String((error as { code?: unknown } | undefined)?.code));

function notWritten(reference: string, error: unknown, advice: string): StoreError {
  const cause = causeOf(error);
  const why = cause ? ` (${cause.message})` : '';
  const message = `The creation of ${JSON.stringify(reference)} could not be written to the store${why}. ${advice}`;
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
