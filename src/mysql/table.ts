// The table of a store in MySQL: its name, its migrations, and what its statements have in common.
import { createHash } from 'node:crypto';
import { ConfigurationError } from '../errors.ts';
import { leftOpen, type SqlDatabase, type SqlQuery, type SqlRow, sqlCodeOf } from '../sql/database.ts';
import { asciiJson, pendingOf, scriptOf, versionComment, WAS_IT_MIGRATED } from '../sql/table.ts';

/** A table's name as SQL: in backticks, because ANSI_QUOTES gives double quotes another meaning. */
export const quoted = (table: string): string =>
  table
    .split('.')
    .map(part => `\`${part}\``)
    .join('.');

/** What comes after the columns: the widest keys, and transactions, whatever the server's defaults are. */
export const TABLE_OPTIONS = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC';

/** Takes a text that is passed as hex: no mode, collation or character set of the session changes it on its way. */
export const TEXT = 'UNHEX(?)';

/**
 * A text for a column of so many bytes. A server that is not strict cuts what is longer, and two become one.
 *
 * @throws Error for one that is longer, as a strict server would: before anything was written
 */
export function hex(text: string, column: string, longest: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longest) return bytes.toString('hex');
  const message = `A ${column} of ${bytes.length} bytes does not fit: in MySQL, the store keeps at most ${longest}.`;
  throw Object.assign(new Error(message), { code: 'ER_DATA_TOO_LONG' });
}

/** JSON of ASCII alone, as hex. */
export const asciiHex = (value: unknown): string => Buffer.from(asciiJson(value)).toString('hex');

/** The text of a column that was read as hex. */
export const textOf = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString();

/** Now in UTC. It is independent of the session's time zone, in which an hour of autumn comes twice. */
export const NOW = 'UTC_TIMESTAMP(3)';
const EPOCH = `TIMESTAMP('1970-01-01')`;
/** Milliseconds since 1970, as text. */
export const ms = (moment: string) => `CAST(TIMESTAMPDIFF(MICROSECOND, ${EPOCH}, ${moment}) DIV 1000 AS CHAR)`;
/** The moment of a placeholder in milliseconds since 1970. */
export const MOMENT = `${EPOCH} + INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND`;

/**
 * Whether statements outside a transaction are committed: not without autocommit, and not on a connection that somebody gave
 * back to the pool within a transaction, which only MariaDB tells. It casts the variable itself to ON or OFF.
 */
export const AUTOCOMMIT = `CASE WHEN NOT @@session.autocommit THEN 'off' /*M! WHEN @@session.in_transaction THEN 'open' */
    ELSE 'on' END AS autocommit`;

const NO_AUTOCOMMIT =
  'The sessions of this pool have autocommit = 0, so nobody would ever commit what the store writes, and money could move twice: leave autocommit on.';

/** @throws {ConfigurationError} for an answer from a session in which they are not */
export function checkAutocommit(line: SqlRow | undefined): void {
  if (line?.autocommit === 'off') throw new ConfigurationError(NO_AUTOCOMMIT);
  if (line?.autocommit === 'open') throw leftOpen();
}

/** The condition of a write outside any transaction that it is committed: the session that was asked before may be another one. */
export const IS_COMMITTED = '@@session.autocommit /*M! AND NOT @@session.in_transaction */';

/** Says why a write with that condition has written nothing. @throws {ConfigurationError} */
export async function refuseUncommitted(query: SqlQuery): Promise<never> {
  const [line] = await query(`SELECT ${AUTOCOMMIT}`);
  checkAutocommit(line);
  // It was another session.
  throw leftOpen();
}

/** What MySQL answers an INSERT whose key is taken. */
const TAKEN = '1062';

/**
 * Runs an INSERT with the condition {@link IS_COMMITTED}.
 *
 * @returns whether the key was free
 * @throws {ConfigurationError} if the condition does not hold
 */
export async function insertedAlone(
  query: SqlQuery,
  sql: string,
  values: readonly (string | null)[],
): Promise<boolean> {
  try {
    return hasChanged(await query(sql, values)) || (await refuseUncommitted(query));
  } catch (error) {
    if (sqlCodeOf(error) !== TAKEN) throw error;
    return false;
  }
}

/** Whether a write has changed a row. */
export function hasChanged([answer]: readonly SqlRow[]): boolean {
  if (answer?.affected !== undefined) return Number(answer.affected) > 0;
  throw new ConfigurationError(
    'query() of the SqlDatabase must answer one row to a write over MySQL: { affected }, the number of rows that it has changed.',
  );
}

/** There is no savepoint of that name. */
const WITHOUT_SAVEPOINT = '1305';

/** Runs a statement about a savepoint. @returns whether it is there: it goes with its transaction */
export const hasSavepoint = (query: SqlQuery, sql: string): Promise<boolean> =>
  query(sql).then(
    () => true,
    error => {
      if (sqlCodeOf(error) !== WITHOUT_SAVEPOINT) throw error;
      return false;
    },
  );

/** A characteristic of the next transaction cannot be set in the middle of one. */
const IN_TRANSACTION = '1568';

/** Whether a transaction is open. Outside one, the statement sets the default of the next transaction again. */
export const isOpen = (query: SqlQuery): Promise<boolean> =>
  query('SET TRANSACTION READ WRITE').then(
    () => false,
    error => {
      if (sqlCodeOf(error) !== IN_TRANSACTION) throw error;
      return true;
    },
  );

/** What MySQL answers a write where nothing can be written: --read-only, a session or a mode of that kind. */
const READ_ONLY: ReadonlySet<unknown> = new Set(['1290', '1792', '1836']);
const NO_TABLE = '1146';
/** What MySQL calls that. */
const NO_SUCH_TABLE = 'ER_NO_SUCH_TABLE';

/** The error, or one that names its cause and the way out. */
export function advised(error: unknown): unknown {
  const code = sqlCodeOf(error);
  const { message } = error as Error;
  if (code === NO_TABLE) {
    return Object.assign(new Error(message + WAS_IT_MIGRATED, { cause: error }), { code: NO_SUCH_TABLE });
  }
  if (!READ_ONLY.has(code)) return error;
  return new Error(`${message}: this is a replica, or a read-only session. The store needs the primary.`, {
    cause: error,
  });
}

/** Seconds that a replica waits for the migrations of another one. */
const PATIENCE = 60;

/**
 * Runs the migrations of a table that have not run yet, by one replica at a time. Each is committed by itself: so each must
 * be able to run again, after a crash in the middle.
 *
 * @param steps every one there ever was, oldest first; the first creates the table
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

/** All migrations of a table as one script, for tools that run their own. */
export const ddlOf = (table: string, steps: readonly string[]): string =>
  scriptOf([...steps, commentOn(table, steps.length)]);
