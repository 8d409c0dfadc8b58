// A pool of `pg`, as a database for our stores.

import { noTransactionOf } from '../adapters/misfit.ts';
import { withTimeout } from '../deadline.ts';
import { LONGEST_WAIT } from '../sql/bounded.ts';
import { poolOf, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { lend } from './lent-client.ts';
import { listenOn } from './listen.ts';

/** A client of a pool, as of `pg`. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; command: string; rowCount?: number | null }>;
  release(destroy?: boolean | Error): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A pool, as of `pg`. */
export interface PgPool {
  connect(): Promise<PgClient>;
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** `max` is the size of the pool; without it 10 is assumed, as in `pg`. */
  options?: { max?: number | undefined };
}

/** The clients of a pool, also where `connect` has an overload that takes a callback. */
export type ClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client extends PgClient>; (...args: never[]): unknown };
}
  ? Client
  : PgClient;

/** The pool as a database, whose transactions lend their client to `onPayment`. */
export const fromPool = <Client extends PgClient>(pool: PgPool): SqlDatabase<Client> => ({
  dialect: 'postgres',
  pool: poolOf(pool),
  query: queryOf(pool),
  queryIn(tx) {
    const { query, totalCount } = (tx ?? {}) as Partial<Record<'query' | 'totalCount', unknown>>;
    // Of a pool each statement would be a transaction of its own.
    if (typeof query !== 'function' || totalCount !== undefined) {
      throw noTransactionOf('', 'a client of the pool, as of await pool.connect(), after its BEGIN', tx);
    }
    return queryOf(tx);
  },
  transaction: work => inTransaction(pool, work as Work<PgClient, never>),
  listen: (channel, onNotice, signal) => listenOn(pool, channel, onNotice, signal),
  lend,
  checksCommit: true,
});

const queryOf =
  (client: Pick<PgPool, 'query'>): SqlQuery =>
  async (sql, values) =>
    (await client.query(sql, values as unknown[])).rows as SqlRow[];

type Work<Client, T> = (client: Client, query: SqlQuery) => Promise<T>;

async function inTransaction<T>(pool: PgPool, work: Work<PgClient, T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that breaks between two queries emits an event, which without a listener ends the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  /** Statements of our own that were not answered. */
  let running = 0;
  const query: SqlQuery = async (sql, values) => {
    running += 1;
    try {
      return await queryOf(client)(sql, values);
    } finally {
      running -= 1;
    }
  };
  const control = (sql: string) =>
    withTimeout(client.query(sql), LONGEST_WAIT, () => {
      broken = new Error(`The database did not answer ${sql} within ${LONGEST_WAIT} ms.`);
      throw broken;
    });
  try {
    await control('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
    const value = await work(client, query);
    const { command } = await control('COMMIT');
    // It answers so, without an error.
    if (command !== 'COMMIT') throw new Error(`COMMIT answered ${command}: the transaction was rolled back.`);
    return value;
  } catch (error) {
    // A connection that does not answer is of no use to anybody.
    if (running > 0) broken ??= error as Error;
    if (!broken) await control('ROLLBACK').catch(onError);
    throw error;
  } finally {
    client.removeListener('error', onError);
    client.release(broken);
  }
}
