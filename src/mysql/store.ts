// A store in the merchant's own MySQL or MariaDB.
import { databaseIn, type SqlDatabase } from '../sql/database.ts';
import { type SqlStoreOptions, sqlStore, sqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { mysqlDialect } from './dialect.ts';
import { fromPool, type MysqlPool, type TxOfPool } from './pool.ts';

/** A pool of `mysql2`, or a database from `fromDrizzle` and the other adapters. */
// biome-ignore lint/suspicious/noExplicitAny: any type of transaction
export type MysqlDatabase = MysqlPool | SqlDatabase<any>;

/** The transaction that effects get, and in which `payOut` writes. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : TxOfPool<Database>;

/** Options of `mysqlStore`, its second argument. */
export type MysqlStoreOptions = SqlStoreOptions;

/**
 * Makes a store that keeps all state of the SDK in one table of MySQL 8 or MariaDB 10.6, or later. The effects of all
 * stores of a pool use at most half of it.
 *
 * @param database your pool of `mysql2`, or `fromDrizzle(db)`, `fromKysely(db)`, `fromKnex(knex)`,
 * `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for any other value, and for a wrong option
 * @example
 * const store = mysqlStore(pool, { scope: 'eu-terminal' });
 * await store.migrate();
 * const gateway = new GatewayClient({ store });
 */
export function mysqlStore<Database extends MysqlDatabase>(
  database: Database,
  options: MysqlStoreOptions,
): Store<TxOf<Database>> {
  const given = sqlStoreOptions('mysqlStore', options);
  const own = databaseIn<TxOf<Database>>('mysql', database, typeof Object(database).getConnection === 'function');
  const db = own ?? (fromPool(database as MysqlPool) as unknown as SqlDatabase<TxOf<Database>>);
  return sqlStore(db, mysqlDialect(given.table), given);
}
