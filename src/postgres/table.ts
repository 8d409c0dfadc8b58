// The table of a store in Postgres: its name, its migrations, and what its statements have in common.
import { createHash } from 'node:crypto';
import { isCommitted } from '../sql/committed.ts';
import { leftOpen, type SqlDatabase, type SqlQuery, type SqlRow, sqlCodeOf } from '../sql/database.ts';
import { pendingOf, scriptOf, versionComment, WAS_IT_MIGRATED } from '../sql/table.ts';

/** A table's name as SQL. */
export const quoted = (table: string): string =>
  table
    .split('.')
    .map(part => `"${part}"`)
    .join('.');

/**
 * The value, in a statement whose transaction is on disk here and on a synchronous standby, even where the database answers
 * a COMMIT before that: what is forgotten after the money has moved would move it again.
 */
export const durably = (value: string) => `CASE WHEN CASE WHEN current_setting('synchronous_commit') IN
    ('off', 'local', 'remote_write') THEN set_config('synchronous_commit', 'on', true) = 'on' ELSE true END THEN ${value} END`;

/** What Postgres answers where a table is missing. */
const NO_TABLE = '42P01';
/** What Postgres answers a write where nothing can be written. */
const READ_ONLY = '25006';
/** What a replica answers who wants to begin a transaction that can write. */
const NOT_SUPPORTED = '0A000';

/** The error, or one that names its cause and the way out: of a forgotten `migrate`, or a replica taken for the primary. */
export function advised(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const state = sqlCodeOf(error);
  const { message } = error;
  if (state === NO_TABLE) {
    return Object.assign(new Error(message + WAS_IT_MIGRATED, { cause: error }), { code: NO_TABLE });
  }
  if (state !== READ_ONLY && !(state === NOT_SUPPORTED && message.includes('recovery'))) return error;
  return new Error(`${message}: this is a read replica, or a read-only session. The store needs the primary.`, {
    cause: error,
  });
}

/**
 * The transaction of a single statement is over with it, unless somebody had begun another one. Where the driver has not told, the
 * database is asked.
 *
 * @param written the answer of the statement
 * @param xid its transaction
 * @throws {ConfigurationError} if that goes on
 */
export async function expectCommitted(query: SqlQuery, written: readonly SqlRow[], xid: unknown): Promise<void> {
  if (isCommitted(written)) return;
  const [answer] = await query('SELECT txid_status($1::text::bigint) AS status', [String(xid)]);
  if (answer?.status !== 'committed') throw leftOpen();
}

/** The key of an advisory lock: 64 bits of a hash, as text, because a number would lose some of them. */
export const lockKey = (name: string): string => createHash('sha256').update(name).digest().readBigInt64BE().toString();

/**
 * Runs the migrations of a table that have not run yet, by one replica at a time, all or none. A table of a later version
 * of the SDK is left as it is. Each can run again where somebody has changed the table's comment, which keeps its version.
 *
 * @param steps every one there ever was, oldest first; the first creates the table
 */
export async function migrate(database: SqlDatabase<unknown>, table: string, steps: readonly string[]): Promise<void> {
  // Without bounds: another replica may take its time, and so may an index.
  await database.transaction(async tx => {
    const query = database.queryIn(tx);
    await query('SELECT pg_advisory_xact_lock($1::text::bigint)::text AS locked', [lockKey(`migrate ${table}`)]);
    const [found] = await query(`SELECT obj_description(to_regclass($1::text), 'pg_class') AS comment`, [
      quoted(table),
    ]);
    const pending = pendingOf(steps, found?.comment);
    for (const step of pending) await query(step);
    if (pending.length > 0) await query(commentOn(table, steps.length));
  });
}

const commentOn = (table: string, version: number): string =>
  `COMMENT ON TABLE ${quoted(table)} IS '${versionComment(version)}'`;

/** All migrations of a table as one script, for tools that run their own. */
export const ddlOf = (table: string, steps: readonly string[]): string =>
  scriptOf([...steps, commentOn(table, steps.length)]);

/** The name of an index of a table, which is in its schema. */
export const indexName = (table: string, suffix: string): string => {
  const [name = ''] = table.split('.').slice(-1);
  // Postgres cuts longer names, in silence.
  return `"${name.slice(0, 62 - suffix.length)}_${suffix}"`;
};
