// What the stores in MySQL take: a pool of `mysql2`, or a database of another library.
import { anything, databaseIn, misfit } from '../adapters/misfit.ts';
import type { SqlDatabase } from '../sql/database.ts';
import { type ConnectionOf, fromPool, type MysqlConnection, type MysqlPool } from './pool.ts';

/** A pool of `mysql2` as it is; or a database, as of `fromDrizzle` and its like. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever transactions
export type MysqlDatabase = MysqlPool | SqlDatabase<any>;

/** What `onPayment` gets as its `tx`. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : ConnectionOf<Database>;

/** What a merchant's own transaction runs on: over `mysql2` any connection of it. */
export type OwnTxOf<Database> =
  Database extends SqlDatabase<infer Tx> ? Tx : Pick<MysqlConnection, 'query' | 'execute'>;

/** @throws {ConfigurationError} for what is neither: in a connection's transaction, what we commit could be rolled back */
export function databaseOf<Database extends MysqlDatabase>(
  owner: string,
  given: Database,
): SqlDatabase<TxOf<Database>> {
  const database = databaseIn<TxOf<Database>>(owner, 'mysql', given, POOL);
  if (database) return database;
  const { getConnection, beginTransaction } = (given ?? {}) as unknown as Partial<Record<string, unknown>>;
  if (beginTransaction) throw misfit(owner, `a pool, such as ${POOL}: pass the pool, not one of its connections`);
  if (typeof getConnection === 'function') {
    if (isOfOther(given)) throw misfit(owner, `a pool of mysql2, such as ${POOL}, and this one is of another driver`);
    return fromPool(given as MysqlPool) as unknown as SqlDatabase<TxOf<Database>>;
  }
  throw misfit(owner, anything(POOL));
}

/** Whether it is a pool of the package `mariadb`, or of the old `mysql`, which answer in another way. */
const isOfOther = (pool: object): boolean =>
  'activeConnections' in pool || ('_freeConnections' in pool && !('promise' in pool));

const POOL = 'mysql.createPool()';
