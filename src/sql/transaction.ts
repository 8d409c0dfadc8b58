// A transaction on a connection of a pool.
import { withTimeout } from '../deadline.ts';
import { LONGEST_WAIT } from './bounded.ts';
import { markCommitted } from './committed.ts';

// biome-ignore lint/suspicious/noExplicitAny: overloads that differ between versions
type Send = (...args: any[]) => any;

/** @param work gets a handle that has only `query`, until the end of the transaction */
export async function transact<Query extends Send, T>(
  { client, release }: { client: { query: Query }; release(isBroken: boolean): void },
  begin: readonly string[],
  work: (tx: { query: Query }) => Promise<T>,
) {
  let isEnded = false;
  const query = (...args: unknown[]) => (isEnded ? refused() : client.query(...args));
  const control = (sql: string): Promise<{ command?: unknown } | undefined> =>
    withTimeout(client.query(sql), LONGEST_WAIT, `The database did not answer ${sql} within ${LONGEST_WAIT} ms.`);

  let isBroken = true;
  const end = async (sql: string) => {
    isEnded = true;
    const answer = await control(sql);
    isBroken = false;
    return answer;
  };
  try {
    for (const sql of begin) await control(sql);
    const value = await work({ query: query as Query }).catch(async error => {
      // ROLLBACK waits for a hanging statement. Closing the connection ends both.
      await end('ROLLBACK').catch(() => {});
      throw error;
    });
    const answer = await end('COMMIT');
    // Only pg names the command. After a failed statement it is ROLLBACK, without an error.
    if (answer?.command === 'COMMIT') markCommitted(Object(value));
    return value;
  } finally {
    release(isBroken);
  }
}

/** Handled, so that a query without `await` does not end the process. */
function refused() {
  const refusal = Promise.reject(new Error(ENDED));
  refusal.catch(() => {});
  return refusal;
}

const ENDED =
  'The transaction of tx has ended, so the query was not sent. Await every query before your function returns.';
