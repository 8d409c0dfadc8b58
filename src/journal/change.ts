// Changes a row of a journal by a transition, also when others change it at the same time or the store fails for a while.
import { backgroundDelay, Deadline, delay, type Left, within, withTimeout } from '../deadline.ts';
import { ConnectionError } from '../errors.ts';
import type { Journal, JournalKey, JournalRow, Timed } from './contract.ts';
import type { WaitLimits } from './in-flight.ts';
import type { RowChange } from './row.ts';

/** Milliseconds for one statement: a pool without a free connection may keep it waiting for ever. */
const LONGEST_STATEMENT = 5_000;

/** Milliseconds to try again for, while others change the row in between; each time, one of them has finished. */
const LONGEST_CONTEST = 5_000;
/** Milliseconds before another try, at random up to so many more each time. */
const PAUSE = 5;

/** Milliseconds to go on recording what has happened while the store fails, and between two tries: ever more. */
const LONGEST_RECORDING = 300_000;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 30_000;

/** A store's answer, or an error if it takes too long. */
export const bounded = <T>(statement: Promise<T>): Promise<T> =>
  withTimeout(statement, LONGEST_STATEMENT, `The journal did not answer within ${LONGEST_STATEMENT} ms.`);

/** Waits no longer than the caller wants to: what was begun goes on. @throws {ConnectionError} `timeout`, `aborted` */
export async function withinCall<T>(
  work: () => Promise<T>,
  { signal, timeout }: { signal?: AbortSignal | undefined; timeout: number },
): Promise<T> {
  const stopped = (code: Left) =>
    new ConnectionError(
      `The journal, or a lookup, did not answer in time (${code}). Work that has started continues: look at the reference before you try again.`,
      code,
    );
  if (signal?.aborted) throw stopped('aborted');
  return within(work(), { ms: timeout, signal }, left => {
    throw stopped(left);
  });
}

/** A row at a time of the store's own; absent if there is none. */
export type FoundRow = Timed<{ row?: JournalRow | undefined }>;

/** Where there is no row for certain, so that none is read. An insert says what time it is. */
export const NO_ROW: FoundRow = { now: 0 };

/** Decides on the row as it is, at the store's own time. */
export type Transition<S extends RowChange> = (row: JournalRow | undefined, now: number) => S;

/** How a row is changed. */
interface ChangeOptions {
  /** The row as it was a moment ago, which saves reading it. */
  known?: FoundRow | undefined;
  /** Waits for each statement as long as it takes: for a caller that must know when it has ended. */
  isUnbounded?: boolean;
}

/**
 * Applies a transition to the row as it is now, and again if somebody else changed it in between.
 *
 * @returns what the transition answered, and the row as it is then
 * @throws what the store throws; Error if the row keeps changing
 */
export async function change<S extends RowChange>(
  journal: Journal,
  key: JournalKey,
  transition: Transition<S>,
  { known, isUnbounded = false }: ChangeOptions = {},
): Promise<S & FoundRow> {
  const wait = isUnbounded ? <T>(statement: Promise<T>) => statement : bounded;
  const deadline = new Deadline(LONGEST_CONTEST);
  let found = known;
  // What was found after a long wait is looked at all the same.
  for (let tries = 0; tries < 3 || !deadline.isPast; tries++) {
    if (tries > 1) await delay(Math.random() * tries * PAUSE);
    found ??= await wait(journal.read(key));
    const { row, now } = found;
    const step = transition(row, now);
    const { next } = step;
    if (!next || next === row) return { ...step, row, now };
    if (row) {
      const { isReplaced } = await wait(journal.replace(next, row.revision));
      if (isReplaced) return { ...step, row: { ...next, revision: row.revision + 1 }, now };
      found = undefined;
    } else {
      found = await wait(journal.insert(next));
      if ((found as { isInserted?: boolean }).isInserted) return { ...step, ...found };
    }
  }
  throw new Error(`The journal's row of ${JSON.stringify(key.reference)} keeps changing: try again.`);
}

/**
 * As {@link change}, again and again for five minutes while the store fails. It does not keep the process from ending.
 *
 * @returns undefined if that was in vain
 */
export async function record<S extends RowChange>(
  journal: Journal,
  key: JournalKey,
  transition: Transition<S>,
  known?: FoundRow,
): Promise<(S & FoundRow) | undefined> {
  const deadline = new Deadline(LONGEST_RECORDING);
  // After a failure the row has to be read: the change may have been made all the same.
  let found = known;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(3 * pause, LONGEST_PAUSE)) {
    try {
      return await change(journal, key, transition, { known: found });
    } catch {
      found = undefined;
      if (deadline.remaining < pause) return undefined;
      await backgroundDelay(pause);
    }
  }
}

/** Milliseconds that a create which has its answer waits until that is recorded: a customer waits too. */
const LONGEST_WAIT = 5_000;

/** Waits for a recording, which goes on in the background after that. */
export const waitForRecording = <T>(
  recording: Promise<T | undefined>,
  { deadline, signal }: WaitLimits,
): Promise<T | undefined> =>
  within(recording, { ms: Math.min(deadline.remaining, LONGEST_WAIT), signal }, () => undefined).catch(() => undefined);
