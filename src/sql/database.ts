// What stands between a store and the database library that the merchant has.
import { ConfigurationError } from '../errors.ts';
import { type ProblemOf, storeOptions } from '../options/store-options.ts';

/** A value for a placeholder. All of them are texts, because drivers disagree on everything else: the SQL casts them. */
export type SqlValue = string | null;

/** A line of an answer: each column of it was cast to text. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs one statement, whose placeholders are `$1`, `$2`, … in Postgres, and `?` in MySQL, in their order.
 *
 * @returns its rows as objects; an empty array, if it answers none. In MySQL a write answers one row `{ affected }`, the
 * number of rows that it has changed, as text
 * @throws the driver's error: of Postgres, the five characters of its SQLSTATE are the `code` of it, or of a `cause`; of
 * MySQL, the number of the error is its `errno`
 */
export type SqlQuery = (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/**
 * A database, as `postgresInbox`, `mysqlJournal` and the other stores use it. `fromDrizzle` and the other adapters make one of
 * your library. For another library, write these methods and prove them with `sqlDatabaseSuite` of payment-gateway-sdk/testing.
 *
 * @typeParam Tx the library's own handle of a transaction: `onPayment` gets it as `tx`
 */
export interface SqlDatabase<Tx> {
  readonly dialect: 'postgres' | 'mysql';
  /** Runs a statement outside any transaction, on the primary. */
  readonly query: SqlQuery;
  /**
   * Begins a transaction at READ COMMITTED that can write. Commits when the work resolves, rolls back when it rejects, and
   * settles afterwards as the work did.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs statements in a transaction of `transaction`, or in one that the merchant began. */
  queryIn(tx: Tx): SqlQuery;
  /**
   * Calls back for each NOTIFY on a channel, until the signal is aborted; resolves then. It may hold a connection for that.
   *
   * @throws the driver's error, as soon as no notice can arrive any more
   */
  listen?(channel: string, onNotice: () => void, signal: AbortSignal): Promise<void>;
  /**
   * The pool of connections. All inboxes over one pool use at most half of it, and so do the statements of all journals.
   *
   * @default a pool of 10 connections for this database alone
   */
  readonly pool?: SqlPool | undefined;
}

/** A pool of connections. */
export interface SqlPool {
  /** The pool itself, or another object that exists once for each pool. */
  readonly identity: object;
  /** The largest number of connections. */
  readonly max: number;
}

/** What drivers assume without a size. */
export const DEFAULT_SIZE = 10;

/** As the driver was given it: it takes a text, too, as of a variable of the environment. */
export function sizeOf(given: unknown): number {
  const size = typeof given === 'string' && given !== '' ? Number(given) : given;
  return typeof size === 'number' && !Number.isNaN(size) ? size : DEFAULT_SIZE;
}

/** For an option that is the size of a pool. */
export const poolSizeProblem: ProblemOf = value =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : 'must be an integer, 1 or more';

/** The option of adapters whose library does not document the size of its pool. */
export interface PoolOptions {
  /**
   * The number of connections in its pool. All inboxes use at most half of them, and so do the statements of all journals.
   * @default 10
   */
  poolSize?: number | undefined;
}

/** @throws {ConfigurationError} for a wrong option */
export const poolWith = (owner: string, identity: object, options: PoolOptions): SqlPool => ({
  identity,
  max: storeOptions(owner, options, { poolSize: poolSizeProblem }).poolSize ?? DEFAULT_SIZE,
});

/** @throws {ConfigurationError} unless the value has these methods */
export function expectMethods(owner: string, takes: string, given: unknown, ...names: string[]): void {
  const found = (given ?? {}) as Record<string, unknown>;
  if (names.some(name => typeof found[name] !== 'function')) throw new ConfigurationError(`${owner} takes ${takes}.`);
}

/** The pool of `pg` and of postgres.js. */
export const poolOf = (pool: { options?: { max?: unknown } }): SqlPool => ({
  identity: pool,
  max: sizeOf(pool.options?.max),
});

const ADAPTERS = 'fromDrizzle, fromKysely, fromKnex, fromPrisma, fromTypeOrm';

/**
 * The database that a store was given; nothing, if it may be a pool.
 *
 * @throws {ConfigurationError} for a database of another dialect
 */
export function databaseIn<Tx>(
  owner: string,
  dialect: SqlDatabase<Tx>['dialect'],
  given: unknown,
): SqlDatabase<Tx> | undefined {
  const { dialect: found, transaction, queryIn } = (given ?? {}) as Partial<SqlDatabase<Tx>>;
  if (typeof transaction !== 'function' || typeof queryIn !== 'function') return undefined;
  if (found === dialect) return given as SqlDatabase<Tx>;
  throw new ConfigurationError(
    `${owner} takes a database of the dialect ${dialect}, and this one is of ${found}. Import the adapter and the store from payment-gateway-sdk/${found}.`,
  );
}

/** For a value that is neither a database nor a pool. */
export const neither = (owner: string, pool: string): ConfigurationError =>
  new ConfigurationError(
    `${owner} takes ${pool}, a database from an adapter (${ADAPTERS}), or your own SqlDatabase. Pass the pool itself, not a client or a transaction.`,
  );

/** The rows with the column names of our statements: a merchant's option may write them in camel or Pascal case. */
export const withPlainNames = (rows: readonly SqlRow[]): readonly SqlRow[] =>
  rows.map(row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value])));

