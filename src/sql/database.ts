// The interface between a store and the merchant's database library.
import { ConfigurationError } from '../errors.ts';
import { type ProblemOf, storeOptions } from '../store/options.ts';
import { unreadable } from './errors.ts';

/** A value for a placeholder: text that the SQL casts, because drivers disagree on every other type. */
export type SqlValue = string | null;

/** A row of an answer, with each column cast to text. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs one statement. Its placeholders are `$1`, `$2`, … in Postgres, and `?` in their order in MySQL.
 *
 * @returns the rows as objects, or an empty array
 * @throws the driver's error. It or a `cause` has the five-character SQLSTATE of Postgres as `code`, or the number of
 * MySQL as `errno`
 */
export type SqlQuery = (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/**
 * A database for `postgresStore` and `mysqlStore`. Adapters such as `fromDrizzle` make one from your library. For
 * another, write these methods and prove them with `sqlDatabaseSuite` of payment-gateway-sdk/testing.
 *
 * @typeParam Tx the library's transaction handle, which effects get as `tx`
 */
export interface SqlDatabase<Tx> {
  readonly dialect: 'postgres' | 'mysql';
  /** Runs a statement outside any transaction, on the primary database. */
  readonly query: SqlQuery;
  /**
   * Runs the work in a read-write transaction at READ COMMITTED. Commits when the work resolves, and rolls back when it
   * rejects. Then returns the work's result or throws its error.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Returns a query for a transaction of `transaction`, or for one that the merchant began. */
  queryIn(tx: Tx): SqlQuery;
  /**
   * Calls back for each NOTIFY on a channel, and resolves when the signal is aborted. It may use one connection.
   *
   * @throws the driver's error, as soon as no more notices can arrive
   */
  listen?(channel: string, onNotice: () => void, signal: AbortSignal): Promise<void>;
  /**
   * The pool of connections. Half of it is the limit for the effects of all its stores, and for their statements.
   *
   * @default a pool of 10 connections for this database alone
   */
  readonly pool?: SqlPool | undefined;
}

/** A pool of connections. */
export interface SqlPool {
  /** The pool, or another object that exists once per pool. */
  readonly identity: object;
  /** The largest number of connections. */
  readonly max: number;
}

/** Reads the size that a driver was given, also as text. */
export const sizeOf = (given?: unknown) => Number(given) || 10;

const poolSizeProblem: ProblemOf = value =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : 'must be an integer, 1 or more';

/** The option of adapters whose library does not document the size of its pool. */
export interface PoolOptions {
  /**
   * Number of connections in its pool. Effects use at most half of them, and so do the SDK's statements.
   * @default 10
   */
  poolSize?: number | undefined;
}

/** @throws {ConfigurationError} for a wrong option or no database */
export function poolWith(owner: string, identity: object | undefined, options: PoolOptions = {}): SqlPool {
  // Modules that import each other may pass it too early.
  if (!identity) throw new ConfigurationError(`${owner}: the database is ${identity}. Create it before this call.`);
  return { identity, max: sizeOf(storeOptions(owner, options, { poolSize: poolSizeProblem }).poolSize) };
}

/**
 * Returns a database of the dialect, or undefined for a pool.
 *
 * @throws {ConfigurationError} for any other value, such as a client, on which the SDK's writes could be rolled back
 */
export function databaseIn<Tx>(dialect: 'postgres' | 'mysql', given: unknown, isPool: boolean) {
  const { dialect: found, transaction, queryIn } = Object(given);
  const isDatabase = typeof transaction === 'function' && typeof queryIn === 'function';
  if (isDatabase && found === dialect) return given as SqlDatabase<Tx>;
  if (!isDatabase && isPool) return undefined;
  throw new ConfigurationError(
    isDatabase
      ? `${dialect}Store takes a database of the dialect ${dialect}, and this one is of ${found}. Import the adapter and the store from payment-gateway-sdk/${found}.`
      : `${dialect}Store takes a pool of ${dialect === 'mysql' ? 'mysql2' : 'pg'}, a database from an adapter (fromDrizzle, fromKysely, fromKnex, fromPrisma, fromTypeOrm), or your own SqlDatabase. Pass the pool itself, not a client or a transaction.`,
  );
}

/** A write of mysql2 has no rows. */
export function driverRows(dialect: 'postgres' | 'mysql', answer: unknown): readonly SqlRow[] {
  if (dialect === 'mysql') {
    const [rows] = answer as unknown[];
    return Array.isArray(rows) ? rows : [];
  }
  // postgres.js returns only the rows, and Knex with a merchant's `postProcessResponse` may do so.
  const rows = rowsOf(Array.isArray(answer) ? answer : (answer as { rows?: unknown }).rows);
  // A merchant's option may write columns in camel or Pascal case.
  return rows.map(row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value])));
}

export function rowsOf(answer: unknown): readonly SqlRow[] {
  if (!Array.isArray(answer)) throw unreadable();
  return answer;
}
