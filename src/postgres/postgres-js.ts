// The library postgres.js as a database for the stores.
import { aborted } from '../deadline.ts';
import { driverRows, type SqlDatabase, type SqlQuery, sizeOf } from '../sql/database.ts';

/** The result of postgres() of postgres.js, by shape. */
export interface PostgresJs<Tx> {
  begin<T>(options: string, work: (tx: Tx) => Promise<T>): Promise<unknown>;
  unsafe(sql: string, values?: never, options?: { prepare?: boolean }): PromiseLike<unknown>;
  /** Listens on a separate connection, and opens it again when it is lost. */
  listen?(channel: string, onNotice: () => void): Promise<{ unlisten(): Promise<void> }>;
  readonly options: { max?: number; prepare?: boolean };
}

/** Makes a database from the result of `postgres()`. `tx` is the `sql` of the transaction. `tx.savepoint()` nests. */
export function fromPostgresJs<Tx>(sql: PostgresJs<Tx>): SqlDatabase<Tx> {
  // A pooler may refuse prepared statements.
  const { prepare = true } = sql.options;
  const queryOf =
    (handle: Pick<PostgresJs<Tx>, 'unsafe'>): SqlQuery =>
    async (text, values = []) =>
      driverRows('postgres', await handle.unsafe(text, values as never, { prepare }));

  return {
    dialect: 'postgres',
    pool: { identity: sql, max: sizeOf(sql.options.max) },
    query: queryOf(sql),
    queryIn: tx => queryOf(tx as PostgresJs<Tx>),
    transaction: async work => (await sql.begin('isolation level read committed read write', work)) as never,
    async listen(channel, onNotice, signal) {
      // postgres.js keeps a listener whose LISTEN failed, and retries it.
      const listening = sql.listen?.(channel, onNotice).catch(() => undefined);
      await aborted(signal);
      void listening?.then(begun => begun?.unlisten()).catch(() => {});
    },
  };
}
