// The SQL of a store in Postgres, over its one table.
import type { StoreRow } from '../store/contract.ts';
import { durably, indexName, quoted } from './table.ts';

/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `floor(extract(epoch FROM ${moment}) * 1000)::bigint::text`;
const moment = (value: string) => `to_timestamp(${value}::text::double precision / 1000)`;
/** An interval in seconds. */
const interval = (placeholder: string) => `make_interval(secs => ${placeholder}::text::double precision)`;

const NOW = `${ms('clock_timestamp()')} AS now`;
const REPLICA = 'pg_is_in_recovery()::text AS replica';
/** The store's time, on a line even without rows. */
const CLOCK = `(SELECT ${NOW}, ${REPLICA}) AS clock`;

const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
/** Writes literals, because Postgres uses a partial index only for states known when it plans the statement. */
const isOneOf = (states: readonly string[]) =>
  states.length === 0 ? 'false' : `state IN (${states.map(text).join(', ')})`;

/** A setting that lasts until the end of the merchant's transaction. Outside one, it ends with its own statement. */
const IS_OPEN = `coalesce(current_setting('payment_gateway.transaction', true), '') = 'open'`;
export const OPEN_XID = 'txid_current_if_assigned()::text';

/** Columns in the order of a row's values. */
const COLUMNS = 'kind, id, state, revision, due_at, leased_until, payment_id, data, about';
/** Names of one word in lower case, because plugins of query builders rewrite others. */
const READ = `kind, id, state, revision::text, ${ms('begun_at')} AS begun, ${ms('due_at')} AS due,
    ${ms('leased_until')} AS leased, payment_id AS payment, data::text, about::text`;

const VALUES_AS = 'kind, id, state, revision, due, leased, payment, data, about, begun';
const WIDTH = 10;
/** Lists rows of placeholders, after `taken` others. */
const rowsOfPlaceholders = (count: number, width: number, taken: number): string =>
  Array.from({ length: count }, (_, row) => {
    const places = Array.from({ length: width }, (_, column) => `$${taken + row * width + column + 1}::text`);
    return `(${places.join(', ')})`;
  }).join(', ');

export type Statements = ReturnType<typeof statementsOf>;

