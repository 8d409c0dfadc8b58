// A transaction on a connection of a pool, which goes back to the pool, or is ended if it does not answer.
import { withTimeout } from '../deadline.ts';
import { LONGEST_WAIT } from '../sql/bounded.ts';
import type { SqlQuery } from '../sql/database.ts';

/** A connection that a pool has lent. */
export interface Borrowed<Answer> {
  /** What emits its errors. */
  events: Events;
  /** Sends a statement of our own. */
  query: SqlQuery;
  /** Sends one that begins or ends the transaction. */
  control(sql: string): Promise<Answer>;
  /** @param broken what is wrong with it, so that nobody uses it any more */
  release(broken: Error | undefined): void;
}

interface Events {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * @param begin the statements that begin it
 * @param check looks at what COMMIT answers
 */
export async function inTransaction<T, Answer>(
  { events, release, ...connection }: Borrowed<Answer>,
  begin: readonly string[],
  work: (query: SqlQuery) => Promise<T>,
  check: (answer: Answer) => void = () => {},
): Promise<T> {
  let broken: Error | undefined;
  // A connection that breaks between two statements emits an event, which without a listener ends the process.
  const onError = (error: Error) => {
    broken = error;
  };
  events.on('error', onError);
  /** Statements of our own that were not answered. */
  let running = 0;
  const query: SqlQuery = async (sql, values) => {
    running += 1;
    try {
      return await connection.query(sql, values);
    } finally {
      running -= 1;
    }
  };
  const control = (sql: string) =>
    withTimeout(connection.control(sql), LONGEST_WAIT, () => {
      broken = new Error(`The database did not answer ${sql} within ${LONGEST_WAIT} ms.`);
      throw broken;
    });
  try {
    for (const sql of begin) await control(sql);
    const value = await work(query);
    check(await control('COMMIT'));
    return value;
  } catch (error) {
    // A connection that does not answer is of no use to anybody.
    if (running > 0) broken ??= error as Error;
    if (!broken) await control('ROLLBACK').catch(onError);
    throw error;
  } finally {
    events.removeListener('error', onError);
    release(broken);
  }
}
