// What the stores in Postgres take: a pool of `pg`, or a database of another library.

import { anything, databaseIn, misfit } from '../adapters/misfit.ts';
import type { SqlDatabase } from '../sql/database.ts';
import type { ClientOf, PgClient, PgPool } from './pg.ts';
import { fromPool } from './pool.ts';

/** A pool of `pg` as it is; or a database, as of `fromDrizzle` and its like. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever transactions
export type PostgresDatabase = PgPool | SqlDatabase<any>;

/** What `onPayment` gets as its `tx`. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : ClientOf<Database>;

/** What a merchant's own transaction runs on: over `pg` any client of it. */
export type OwnTxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : Pick<PgClient, 'query'>;

/** @throws {ConfigurationError} for what is neither: in a client's transaction, what we commit could be rolled back */
export function databaseOf<Database extends PostgresDatabase>(
  owner: string,
  given: Database,
): SqlDatabase<TxOf<Database>> {
  const database = databaseIn<TxOf<Database>>(owner, 'postgres', given, POOL);
  if (database) return database;
  const { query, connect, release, escapeIdentifier } = (given ?? {}) as unknown as Partial<Record<string, unknown>>;
  // A client that belongs to no pool has a `connect` too.
  if (release || escapeIdentifier)
    throw misfit(owner, `a pool, such as ${POOL}: pass the pool, not one of its clients`);
  if (typeof connect === 'function' && typeof query === 'function') {
    return fromPool(given as PgPool) as SqlDatabase<TxOf<Database>>;
  }
  throw misfit(owner, anything(POOL));
}

const POOL = 'new pg.Pool()';
