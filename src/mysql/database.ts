// The databases that the stores in MySQL accept: a pool of `mysql2`, or a database of another library.
import { databaseIn, neither, type SqlDatabase } from '../sql/database.ts';
import { fromPool, type MysqlPool, type TxOfPool } from './pool.ts';

/** A pool of `mysql2`, or a database from `fromDrizzle` and the other adapters. */
// biome-ignore lint/suspicious/noExplicitAny: any type of transaction
export type MysqlDatabase = MysqlPool | SqlDatabase<any>;

/** The transaction that the handler's functions get, and that `payOut` takes. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : TxOfPool<Database>;

/** @throws {ConfigurationError} for any other value: on a connection, the SDK's writes could be rolled back */
export function databaseOf<Database extends MysqlDatabase>(
  owner: string,
  given: Database,
): SqlDatabase<TxOf<Database>> {
  const database = databaseIn<TxOf<Database>>(owner, 'mysql', given);
  if (database) return database;
  const { getConnection, beginTransaction } = (given ?? {}) as unknown as Partial<Record<string, unknown>>;
  if (typeof getConnection !== 'function' || beginTransaction) throw neither(owner, 'a pool of mysql2');
  return fromPool(given as MysqlPool) as unknown as SqlDatabase<TxOf<Database>>;
}
