// A store in the merchant's own MySQL or MariaDB.
import { type SqlStoreOptions, sqlStore, sqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { databaseOf, type MysqlDatabase, type TxOf } from './database.ts';
import { mysqlStoreSql } from './store-sql.ts';

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
  return sqlStore(databaseOf('mysqlStore', database), mysqlStoreSql(given), given);
}
