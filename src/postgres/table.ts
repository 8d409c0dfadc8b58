// The table of a store in Postgres: its name, its migrations, and the common parts of its statements.
import { createHash } from 'node:crypto';
import { type SqlDatabase, type SqlQuery, sqlCodeOf, withoutColumns } from '../sql/database.ts';
import { CALL_MIGRATE, pendingOf, scriptOf, versionComment } from '../sql/table.ts';

export const quoted = (table: string): string =>
  table
    .split('.')
    .map(part => `"${part}"`)
    .join('.');

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

/** Returns all migrations ever published, oldest first. Never change a published one: add another. */
export function migrationsOf(name: string): readonly string[] {
  const table = quoted(name);
  const index = (suffix: string) => `INDEX IF NOT EXISTS ${indexName(name, suffix)} ON ${table}`;
  return [
    // data is json, not jsonb: jsonb refuses a NUL that the gateway may echo.
    `CREATE TABLE IF NOT EXISTS ${table} (
  scope text NOT NULL,
  kind text NOT NULL,
  id text NOT NULL,
  state text NOT NULL,
  revision integer NOT NULL,
  begun_at timestamptz NOT NULL,
  due_at timestamptz,
  leased_until timestamptz,
  payment_id text,
  data json NOT NULL,
  about json,
  was text,
  writer text,
  PRIMARY KEY (scope, kind, id)
)`,
    // One payment belongs to one create.
    `CREATE UNIQUE ${index('payment')} (scope, payment_id) WHERE payment_id IS NOT NULL`,
    // For sweeps, without finished rows.
    `CREATE ${index('due')} (scope, kind, due_at)
  WHERE due_at IS NOT NULL AND state NOT IN ('planned', 'freed')`,
    // For planned payouts, and those refused for good, however many payments are due.
    `CREATE ${index('planned')} (scope, kind, due_at)
  WHERE due_at IS NOT NULL AND state IN ('planned', 'freed')`,
    // For creates in doubt, uncertain effects and reviews, without the many other rows.
    `CREATE ${index('open')} (scope, kind, begun_at)
  WHERE state IN ('begun', 'review')`,
  ];
}
