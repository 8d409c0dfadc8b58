// A pool of `pg`, as a database for our stores.

import { noTransactionOf } from '../adapters/misfit.ts';
import { inTransaction } from '../adapters/own-transaction.ts';
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
      throw noTransactionOf('a client of the pool, as of await pool.connect(), after its BEGIN', tx);
    }
    return queryOf(tx);
  },
  transaction: work => transact(pool, work as Work<never>),
  listen: (channel, onNotice, signal) => listenOn(pool, channel, onNotice, signal),
  lend,
  checksCommit: true,
});

const queryOf =
  (client: Pick<PgPool, 'query'>): SqlQuery =>
  async (sql, values) =>
    (await client.query(sql, values as unknown[])).rows as SqlRow[];

type Work<T> = (client: PgClient, query: SqlQuery) => Promise<T>;

async function transact<T>(pool: PgPool, work: Work<T>): Promise<T> {
  const client = await pool.connect();
  const borrowed = {
    events: client,
    query: queryOf(client),
    control: (sql: string) => client.query(sql),
    release: (broken?: Error) => client.release(broken),
  };
  const begin = ['BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'];
  return inTransaction(
    borrowed,
    begin,
    query => work(client, query),
    ({ command }) => {
      // It answers so, without an error.
      if (command !== 'COMMIT') throw new Error(`COMMIT answered ${command}: the transaction was rolled back.`);
    },
  );
}
