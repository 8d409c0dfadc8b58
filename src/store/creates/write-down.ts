// Writes an attempt of a create into the store before the SDK sends it.
import { LateError, type Left } from '../../deadline.ts';
import { adviceOn, ConfigurationError, ConnectionError, type Outcome, StoreError } from '../../errors.ts';
import type { CreateRow, ReadRow } from '../rules/create-row.ts';
import { begin, takeBack } from '../rules/transitions.ts';
import { answerWithin, type Changed, change, record, waitForRecording } from './change.ts';
import type { Replayable } from './replay.ts';

/** In one statement if the reference is new. Without `next` the attempt has not begun. */
export async function writeDown(
  create: Replayable & { plan?: CreateRow | undefined },
): Promise<Changed & { row: ReadRow }> {
  const { store, attempt, plan, signal } = create;
  const { reference } = attempt;
  // A reference is usually new, so it is not read first.
  const writing = change(store, attempt, row => begin(row, attempt, plan), plan ? undefined : null);
  try {
    return (await answerWithin(create, writing)) as Changed & { row: ReadRow };
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    // The row may be written anyway, even later.
    const takeItBack = () => record(create, row => takeBack(row, attempt, plan));
    const isUnwritten = isNeverWritten(error) || (await waitForRecording(writing.then(takeItBack, takeItBack), create));
    const advice = isUnwritten ? adviceOn('not_sent') : NOT_TAKEN_BACK;
    const isStopped = signal?.aborted && !(signal.reason instanceof LateError);
    throw isStopped ? stopped(reference, 'aborted', 'not_sent', advice) : notWritten(reference, error, advice);
  }
}

const NOT_TAKEN_BACK =
  'Nothing was sent. The store may contain the attempt anyway. The SDK removes it once the store answers. Until then, a create of this reference may throw PaymentInDoubtError.';

/** Codes of an unreachable database, a missing user, database, schema, table or right, and a key that is too long. */
const NEVER_WRITTEN =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|28\w{3}|3D000|3F000|42\w{3}|ER_(?:\w*ACCESS_DENIED|BAD_DB|NO_SUCH_TABLE|DATA_TOO_LONG)\w*)$/;
const isNeverWritten = (error: unknown) => NEVER_WRITTEN.test(String((error as { code?: unknown } | undefined)?.code));

/** The cause lacks the extras that drivers add to errors. */
export function notWritten(reference: string, error: unknown, advice: string): StoreError {
  const { name, message, code }: Error & { code?: unknown } = error instanceof Error ? error : new Error(String(error));
  const cause = Object.assign(new Error(message), { name }, typeof code === 'string' && { code });
  const text = `The creation of ${JSON.stringify(reference)} could not be written to the store (${message}). ${advice}`;
  return new StoreError(text, { cause });
}

export function stopped(reference: string, code: Left, outcome: Outcome, advice = adviceOn(outcome)): ConnectionError {
  const message = `The creation of ${JSON.stringify(reference)} was stopped (${code}). ${advice}`;
  return new ConnectionError(message, code, { outcome });
}
