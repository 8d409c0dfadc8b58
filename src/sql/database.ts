// What stands between a store and the database library that the merchant has.
import { ConfigurationError } from '../errors.ts';
import type { ProblemOf } from '../options/store-options.ts';

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
 * A database, as `postgresInbox`, `mysqlJournal` and their like use it. Those of the libraries that most people have are made by
 * `fromDrizzle` and its like; for another one, write these few methods, and let `sqlDatabaseSuite` of
 * payment-gateway-sdk/testing prove them.
 *
 * @typeParam Tx what `onPayment` gets as its `tx`: the library's own handle of a transaction
 */
export interface SqlDatabase<Tx> {
  /**
   * In MySQL a deadlock undoes the transaction, and what comes next is committed at once. Over a database of your own nobody
   * has seen whether onPayment went on after that, so an effect that meets a deadlock is reported as `effect_uncertain`.
   */
  readonly dialect: 'postgres' | 'mysql';
  /** Runs a statement outside any transaction, on the primary. */
  readonly query: SqlQuery;
  /**
   * Runs the work within a transaction that begins at READ COMMITTED and can write: commits when the work resolves, rolls
   * back when it rejects, and settles only then, as the work did.
   *
   * @param work its `query` runs statements in the same transaction as `tx`
   */
  transaction<T>(work: (tx: Tx, query: SqlQuery) => Promise<T>): Promise<T>;
  /** Runs statements in a transaction that the merchant began: those that are asked at once, in their order. */
  queryIn?(tx: Tx): SqlQuery;
  /**
   * Calls back for each NOTIFY on a channel, until the signal is aborted; resolves then. It may hold a connection for that.
   *
   * @throws what the driver throws, as soon as nothing is heard any more
   */
  listen?(channel: string, onNotice: () => void, signal: AbortSignal): Promise<void>;
  /**
   * Where connections come from, if that is known: all inboxes over one pool hold at most half of it, and so do the statements
   * of all journals. Without it, `max` is taken for 10.
   */
  readonly pool?: SqlPool | undefined;
  /**
   * Lends `tx` to `onPayment`: whatever is asked of it after the work has settled must be refused, also before the
   * transaction ends. For libraries that do not refuse it by themselves.
   *
   * @returns the first SQL error that the work met, if that is known
   */
  lend?(tx: Tx, work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
  /**
   * Whether `transaction` rejects also when COMMIT answers ROLLBACK, as it does after a statement that failed unnoticed.
   * Where it is not, the store asks the database what became of each transaction.
   */
  readonly checksCommit?: boolean | undefined;
}

/** A pool of connections. */
export interface SqlPool {
  /** The pool itself, or whatever else there is one of for each pool. */
  readonly identity: object;
  /** How many connections it has at most. */
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
  Number.isInteger(value) && (value as number) >= 2
    ? undefined
    : 'must be 2 or more: with 1, onPayment could wait for itself for ever';

/** The pool of `pg`, of postgres.js, and of what is like them. */
export function poolOf(pool: object | undefined): SqlPool | undefined {
  if (!pool) return undefined;
  const { max } = (pool as { options?: { max?: unknown } }).options ?? {};
  return { identity: pool, max: sizeOf(max) };
}

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
    'Nothing was planned: tx is no open transaction, or the part of it that planned was rolled back. Pass what your transaction runs on, after its BEGIN, and await the plan before its COMMIT.',
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
