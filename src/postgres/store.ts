// A store in the merchant's own Postgres.
import { ConfigurationError } from '../errors.ts';
import { databaseIn, type SqlDatabase } from '../sql/database.ts';
import { type SqlStoreOptions, sqlStore, sqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { flagProblem } from '../store/options.ts';
import { postgresDialect } from './dialect.ts';
import type { PgPool, TxOfPool } from './pg.ts';
import { fromPool, isPool } from './pool.ts';

/** A pool of `pg`, or a database from `fromDrizzle` and the other adapters. */
// biome-ignore lint/suspicious/noExplicitAny: any type of transaction
export type PostgresDatabase = PgPool | SqlDatabase<any>;

/** The transaction that effects get, and in which `payOut` writes: over `pg` the `query` of a client. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : TxOfPool<Database>;

/** Options of `postgresStore`, its second argument. */
export interface PostgresStoreOptions extends SqlStoreOptions {
  /**
   * Whether each connection of your `pg` pool prepares a statement once. Its clients then get `{ name, text }`. If a
   * pooler loses a prepared statement, the store turns this off and repeats the statement.
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
  const own = databaseIn<TxOf<Database>>('postgres', database, isPool(database));
  if (own && given.prepare) throw new ConfigurationError(OTHERS_PREPARE);
  const db = own ?? (fromPool(database as PgPool, given.prepare) as SqlDatabase<TxOf<Database>>);
  return sqlStore(db, postgresDialect(given.table), given);
}

const OTHERS_PREPARE =
  'postgresStore: prepare needs a pool of pg: with another library, use its own setting for prepared statements.';
