// The table of a store in MySQL: its name, its migrations, and the common parts of its statements.
import { createHash } from 'node:crypto';
import { ConfigurationError } from '../errors.ts';
import { type SqlDatabase, type SqlQuery, type SqlRow, sqlCodeOf } from '../sql/database.ts';
import { asciiJson, CALL_MIGRATE, pendingOf, scriptOf, versionComment } from '../sql/table.ts';
import { PaymentTaken } from '../store/contract.ts';

/** Quotes a table's name for SQL, in backticks because ANSI_QUOTES gives double quotes another meaning. */
export const quoted = (table: string): string => table.split('.').map(quotedPart).join('.');

/** Quotes one name, such as that of a merchant's database. */
export const quotedPart = (name: unknown): string => `\`${String(name).replaceAll('`', '``')}\``;

/** The end of CREATE TABLE: the widest keys, and transactions, independent of the server's defaults. */
export const TABLE_OPTIONS = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC';

/** Reads a text passed as hex, so that no mode, collation or character set of the session changes it. */
export const TEXT = 'UNHEX(?)';

/** Writes a text as hex. */
export const hex = (text: string): string => Buffer.from(text).toString('hex');

/** Writes JSON in ASCII, as hex. */
export const asciiHex = (value: unknown): string => hex(asciiJson(value));

/** Reads the text of a column that was selected as hex. */
export const textOf = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString();

/** Now in UTC, independent of the session's time zone, in which an hour of autumn comes twice. */
export const NOW = 'UTC_TIMESTAMP(3)';
const EPOCH = `TIMESTAMP('1970-01-01')`;
/** Milliseconds since 1970, as text. */
export const ms = (moment: string) => `CAST(TIMESTAMPDIFF(MICROSECOND, ${EPOCH}, ${moment}) DIV 1000 AS CHAR)`;
/** The moment of a placeholder in milliseconds since 1970. */
export const MOMENT = `${EPOCH} + INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND`;

/**
 * The condition that a write outside any transaction is committed. Only MariaDB reports a connection that was released
 * to the pool within a transaction.
 */
export const IS_COMMITTED = '@@session.autocommit /*M! AND NOT @@session.in_transaction */';
export const COMMITTED = `IF(${IS_COMMITTED}, '1', '0') AS committed`;

/** The error of a session whose writes other code decides about. */
export const notCommitted = () =>
  new ConfigurationError(
    "A session of this pool does not commit the store's writes: it has autocommit = 0, or was released to the pool inside an open transaction. A payment could be made twice. Leave autocommit on, and call COMMIT or ROLLBACK before each release().",
    { outcome: 'not_sent' },
  );

/** @throws {ConfigurationError} for an answer from such a session */
export function checkCommitted(line: SqlRow | undefined): void {
  if (line?.committed === '0') throw notCommitted();
}

/** MySQL's code for a taken key. */
export const TAKEN = '1062';

/** @throws {PaymentTaken} for a taken key of an UPDATE, which writes no other key */
export function paymentTaken(error: unknown): never {
  if (sqlCodeOf(error) === TAKEN) throw new PaymentTaken();
  throw error;
}

/**
 * Runs an INSERT with the condition {@link IS_COMMITTED}.
 *
 * @returns whether the key was free
 * @throws {ConfigurationError} if the condition is false
 */
export async function insertedAlone(
  query: SqlQuery,
  sql: string,
  values: readonly (string | null)[],
): Promise<boolean> {
  try {
    if (hasChanged(await query(sql, values))) return true;
  } catch (error) {
    if (sqlCodeOf(error) !== TAKEN) throw error;
    return false;
  }
  throw notCommitted();
}

export function hasChanged([answer]: readonly SqlRow[]): boolean {
  if (answer?.affected !== undefined) return Number(answer.affected) > 0;
  throw new ConfigurationError(
    'query() of the SqlDatabase must return one row for a write over MySQL: { affected }, the number of changed rows.',
  );
}

/** MySQL's code for a missing savepoint. */
const WITHOUT_SAVEPOINT = '1305';

/** Runs a statement about a savepoint. @returns whether the savepoint exists: it ends with its transaction */
export const hasSavepoint = (query: SqlQuery, sql: string): Promise<boolean> =>
  query(sql).then(
    () => true,
    error => {
      if (sqlCodeOf(error) !== WITHOUT_SAVEPOINT) throw error;
      return false;
    },
  );

/** MySQL's code for a characteristic of the next transaction that is set in the middle of one. */
const IN_TRANSACTION = '1568';

/** Checks whether a transaction is open. Outside one, the statement sets the default of the next transaction again. */
export const isOpen = (query: SqlQuery): Promise<boolean> =>
  query('SET TRANSACTION READ WRITE').then(
    () => false,
    error => {
      if (sqlCodeOf(error) !== IN_TRANSACTION) throw error;
      return true;
    },
  );

/** MySQL's codes for a write that a read-only server, session or mode refuses. */
const READ_ONLY: ReadonlySet<unknown> = new Set(['1290', '1792', '1836']);
const NO_TABLE = '1146';
/** MySQL's name for that code. */
const NO_SUCH_TABLE = 'ER_NO_SUCH_TABLE';

/** Returns the error, or one that names its cause and the fix. */
export function advised(error: unknown): unknown {
  const code = sqlCodeOf(error);
  const { message } = error as Error;
  if (code === NO_TABLE) {
    return Object.assign(new Error(message + CALL_MIGRATE, { cause: error }), { code: NO_SUCH_TABLE });
  }
  if (!READ_ONLY.has(code)) return error;
  return new Error(`${message}: this is a replica, or a read-only session. The store needs the primary.`, {
    cause: error,
  });
}

/** Seconds that a replica waits for another replica's migrations. */
const PATIENCE = 60;

/**
 * Runs the pending migrations of a table, on one replica at a time. Each is committed by itself, so each must be able
 * to run again after a crash in the middle.
 *
 * @param steps all migrations ever published, oldest first. The first creates the table
 */
export async function migrate(database: SqlDatabase<unknown>, table: string, steps: readonly string[]): Promise<void> {
  const [name = '', schema] = table.split('.').reverse();
  const lock = `payment-gateway-sdk ${createHash('sha256').update(table).digest('hex').slice(0, 32)}`;
  // A transaction only because its statements share a connection.
  await database.transaction(async tx => {
    const query = database.queryIn(tx);
    const [answer] = await query(`SELECT CAST(GET_LOCK(?, ${PATIENCE}) AS CHAR) AS locked`, [lock]);
    if (answer?.locked !== '1') throw new Error(`Another process has migrated ${table} for ${PATIENCE} seconds.`);
    try {
      const [found] = await query(
        `SELECT CAST(table_comment AS CHAR) AS comment FROM information_schema.tables
          WHERE table_schema = ${schema ? '?' : 'DATABASE()'} AND table_name = ?`,
        schema ? [schema, name] : [name],
      );
      const pending = pendingOf(steps, found?.comment);
      for (const step of pending) await query(step);
      if (pending.length > 0) await query(commentOn(table, steps.length));
    } finally {
      await query('SELECT CAST(RELEASE_LOCK(?) AS CHAR) AS released', [lock]);
    }
  });
}

const commentOn = (table: string, version: number): string =>
  `ALTER TABLE ${quoted(table)} COMMENT = '${versionComment(version)}'`;

/** Returns all migrations of a table as one script, for separate migration tools. */
export const ddlOf = (table: string, steps: readonly string[]): string =>
  scriptOf([...steps, commentOn(table, steps.length)]);
