// A store in the merchant's own Postgres.
import { flagProblem } from '../options/store-options.ts';
import { type SqlStoreOptions, sqlStore, sqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { databaseOf, type PostgresDatabase, type TxOf } from './database.ts';
import { postgresStoreSql } from './store-sql.ts';

/** Options of `postgresStore`, its second argument. */
export interface PostgresStoreOptions extends SqlStoreOptions {
  /**
   * Whether each connection of your `pg` pool prepares a statement once. Under load, callbacks then take half to two
   * thirds of the time. A pooler in transaction mode must keep prepared statements, as PgBouncer does from 1.21 on.
   * @default false
   */
  prepare?: boolean | undefined;
}

/**
 * Makes a store that keeps all state of the SDK in one table. Effects that write only with `tx` happen exactly once.
 * The effects of all stores of a pool use at most half of it.
 *
 * @param database your pool of `pg`, or `fromDrizzle(db)`, `fromKysely(db)`, `fromKnex(knex)`, `fromPostgresJs(sql)`,
 * `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for any other value, a missing scope, or an invalid prefix
 * @example
 * const store = postgresStore(pool, { scope: 'eu-terminal' });
 * await store.migrate();
 * const gateway = new GatewayClient({ store });
 */
export function postgresStore<Database extends PostgresDatabase>(
  database: Database,
  options: PostgresStoreOptions,
): Store<TxOf<Database>> {
  const given = sqlStoreOptions('postgresStore', options, { prepare: flagProblem });
  return sqlStore(databaseOf('postgresStore', database, given.prepare), postgresStoreSql(given), given);
}
