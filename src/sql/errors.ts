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
/** Fields that keep the driver's error: in most libraries, TypeORM, Prisma. */
const NESTED = ['cause', 'driverError', 'meta', 'driverAdapterError'];

/** The database's code, wherever the merchant's library keeps it. */
export const sqlCodeOf = (error: unknown) => partsOf(error).flatMap(codesOf)[0];

type Part = Readonly<Record<string, unknown>>;

const codesOf = ({ originalCode, code, errno }: Part) =>
  [originalCode, code, errno].map(String).filter(code => CODE.test(code));

/** From the inside out, because Prisma's outer errors have their own codes of five characters. */
function partsOf(error: unknown, depth = 0): Part[] {
  if (typeof error !== 'object' || error === null || depth > 6) return [];
  const part = error as Part;
  return [...NESTED.flatMap(name => partsOf(part[name], depth + 1)), part];
}

/** Fields of a driver's error that never contain written values. */
const FACTS = ['code', 'originalCode', 'errno', 'sqlState', 'severity', 'schema', 'table', 'constraint'];

const MIGRATE = ': call migrate(), or correct tablePrefix';
const USE_PRIMARY = ': this is a read replica, or a read-only session. The store needs the primary.';
const KEEP_PREPARED =
  ': a pooler in transaction mode does not keep prepared statements. Turn them off in your library, or use PgBouncer 1.21 or later.';

const ADVICE: Readonly<Record<string, string>> = {
  ...{ '42P01': MIGRATE, 1146: MIGRATE },
  ...{ 25006: USE_PRIMARY, 1290: USE_PRIMARY, 1792: USE_PRIMARY, 1836: USE_PRIMARY },
  ...{ 26000: KEEP_PREPARED, '42P05': KEEP_PREPARED },
};
export const hasLostStatement = (error: unknown) => ADVICE[sqlCodeOf(error) ?? ''] === KEEP_PREPARED;

/**
 * Throws the error of a database or connection without a library's words, which may show a customer's data in the
 * statement, and with advice. Other errors stay the same.
 */
export function advise(error: unknown): never {
  const parts = partsOf(error);
  const answer = parts.find(part => codesOf(part).length > 0);
  const driver = answer ?? parts.find(part => part instanceof Error);
  if (!driver) throw error;
  const text = String(driver.sqlMessage ?? driver.originalMessage ?? driver.message);
  // Knex puts the statement before the words of a broken connection.
  const words = answer || typeof driver.code !== 'string' ? text : (text.split(' - ').at(-1) as string);
  if (!answer && driver === error && words === text) throw error;
  const code = sqlCodeOf(error) ?? '';
  // A replica refuses BEGIN READ WRITE as not supported.
  const isReplica = code === '0A000' && words.includes('recovery');
  const advice = isReplica ? USE_PRIMARY : (ADVICE[code] ?? '');
  // Libraries lose MySQL's name of this number.
  const named = advice && { code: code === '1146' ? 'ER_NO_SUCH_TABLE' : code };
  const facts = FACTS.flatMap(name => (name in driver ? [[name, driver[name]]] : []));
  throw Object.assign(new Error(words + advice), Object.fromEntries(facts), named);
}

export const paymentTaken = () => new PaymentTaken('Another create already has this payment.');

/** Throws the error of a write, or its meaning. */
export function orTaken(error: unknown): never {
  const code = sqlCodeOf(error);
  // A violated unique index in Postgres and MySQL: always that of payments.
  if (code === '23505' || code === '1062') throw paymentTaken();
  // Postgres refuses every statement after a failed one.
  throw code === '25P02' ? ofMerchant(new Error(IGNORED, { cause: error })) : error;
}

const IGNORED =
  'Your function ignored an SQL error, so Postgres rolled back its transaction. The effect can run again. Await every query and rethrow its error, or use SAVEPOINT for a query that may fail.';

/** Throws the error without its code, which may mean that nothing was written, as for an unreachable server. */
export function afterWrite(error: Error): never {
  if (error instanceof ConfigurationError) throw error;
  throw new Error(`${error.message} (after a write)`, { cause: error });
}

/** Its code makes the store repeat the effect. */
export const rowChanged = () =>
  Object.assign(new Error('Another process changed a row of this effect. The effect was rolled back.'), {
    code: '40001',
  });
