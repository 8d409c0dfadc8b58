// What the stores in Postgres take: a pool of `pg`, or a database of another library.

import { isOfLibrary, misfit } from '../adapters/misfit.ts';
import type { SqlDatabase } from '../sql/database.ts';
import { type ClientOf, fromPool, type PgClient, type PgPool } from './pool.ts';

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
  const { dialect, transaction, query, connect, release, escapeIdentifier } = (given ?? {}) as unknown as Shape;
  const refused = (takes: string) => misfit(owner, takes, given);
  if (isFunction(transaction) && isFunction(query) && typeof dialect === 'string') {
    if (dialect === 'postgres') return given as SqlDatabase<TxOf<Database>>;
    throw refused(`a database over PostgreSQL, and this one speaks ${dialect}`);
  }
  // Several libraries have what a pool has.
  const anything =
    'a pool, such as new pg.Pool(), what an adapter such as fromDrizzle() makes of your library, or a SqlDatabase of your own';
  if (isOfLibrary(given)) throw refused(anything);
  // A client that belongs to no pool has a `connect` too.
  if (release || escapeIdentifier) {
    throw refused('a pool, such as new pg.Pool(): pass the pool, not one of its clients');
  }
  if (isFunction(connect) && isFunction(query)) return fromPool(given as PgPool) as SqlDatabase<TxOf<Database>>;
  throw refused(anything);
}

type Shape = Partial<Record<string, unknown>>;

const isFunction = (value: unknown): boolean => typeof value === 'function';
