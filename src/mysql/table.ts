// The table of a store in MySQL: its name, its migrations, and the common parts of its statements.
import { createHash } from 'node:crypto';
import { type SqlDatabase, sqlCodeOf } from '../sql/database.ts';
import { CALL_MIGRATE, pendingOf, scriptOf, versionComment } from '../sql/table.ts';
import { LONGEST } from '../store/key.ts';

/** Quotes a table's name for SQL, in backticks because ANSI_QUOTES gives double quotes another meaning. */
export const quoted = (table: string): string => table.split('.').map(quotedPart).join('.');

/** Quotes one name, such as that of a merchant's database. */
export const quotedPart = (name: unknown): string => `\`${String(name).replaceAll('`', '``')}\``;

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

/**
 * Returns all migrations ever published, oldest first. Never change a published one: add another.
 *
 * InnoDB and DYNAMIC give transactions and the widest keys, independent of the server's defaults.
 *
 * @param table as SQL
 */
export const migrationsOf = (table: string): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  scope varbinary(${LONGEST.scope}) NOT NULL,
  kind varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id varbinary(${LONGEST.reference}) NOT NULL,
  state varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  revision int NOT NULL,
  begun_at datetime(3) NOT NULL,
  due_at datetime(3),
  leased_until datetime(3),
  payment_id varbinary(64),
  data longtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  about longtext CHARACTER SET ascii COLLATE ascii_bin,
  writer char(36) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (scope, kind, id),
  UNIQUE KEY payment (scope, payment_id),
  KEY due (kind, state, scope, due_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`,
];