/** The rows of an answer of mysql2; of a write one, with the number of rows that it has changed. */
export const mysqlRows = (answer: unknown): readonly SqlRow[] =>
  Array.isArray(answer) ? answer : [{ affected: String((answer as { affectedRows?: unknown }).affectedRows) }];

/** @throws {ConfigurationError} for what a query of somebody's own must not answer */
export function rowsOf(answer: unknown): readonly SqlRow[] {
  if (Array.isArray(answer)) return answer;
  throw new ConfigurationError(
    'query() of the SqlDatabase must answer an array of rows: of pg, that is the `rows` of its answer.',
  );
}

/** Of a database of somebody's own that begins no transaction. */
export const outsideTransaction = () =>
  new ConfigurationError(
    'transaction() of the SqlDatabase ran its query outside a transaction: each statement would be committed by itself, and an effect that fails in the middle would stay. Begin one, and run query in it.',
  );

/** What a plan is told that has no transaction to be in. */
export const noTransaction = () =>
  new ConfigurationError(
    'Nothing was planned: tx is not an open transaction. Pass the transaction of your library, or the client on which you sent BEGIN.',
  );

/** Of a database of somebody's own whose rows are not as the statement names them. */
export const withoutColumns = () =>
  new ConfigurationError(
    'query() of the SqlDatabase must answer rows as objects, with the columns that the statement names: something has renamed or unwrapped them.',
  );

/** Somebody else decides whether what is written there is ever committed. */
export const leftOpen = () =>
  new ConfigurationError(
    'A connection of this pool is in a transaction that somebody began and did not end, so what the store writes there may be undone, and money could move twice: COMMIT or ROLLBACK before each release(), also after an error.',
  );

/** The SQLSTATE of Postgres, five digits and capitals; or the number that MySQL gives its errors. */
const CODE = /^(?:[\dA-Z]{5}|\d{4})$/;
/** Where libraries keep the error of the driver: most, TypeORM, Prisma. */
const NESTED = ['cause', 'driverError', 'meta', 'driverAdapterError'] as const;
const DEEPEST = 6;

/** What the database answered a statement that failed, wherever the merchant's library keeps it. */
export function sqlCodeOf(error: unknown): string | undefined {
  // Prisma has codes of five characters of its own, outside.
  for (const part of partsOf(error)) {
    const code = ownCodeOf(part);
    if (code) return code;
  }
  return undefined;
}

type Part = Readonly<Record<string, unknown>>;

const ownCodeOf = ({ originalCode, code, errno }: Part): string | undefined =>
  [originalCode, code, errno].map(String).find(code => CODE.test(code));

/** What is within an error, from the inside out, and then the error itself. */
function* partsOf(error: unknown, depth = 0): Generator<Part> {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return;
  const part = error as Part;
  for (const name of NESTED) yield* partsOf(part[name], depth + 1);
  yield part;
}

/** What a driver's error says, and nothing of what was written. */
const FACTS = ['code', 'originalCode', 'errno', 'sqlState', 'severity', 'schema', 'table', 'constraint'] as const;

/**
 * The database's own words, or those of the connection: libraries put the statement with its values beside them, and a plan
 * holds a customer's data.
 *
 * @returns the error itself, if it is neither a database's nor a library's
 */
export function withoutValues(error: unknown): unknown {
  const parts = [...partsOf(error)];
  const answer = parts.find(part => ownCodeOf(part));
  const driver = answer ?? parts.find(part => part instanceof Error);
  if (!driver) return error;
  const words = String(driver.sqlMessage ?? driver.originalMessage ?? driver.message);
  // Knex writes the statement before the words of a broken connection.
  const isPrefixed = !answer && typeof driver.code === 'string' && words.includes(' - ');
  if (!answer && driver === error && !isPrefixed) return error;
  const copy = new Error(isPrefixed ? words.slice(words.lastIndexOf(' - ') + 3) : words);
  return Object.assign(copy, Object.fromEntries(FACTS.flatMap(name => (name in driver ? [[name, driver[name]]] : []))));
}
