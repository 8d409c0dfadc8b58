// Changes a row of a journal by a transition, also when others change it at the same time or the store fails for a while.
import { delay, withTimeout } from '../deadline.ts';
import type { Journal, JournalKey, JournalRow, Timed } from './contract.ts';
import type { Step } from './transitions.ts';

/** Milliseconds for one statement: a pool without a free connection may keep it waiting for ever. */
const LONGEST_STATEMENT = 5_000;

/** How often others may change the row in between: each time, one of them has finished. */
const MOST_TRIES = 10;

/** Milliseconds between the attempts to record something. */
const RECORDING_PAUSES = [100, 1_000];

/** A store's answer, or an error if it takes too long. */
export const inTime = <T>(statement: Promise<T>): Promise<T> =>
  withTimeout(statement, LONGEST_STATEMENT, `The journal did not answer within ${LONGEST_STATEMENT} ms.`);

/** What a store had when it was asked. */
export type Found = Timed<{ row?: JournalRow | undefined }>;

/** Decides on the row as it is, at the store's own time. */
export type Transition<S extends Step> = (row: JournalRow | undefined, now: number) => S;

/**
 * Applies a transition to the row as it is now, and again if somebody else changed it in between.
 *
 * @param known the row as it was a moment ago, which saves reading it
 * @throws what the store throws; Error if the row keeps changing
 */
export async function change<S extends Step>(
  journal: Journal,
  key: JournalKey,
  transition: Transition<S>,
  known?: Found,
): Promise<S> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { row, now } = tries === 0 && known ? known : await inTime(journal.read(key));
    const step = transition(row, now);
    if (!step.next || step.next === row) return step;
    const isWritten = row
      ? (await inTime(journal.replace(step.next, row.revision))).isReplaced
      : (await inTime(journal.insert(step.next))).isInserted;
    if (isWritten) return step;
  }
  throw new Error(`The journal's row of ${JSON.stringify(key.reference)} keeps changing: try again.`);
}

/** As {@link change}, again and again for some seconds while the store fails. Undefined if that was in vain. */
export async function record<S extends Step>(
  journal: Journal,
  key: JournalKey,
  transition: Transition<S>,
  known?: Found,
): Promise<S | undefined> {
  // After a failure the row has to be read: the change may have been made all the same.
  let found = known;
  for (const pause of [...RECORDING_PAUSES, undefined]) {
    try {
      return await change(journal, key, transition, found);
    } catch {
      found = undefined;
      if (pause !== undefined) await delay(pause);
    }
  }
  return undefined;
}
