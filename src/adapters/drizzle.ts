// Drizzle as a database for the stores.
import { driverRows, type PoolOptions, poolWith, type SqlDatabase, type SqlQuery } from '../sql/database.ts';

/** A database of Drizzle, by shape. */
export interface DrizzleDatabase<Tx> {
  transaction<T>(
    work: (tx: Tx) => Promise<T>,
    config?: { isolationLevel: 'read committed'; accessMode: 'read write' },
  ): Promise<T>;
  execute(query: never): PromiseLike<unknown>;
}

export const drizzleOver =
  (dialect: 'postgres' | 'mysql') =>
  <Tx>(db: DrizzleDatabase<Tx>, options?: PoolOptions): SqlDatabase<Tx> => {
    const queryOf =
      (handle: DrizzleDatabase<Tx>): SqlQuery =>
      async (sql, params = []) => {
        const query = { getSQL: () => ({ toQuery: () => ({ sql, params }) }) };
        return driverRows(dialect, await handle.execute(query as never));
      };
    return {
      dialect,
      pool: poolWith('fromDrizzle', (db as { $client?: object } | undefined)?.$client ?? db, options),
      query: queryOf(db),
      transaction: work => db.transaction(work, { isolationLevel: 'read committed', accessMode: 'read write' }),
      queryIn: tx => queryOf(tx as DrizzleDatabase<Tx>),
    };
  };
