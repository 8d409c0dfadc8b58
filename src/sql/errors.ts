// The errors of a database, and of its misuse.
import { ConfigurationError } from '../errors.ts';
import { PaymentTaken } from '../store/contract.ts';
import { ofMerchant } from '../store/thrown.ts';

export const noTransaction = (cause?: TypeError) =>
  new ConfigurationError(
    'Nothing was planned: tx is not an open transaction. Pass the transaction of your library, or the client on which you sent BEGIN.',
    { cause, outcome: 'not_sent' },
  );

export const unreadable = () =>
  new ConfigurationError(
    'query() of the SqlDatabase must return an array of rows: objects with the columns of the statement. With pg, return the `rows` of its result.',
  );

export const leftOpen = () =>
  new ConfigurationError(
    "A connection was released to the pool inside an open transaction, or has autocommit = 0. The store's writes on it could be rolled back, and a payment made twice. Call COMMIT or ROLLBACK before each release(), also after an error.",
    { outcome: 'not_sent' },
  );

/** Postgres's SQLSTATE, five digits and capitals, or MySQL's error number. */
const CODE = /^(?:[\dA-Z]{5}|\d{4})$/;
/** Fields in which libraries keep the driver's error: most, TypeORM, Prisma. */
const NESTED = ['cause', 'driverError', 'meta', 'driverAdapterError'] as const;
const DEEPEST = 6;

/** Returns the database's code for a failed statement, wherever the merchant's library keeps it. */
export const sqlCodeOf = (error: unknown): string | undefined =>
  // From the inside out, because Prisma's outer errors have their own codes of five characters.
  partsOf(error)
    .map(ownCodeOf)
    .find(code => code !== undefined);

type Part = Readonly<Record<string, unknown>>;

const ownCodeOf = ({ originalCode, code, errno }: Part): string | undefined =>
  [originalCode, code, errno].map(String).find(code => CODE.test(code));

/** Returns the errors within an error, from the inside out, and then the error itself. */
function partsOf(error: unknown, depth = 0): Part[] {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return [];
  const part = error as Part;
  return [...NESTED.flatMap(name => partsOf(part[name], depth + 1)), part];
}

/** Fields of a driver's error that never contain written values. */
const FACTS = ['code', 'originalCode', 'errno', 'sqlState', 'severity', 'schema', 'table', 'constraint'] as const;

const MIGRATE = ': call migrate(), or correct tablePrefix';
const USE_PRIMARY = ': this is a read replica, or a read-only session. The store needs the primary.';
const KEEP_PREPARED =
  ': a pooler in transaction mode does not keep prepared statements. Turn them off in your library, or use PgBouncer 1.21 or later.';

/** Advice on the codes of Postgres, and on the numbers of MySQL. */
const ADVICE: Readonly<Record<string, string>> = {
  ...{ '42P01': MIGRATE, 1146: MIGRATE },
  ...{ 25006: USE_PRIMARY, 1290: USE_PRIMARY, 1792: USE_PRIMARY, 1836: USE_PRIMARY },
  ...{ 26000: KEEP_PREPARED, '42P05': KEEP_PREPARED },
};
/** Whether a prepared statement is missing, or another client of a pooler has prepared it. */
export const hasLostStatement = (error: unknown): boolean => ADVICE[sqlCodeOf(error) ?? ''] === KEEP_PREPARED;
/** A replica's code for the begin of a transaction that can write. */
const NOT_SUPPORTED = '0A000';

/**
 * Throws an error with only the message of the database or connection, and advice. Libraries add the statement with its
 * values, and a plan contains a customer's data. An error that is neither a database's nor a library's stays the same.
 */
export function advise(error: unknown): never {
  const parts = partsOf(error);
  const answer = parts.find(part => ownCodeOf(part));
  const driver = answer ?? parts.find(part => part instanceof Error);
  if (!driver) throw error;
  const text = String(driver.sqlMessage ?? driver.originalMessage ?? driver.message);
  // Knex writes the statement before the words of a broken connection.
  const words = answer || typeof driver.code !== 'string' ? text : (text.split(' - ').at(-1) as string);
  if (!answer && driver === error && words === text) throw error;
  const code = sqlCodeOf(error) ?? '';
  const isReplica = code === NOT_SUPPORTED && words.includes('recovery');
  const advice = isReplica ? USE_PRIMARY : (ADVICE[code] ?? '');
  // Libraries lose MySQL's name for this number.
  const named = advice && { code: code === '1146' ? 'ER_NO_SUCH_TABLE' : code };
  const facts = FACTS.flatMap(name => (name in driver ? [[name, driver[name]]] : []));
  throw Object.assign(new Error(words + advice), Object.fromEntries(facts), named);
}

export const paymentTaken = () => new PaymentTaken('Another create already has this payment.');

/** The codes of a violated unique index in Postgres and MySQL. Only that of payments can be. */
const NOT_UNIQUE: ReadonlySet<unknown> = new Set(['23505', '1062']);
/** Postgres's code for every statement after a failed one. */
const IN_FAILED_TRANSACTION = '25P02';

/** Throws the error of a write, or what it means. */
export function orTaken(error: unknown): never {
  const code = sqlCodeOf(error);
  if (NOT_UNIQUE.has(code)) throw paymentTaken();
  throw code === IN_FAILED_TRANSACTION ? ofMerchant(new Error(IGNORED, { cause: error })) : error;
}

const IGNORED =
  'Your function ignored an SQL error, so Postgres rolled back its transaction. The effect can run again. Await every query and rethrow its error, or use SAVEPOINT for a query that may fail.';

/**
 * Throws the error of a step after a write, without its code. A code such as that of an unreachable server may mean
 * that nothing was written.
 */
export function afterWrite(error: Error): never {
  if (error instanceof ConfigurationError) throw error;
  throw new Error(`${error.message} (after a write)`, { cause: error });
}

/** The error for a row that changed while an effect ran. Its code makes the store repeat the effect. */
export const rowChanged = (): Error =>
  Object.assign(new Error('Another process changed a row of this effect. The effect was rolled back.'), {
    code: '40001',
  });
