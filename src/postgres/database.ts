// The databases that the stores in Postgres accept: a pool of `pg`, or a database of another library.
import { ConfigurationError } from '../errors.ts';
import { databaseIn, neither, type SqlDatabase } from '../sql/database.ts';
import type { PgPool, TxOfPool } from './pg.ts';
import { fromPool } from './pool.ts';

/** A pool of `pg`, or a database from `fromDrizzle` and the other adapters. */
// biome-ignore lint/suspicious/noExplicitAny: any type of transaction
export type PostgresDatabase = PgPool | SqlDatabase<any>;

/** The transaction that effects get, and in which `payOut` writes: over `pg` the `query` of a client. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : TxOfPool<Database>;

const OTHERS_PREPARE = 'with another library, use its own setting for prepared statements.';

/**
 * @throws {ConfigurationError} for any other value: on a client, the SDK's writes could be rolled back; for `prepare`
 * with another library
 */
export function databaseOf<Database extends PostgresDatabase>(
  owner: string,
  given: Database,
  prepare = false,
): SqlDatabase<TxOf<Database>> {
  const database = databaseIn<TxOf<Database>>(owner, 'postgres', given);
  if (database && prepare) throw new ConfigurationError(`${owner}: prepare needs a pool of pg: ${OTHERS_PREPARE}`);
  if (database) return database;
  // Clients also have `connect` and `query`.
  const { query, connect, release, escapeIdentifier } = (given ?? {}) as unknown as Partial<Record<string, unknown>>;
  if (typeof connect !== 'function' || typeof query !== 'function' || release || escapeIdentifier)
    throw neither(owner, 'a pool of pg');
  return fromPool(given as PgPool, prepare) as SqlDatabase<TxOf<Database>>;
}
