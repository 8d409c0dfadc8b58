// Drizzle as a database for the stores.
import {
  mysqlRows,
  type PoolOptions,
  poolWith,
  type SqlDatabase,
  type SqlQuery,
  type SqlRow,
  withPlainNames,
} from '../sql/database.ts';

/** A database of Drizzle, by shape. */
export interface DrizzleDatabase<Tx> {
  transaction<T>(work: (tx: Tx) => Promise<T>, config?: DrizzleTransactionConfig): Promise<T>;
  execute(query: never): PromiseLike<unknown>;
}

/** The options of a transaction of Drizzle. */
export interface DrizzleTransactionConfig {
  isolationLevel: 'read committed';
  accessMode: 'read write';
}

export const drizzleOver =
  (dialect: SqlDatabase<unknown>['dialect']) =>
  <Tx>(db: DrizzleDatabase<Tx>, options: PoolOptions = {}): SqlDatabase<Tx> => {
    const rowsOf = dialect === 'mysql' ? ([answer]: unknown[]) => mysqlRows(answer) : postgresRows;
    const queryOf =
      (handle: DrizzleDatabase<Tx>): SqlQuery =>
      async (sql, params = []) =>
        rowsOf((await handle.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) } as never)) as never);
    return {
      dialect,
      pool: poolWith('fromDrizzle', (db as { $client?: object } | undefined)?.$client ?? db, options),
      query: queryOf(db),
      transaction: work => db.transaction(work, { isolationLevel: 'read committed', accessMode: 'read write' }),
      queryIn: tx => queryOf(tx as DrizzleDatabase<Tx>),
    };
  };

/** Reads the rows: `pg` answers `{ rows }`, postgres.js the rows themselves. */
const postgresRows = (answer: SqlRow[] | { rows: SqlRow[] }) =>
  withPlainNames(Array.isArray(answer) ? answer : answer.rows);
