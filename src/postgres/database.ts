// What the stores in Postgres take: a pool of `pg`, or a database of another library.
import type { SqlDatabase } from '../sql/database.ts';
import { misfit } from '../sql/misfit.ts';
import { type ClientOf, fromPool, type PgPool } from './pool.ts';

/** A pool of `pg` as it is; or a database, as of `fromDrizzle` and its like. */
// biome-ignore lint/suspicious/noExplicitAny: of whatever transactions
export type PostgresDatabase = PgPool | SqlDatabase<any>;

/** What `onPayment` gets as its `tx`. */
export type TxOf<Database> = Database extends SqlDatabase<infer Tx> ? Tx : ClientOf<Database>;

/** @throws {ConfigurationError} for what is neither: in a client's transaction, what we commit could be rolled back */
export function databaseOf<Database extends PostgresDatabase>(
  owner: string,
  given: Database,
): SqlDatabase<TxOf<Database>> {
  const { dialect, transaction, query, connect, release, escapeIdentifier } = (given ?? {}) as unknown as Shape;
  if (typeof dialect === 'string' && dialect !== 'postgres') {
    throw misfit(owner, `a database over PostgreSQL, and this one speaks ${dialect}`, undefined);
  }
  if (dialect && isFunction(transaction) && isFunction(query)) return given as SqlDatabase<TxOf<Database>>;
  // A client that belongs to no pool has a `connect` too.
  if (release || escapeIdentifier) {
    throw misfit(owner, 'a pool, such as new pg.Pool(): pass the pool, not one of its clients', undefined);
  }
  if (isFunction(connect) && isFunction(query)) return fromPool(given as PgPool) as SqlDatabase<TxOf<Database>>;
  throw misfit(
    owner,
    'a pool, such as new pg.Pool(), or what an adapter such as fromDrizzle() makes of your library',
    given,
  );
}

type Shape = Partial<Record<string, unknown>>;

const isFunction = (value: unknown): boolean => typeof value === 'function';
