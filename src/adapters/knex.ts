// Knex as a database for the stores.
import { driverRows, type PoolOptions, poolWith, type SqlDatabase, type SqlQuery } from '../sql/database.ts';

/** A Knex over PostgreSQL, MySQL or MariaDB, by shape. */
export interface KnexDatabase<Tx> {
  // biome-ignore lint/suspicious/noExplicitAny: Knex types it by the merchant's tables
  transaction<T>(work: (tx: any) => Promise<T>, config?: { isolationLevel: 'read committed' }): Promise<T>;
  /** The SDK never calls it. Its type gives the type of `tx`. */
  transactionProvider(): () => Promise<Tx>;
  raw(sql: string, bindings: never): PromiseLike<unknown>;
}

/** Knex takes question marks. The SQL for Postgres has no others. */
const NUMBERED = /\$(\d+)/g;

export const knexOver =
  (dialect: 'postgres' | 'mysql') =>
  <Tx>(knex: KnexDatabase<Tx>, options?: PoolOptions): SqlDatabase<Tx> => {
    const queryOf =
      (handle: KnexDatabase<Tx>): SqlQuery =>
      async (sql, values = []) => {
        if (dialect === 'mysql') return driverRows(dialect, await handle.raw(sql, values as never));
        const bindings = [...sql.matchAll(NUMBERED)].map(([, number]) => values[Number(number) - 1]);
        return driverRows(dialect, await handle.raw(sql.replace(NUMBERED, '?'), bindings as never));
      };
    return {
      dialect,
      pool: poolWith('fromKnex', knex, options),
      query: queryOf(knex),
      transaction: work => knex.transaction(work, { isolationLevel: 'read committed' }),
      queryIn: tx => queryOf(tx as KnexDatabase<Tx>),
    };
  };
