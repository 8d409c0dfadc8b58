// Knex as a database for the stores.
import {
  mysqlRows,
  type PoolOptions,
  poolWith,
  type SqlDatabase,
  type SqlQuery,
  type SqlRow,
} from '../sql/database.ts';

/** A Knex over PostgreSQL, MySQL or MariaDB, by shape. */
export interface KnexDatabase<Tx> {
  // biome-ignore lint/suspicious/noExplicitAny: an interface of Knex that is typed by the merchant's tables
  transaction<T>(work: (tx: any) => Promise<T>, config?: { isolationLevel: 'read committed' }): Promise<T>;
  /** The SDK never calls it. Its type gives the type of `tx`. */
  transactionProvider(): () => Promise<Tx>;
  raw(sql: string, bindings: never): PromiseLike<unknown>;
}

export const knexOver =
  (dialect: SqlDatabase<unknown>['dialect']) =>
  <Tx>(knex: KnexDatabase<Tx>, options: PoolOptions = {}): SqlDatabase<Tx> => {
    const queryOf = dialect === 'mysql' ? mysqlQueryOf : postgresQueryOf;
    return {
      dialect,
      pool: poolWith('fromKnex', knex, options),
      query: queryOf(knex),
      transaction: work => knex.transaction(work, { isolationLevel: 'read committed' }),
      queryIn: tx => queryOf(tx as KnexDatabase<Tx>),
    };
  };

/** Knex's placeholders are question marks. The stores' SQL for Postgres has no others. */
function postgresQueryOf(handle: KnexDatabase<unknown>): SqlQuery {
  return async (sql, values = []) => {
    const bindings: unknown[] = [];
    const text = sql.replace(/\$(\d+)/g, (_, number) => {
      bindings.push(values[Number(number) - 1]);
      return '?';
    });
    const answer = await handle.raw(text, bindings as never);
    // A merchant's postProcessResponse may have extracted the rows.
    return (Array.isArray(answer) ? answer : (answer as { rows?: unknown }).rows) as SqlRow[];
  };
}

const mysqlQueryOf =
  (handle: KnexDatabase<unknown>): SqlQuery =>
  async (sql, values = []) => {
    const [answer] = (await handle.raw(sql, values as never)) as unknown[];
    return mysqlRows(answer);
  };
