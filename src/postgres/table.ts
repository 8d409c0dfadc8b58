// The table of a store in Postgres: its name, its migrations, and the common parts of its statements.
import { createHash } from 'node:crypto';
import { isCommitted } from '../sql/committed.ts';
import { leftOpen, type SqlDatabase, type SqlQuery, type SqlRow, sqlCodeOf, withoutColumns } from '../sql/database.ts';
import { CALL_MIGRATE, pendingOf, scriptOf, versionComment } from '../sql/table.ts';

export const quoted = (table: string): string =>
  table
    .split('.')
    .map(part => `"${part}"`)
    .join('.');

/**
 * Wraps a value so that its COMMIT waits for the disk here and on a synchronous standby, even if the database does not
 * by default. A write lost after the money moved would move it again.
 */
export const durably = (value: string) => `CASE WHEN CASE WHEN current_setting('synchronous_commit') IN
    ('off', 'local', 'remote_write') THEN set_config('synchronous_commit', 'on', true) = 'on' ELSE true END THEN ${value} END`;

/** Postgres's code for a missing table. */
const NO_TABLE = '42P01';
/** Postgres's code for a write on a replica or in a read-only session. */
const READ_ONLY = '25006';
/** A replica's code for the begin of a transaction that can write. */
const NOT_SUPPORTED = '0A000';
/** Postgres's codes for a prepared statement that is missing, or that another client of a pooler has prepared. */
const MISPREPARED: readonly unknown[] = ['26000', '42P05'];

/** Returns the error, or one that names the cause and the fix. */
export function advised(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const state = sqlCodeOf(error);
  const { message } = error;
  const because = (advice: string) => new Error(message + advice, { cause: error });
  if (state === NO_TABLE) return Object.assign(because(CALL_MIGRATE), { code: NO_TABLE });
  if (MISPREPARED.includes(state)) return because(KEEP_PREPARED);
  if (state === READ_ONLY || (state === NOT_SUPPORTED && message.includes('recovery'))) return because(USE_PRIMARY);
  return error;
}

const USE_PRIMARY = ': this is a read replica, or a read-only session. The store needs the primary.';
const KEEP_PREPARED =
  ': a pooler in transaction mode does not keep prepared statements. Leave out `prepare: true`, or use PgBouncer 1.21 or later.';

/**
 * Checks that a single statement was committed: other code may have begun a transaction. It asks the database if the
 * driver does not report that.
 *
 * @param written the answer of the statement
 * @param xid its transaction
 * @throws {ConfigurationError} if that transaction is not committed
 */
export async function expectCommitted(query: SqlQuery, written: readonly SqlRow[], xid: unknown): Promise<void> {
  if (isCommitted(written)) return;
  const [answer] = await query('SELECT txid_status($1::text::bigint) AS status', [String(xid)]);
  if (answer?.status !== 'committed') throw leftOpen();
}

/** Returns the key of an advisory lock: 64 bits of a hash as text, because a number would lose some of them. */
export const lockKey = (name: string): string => createHash('sha256').update(name).digest().readBigInt64BE().toString();

/**
 * Runs the pending migrations of a table, all or none, on one replica at a time. A table of a later version of the SDK
 * stays unchanged. Each can run again if the table's comment, which keeps its version, was changed.
 *
 * @param steps all migrations ever published, oldest first. The first creates the table
 */
export async function migrate(database: SqlDatabase<unknown>, table: string, steps: readonly string[]): Promise<void> {
  // Without a timeout, because another replica or an index may take long.
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

/** Returns the table's schema and name, quoted. Later changes of the search path do not concern it. */
export async function identityOf(query: SqlQuery, table: string): Promise<string> {
  const [found] = await query(
    `SELECT (pg_identify_object('pg_class'::regclass, $1::text::regclass, 0)).identity AS name`,
    [quoted(table)],
  );
  if (typeof found?.name !== 'string') throw withoutColumns();
  return found.name;
}

const commentOn = (table: string, version: number): string =>
  `COMMENT ON TABLE ${quoted(table)} IS '${versionComment(version)}'`;

/** Returns all migrations of a table as one script, for separate migration tools. */
export const ddlOf = (table: string, steps: readonly string[]): string =>
  scriptOf([...steps, commentOn(table, steps.length)]);

/** Returns the name of a table's index, without the schema, because an index is in its table's schema. */
export const indexName = (table: string, suffix: string): string => {
  const [name = ''] = table.split('.').slice(-1);
  // Postgres silently cuts longer names.
  return `"${name.slice(0, 62 - suffix.length)}_${suffix}"`;
};
