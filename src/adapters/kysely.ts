// Kysely as a database for the stores.
import { randomUUID } from 'node:crypto';
import { type PoolOptions, poolWith, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';

/** A Kysely over PostgreSQL, MySQL or MariaDB, by shape. */
export interface KyselyDatabase<Tx> {
  transaction(): KyselyTransactionBuilder<Tx>;
  executeQuery(query: never): Promise<{ rows: unknown[] }>;
  withoutPlugins(): Pick<KyselyDatabase<Tx>, 'executeQuery'>;
}

/** A transaction of Kysely that has not begun. */
export interface KyselyTransactionBuilder<Tx> {
  setIsolationLevel(level: 'read committed'): KyselyTransactionBuilder<Tx>;
  setAccessMode(mode: 'read write'): KyselyTransactionBuilder<Tx>;
  execute<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export const kyselyOver =
  (dialect: 'postgres' | 'mysql') =>
  <Tx>(db: KyselyDatabase<Tx>, options?: PoolOptions): SqlDatabase<Tx> => {
    /** As Kysely's `CompiledQuery.raw`, without plugins that read JSON or rename columns. */
    const queryOf =
      (handle: KyselyDatabase<Tx>): SqlQuery =>
      async (sql, parameters = []) => {
        const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
        const compiled = { sql, parameters, query, queryId: { queryId: randomUUID() } };
        return (await handle.withoutPlugins().executeQuery(compiled as never)).rows as SqlRow[];
      };
    return {
      dialect,
      pool: poolWith('fromKysely', db, options),
      query: queryOf(db),
      transaction: work =>
        db.transaction().setIsolationLevel('read committed').setAccessMode('read write').execute(work),
      queryIn: tx => queryOf(tx as KyselyDatabase<Tx>),
    };
  };