/** @param table its schema and name, quoted */
export function statementsOf(table: string, channel: string) {
  const key = 'scope = $1::text AND kind = $2::text AND id = $3::text';
  const payment = `scope = $1::text AND kind = 'payment' AND id = $2::text`;
  const newDue = (due: string) => `CASE WHEN ${due}::text IS NOT NULL THEN clock_timestamp() END`;
  const inserted = `$1::text, $2::text, $3::text, $4::text, ${durably('$5::text::integer + 1')}, clock_timestamp(),
      ${newDue('$6')}, ${moment('$7')}, $8::text, $9::text::json, $10::text::json`;
  const into = '(scope, kind, id, state, revision, begun_at, due_at, leased_until, payment_id, data, about)';
  const replace = `UPDATE ${table} SET state = $4::text, revision = ${durably('revision + 1')}, begun_at = ${moment('$11')},
        due_at = ${moment('$6')}, leased_until = ${moment('$7')}, payment_id = $8::text, data = $9::text::json,
        about = $10::text::json, was = NULL, xid = NULL
      WHERE ${key} AND revision = $5::text::integer`;
  const written = `RETURNING ${NOW}, ${ms('begun_at')} AS begun, ${ms('due_at')} AS due, txid_current()::text AS xid`;
  const notified = ({ kind, state }: StoreRow) =>
    kind === 'create' && state === 'planned' ? `, pg_notify(${text(channel)}, '')::text AS told` : '';
  /** Planning takes most of its time, so it is simple. */
  const found = (where: string) =>
    `SELECT ${NOW}, ${REPLICA}, ${READ} FROM (SELECT 1) AS always LEFT JOIN ${table} ON ${where}`;

  return {
    table,
    read: found(key),
    owner: found('scope = $1::text AND payment_id = $2::text'),

    // A create waits for these two.
    insert: `INSERT INTO ${table} ${into} VALUES (${inserted}) ON CONFLICT (scope, kind, id) DO NOTHING ${written}`,
    replace: `${replace} ${written}`,

    // In the merchant's transaction.
    enter: `SELECT set_config('payment_gateway.transaction', 'open', true) AS open`,
    insertIn: (row: StoreRow) => `INSERT INTO ${table} ${into} SELECT ${inserted} WHERE ${IS_OPEN}
      ON CONFLICT (scope, kind, id) DO NOTHING ${written}${notified(row)}`,
    replaceIn: (row: StoreRow) => `${replace} AND ${IS_OPEN} ${written}${notified(row)}`,
    readIn: `SELECT ${NOW}, (${IS_OPEN})::text AS open, ${READ} FROM (SELECT 1) AS always LEFT JOIN ${table} ON ${key}`,

    list: (states: readonly string[]) => `SELECT now, replica, listed.* FROM ${CLOCK} LEFT JOIN
      (SELECT ${READ}, begun_at FROM ${table} WHERE scope = $1::text AND kind = $2::text AND ${isOneOf(states)}) AS listed
      ON true ORDER BY begun_at`,

    due: (states: readonly string[]) => `WITH waiting AS (
        SELECT scope, kind, id FROM ${table}
        WHERE scope = $1::text AND kind = $2::text AND ${isOneOf(states)} AND due_at <= now()
          AND coalesce(leased_until <= now(), true) AND begun_at <= now() - ${interval('$5')}
        ORDER BY due_at LIMIT $3::text::bigint FOR UPDATE SKIP LOCKED),
      claimed AS (
        UPDATE ${table} AS row SET revision = row.revision + 1, leased_until = clock_timestamp() + ${interval('$4')}
        FROM waiting WHERE row.scope = waiting.scope AND row.kind = waiting.kind AND row.id = waiting.id RETURNING row.*)
      SELECT now, replica, leased.* FROM ${CLOCK} LEFT JOIN (SELECT ${READ}, due_at FROM claimed) AS leased ON true
      ORDER BY due_at`,

    // ON CONFLICT sees the newest committed row, so the mark needs no read. A transaction gets an id with its first
    // write, so the effect's own has none yet.
    /** @param reads the number of further rows to lock */
    begin: (reads: number) => `WITH gate AS (SELECT ${OPEN_XID} AS open,
        CASE WHEN txid_current_if_assigned() IS NULL THEN pg_try_advisory_xact_lock($4::text::bigint) END AS locked),
      mark AS (
        INSERT INTO ${table} AS row (scope, kind, id, state, revision, begun_at, data, about, xid)
        SELECT $1::text, 'payment', $2::text, 'begun', ${durably('1')}, clock_timestamp(), '{}'::json, $3::text::json,
          txid_current()::text FROM gate WHERE locked
        ON CONFLICT (scope, kind, id) DO UPDATE SET state = 'begun', was = row.state, revision = row.revision + 1,
          about = excluded.about, xid = excluded.xid WHERE row.state <> 'begun'
        RETURNING ${READ}, was, xid),
      other AS (
        SELECT ${READ}, NULL AS was, NULL AS xid FROM ${table} WHERE scope = $1::text AND (SELECT locked FROM gate)
          AND ${reads === 0 ? 'false' : `(kind, id) IN (${rowsOfPlaceholders(reads, 2, 4)})`}
        ORDER BY kind, id FOR UPDATE)
      SELECT gate.open, gate.locked::text, line.* FROM gate
        LEFT JOIN (SELECT * FROM mark UNION ALL SELECT * FROM other) AS line ON true`,

    // Only in the transaction of the mark. The mark and its end are one write.
    update: (count: number) => `UPDATE ${table} AS row SET state = new.state,
        revision = CASE WHEN row.xid IS NULL THEN row.revision + 1 ELSE row.revision END,
        begun_at = CASE WHEN new.revision = '0' THEN row.begun_at ELSE ${moment('new.begun')} END,
        due_at = CASE WHEN new.revision = '0' THEN ${newDue('new.due')} ELSE ${moment('new.due')} END,
        leased_until = ${moment('new.leased')}, payment_id = new.payment, data = new.data::json,
        about = new.about::json, was = NULL, xid = NULL
      FROM (VALUES ${rowsOfPlaceholders(count, WIDTH, 2)}) AS new (${VALUES_AS})
      WHERE row.scope = $1::text AND row.kind = new.kind AND row.id = new.id AND ${OPEN_XID} = $2::text
        AND (row.xid = $2::text OR row.xid IS NULL AND row.revision = new.revision::integer)
      RETURNING row.id`,
    add: (count: number) => `INSERT INTO ${table} (scope, ${COLUMNS}, begun_at)
      SELECT $1::text, kind, id, state, 1, ${newDue('due')}, ${moment('leased')}, payment, data::json, about::json,
        clock_timestamp() FROM (VALUES ${rowsOfPlaceholders(count, WIDTH, 2)}) AS new (${VALUES_AS})
      WHERE ${OPEN_XID} = $2::text ON CONFLICT (scope, kind, id) DO NOTHING RETURNING id`,

    find: `SELECT txid_status($3::text::bigint) AS status, (SELECT (state = 'begun' AND xid = $3::text)::text FROM ${table}
      WHERE ${payment} AND revision >= $4::text::integer) AS begun`,

    /** For a transaction that was rolled back before later statements were committed. */
    markUncertain: `INSERT INTO ${table} AS row (scope, kind, id, state, revision, begun_at, data, about, xid)
      VALUES ($1::text, 'payment', $2::text, 'begun', ${durably('1')}, clock_timestamp(), '{}'::json, $3::text::json, $4::text)
      ON CONFLICT (scope, kind, id) DO UPDATE SET state = 'begun', was = row.state, revision = row.revision + 1,
        about = excluded.about, xid = excluded.xid WHERE row.state <> 'begun' RETURNING txid_current()::text AS xid`,
  };
}

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
  xid text,
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
