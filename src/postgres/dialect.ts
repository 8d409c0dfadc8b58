// The store's SQL in Postgres. A payment is an advisory lock, and the id of its transaction identifies an effect.
import { isCommitted } from '../sql/committed.ts';
import type { SqlRow, SqlValue } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { leftOpen, withoutColumns } from '../sql/errors.ts';
import { bind, join, type Sql, sql } from '../sql/sql.ts';
import { isAt, rowOf } from '../sql/statements.ts';
import { asciiJson } from '../sql/table.ts';
import { lockKey, migrationsOf, quoted } from './table.ts';

const word = (value: SqlValue = null) => bind(value, place => `${place}::text`);
const NULL = word();
/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `floor(extract(epoch FROM ${moment}) * 1000)::bigint::text`;
const numberOf = (ms: number | undefined) => (ms === undefined ? NULL : word(String(ms)));

/** The id of the transaction, which it gets with its first write. */
const OPEN_XID = 'txid_current_if_assigned()::text';
const CLOCK = `${ms('clock_timestamp()')} AS clock`;
const CHECKS = `${CLOCK}, pg_is_in_recovery()::integer::text AS replica,
  CASE WHEN ${OPEN_XID} IS NULL THEN '0' ELSE '1' END AS open`;
/** Names of one word in lower case, because plugins of query builders rewrite others. */
const COLUMNS = `kind, id, state, revision::text, ${ms('begun_at')} AS begun, ${ms('due_at')} AS due,
  ${ms('leased_until')} AS leased, payment_id AS payment, data::text, about::text, writer`;
/** Only what the writer does not know: Postgres plans every column of an answer. */
const RETURNING = `RETURNING ${CLOCK}, ${ms('begun_at')} AS begun, ${ms('due_at')} AS due, txid_current()::text AS xid`;

const textOf = (id: string) => id;
const readRow = (line: SqlRow) => rowOf(line, textOf);

const texts = new Map<string, string>();

/** Keeps each numbered text: a new one would cost the pool a hash of all its characters. */
const send: Dialect['send'] = (query, { text, values }) => {
  let count = 0;
  const numbered = texts.get(text) ?? text.replaceAll('\0', () => `$${++count}`);
  if (count > 0) texts.set(text, numbered);
  return query(numbered, values);
};

/**
 * A condition that is always true. It makes the COMMIT wait for the disk here and on a synchronous standby, even if the
 * database does not by default. A write lost after the money moved would move it again.
 */
const DURABLE = `CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
  THEN set_config('synchronous_commit', 'on', true) = 'on' ELSE true END`;

/** The condition that a transaction is still the one with this id. */
const isIn = (xid: unknown): Sql => sql`${OPEN_XID} = ${word(String(xid))}`;

/** @param table the merchant's spelling */
export function postgresDialect(table: string): Dialect {
  // Every spelling of the table has the same channel.
  const channel = table.split('.').at(-1) as string;
  return {
    channel,
    send,
    fullName: `(pg_identify_object('pg_class'::regclass, '${quoted(table)}'::regclass, 0)).identity`,
    migrations: migrationsOf(table),

    word,
    text: word,
    integer: value => sql`${word(String(value))}::integer`,
    json: value => sql`${value ? word(asciiJson(value)) : NULL}::json`,
    moment: ms => sql`to_timestamp(${numberOf(ms)}::double precision / 1000)`,
    ago: ms => sql`statement_timestamp() - make_interval(secs => ${numberOf(ms)}::double precision / 1000)`,
    now: 'clock_timestamp()',
    checks: CHECKS,
    columns: COLUMNS,
    textOf,
    indexed: () => '',
    fromNothing: '',
    orKeep: () => 'ON CONFLICT (scope, kind, id) DO NOTHING',
    returning: RETURNING,
    returningIn: `${RETURNING}, CASE WHEN kind = 'create' AND state = 'planned' THEN pg_notify('${channel}', '')::text END AS notified`,
    lock: '',

    alone: sql`${DURABLE}`,
    /** Other code may have begun a transaction. It asks the database if the driver does not report that. */
    async expectCommitted(query, written) {
      if (isCommitted(written)) return;
      const status = sql`SELECT txid_status(${word(String(written[0]?.xid))}::bigint) AS status`;
      const [answer] = await send(query, status);
      if (answer?.status !== 'committed') throw leftOpen();
    },
    async enter(query) {
      const [line] = await query('SELECT txid_current()::text AS xid');
      if (typeof line?.xid !== 'string') throw withoutColumns();
      return sql`${isIn(line.xid)} AND ${DURABLE}`;
    },

    isPrepared: false,
    begin,
    prove: async (_, { writer }) => isIn(writer),
    async writeAll(query, statements) {
      const parts = statements.map((each, index) => sql`w${String(index)} AS (${each} RETURNING '1' AS one)`);
      const ones = statements.map((_, index) => `(SELECT one FROM w${index}) AS w${index}`);
      const [line] = await send(query, sql`WITH ${join(parts, ', ')} SELECT ${ones.join(', ')}`);
      return statements.map((_, index) => line?.[`w${index}`] === '1');
    },
    // In the effect's own failed transaction, every statement fails.
    isEnded: async (query, { writer }) =>
      query(`SELECT ${OPEN_XID} AS xid`).then(
        ([answer]) => answer?.xid !== writer,
        () => false,
      ),
  };
}

/**
 * ON CONFLICT sees the newest committed row, so the mark needs no read. The effect's own transaction has no id before
 * this first write.
 */
const begin: Dialect['begin'] = async (query, { table, scope }, { id, about, reads }) => {
  const lock = word(lockKey(`${table} ${scope} ${id}`));
  const keys = reads.map(read => sql`(${word(read.kind)}, ${word(read.id)})`);
  const statement = sql`WITH gate AS (SELECT ${OPEN_XID} AS open,
      CASE WHEN txid_current_if_assigned() IS NULL THEN pg_try_advisory_xact_lock(${lock}::bigint) END AS locked),
    mark AS (
      INSERT INTO ${table} AS row (scope, kind, id, state, revision, begun_at, data, about, writer)
      SELECT ${word(scope)}, 'payment', ${word(id)}, 'begun', 1, clock_timestamp(), '{}'::json,
        ${word(asciiJson(about))}::json, txid_current()::text FROM gate WHERE locked AND ${DURABLE}
      ON CONFLICT (scope, kind, id) DO UPDATE SET state = 'begun', was = row.state, revision = row.revision + 1,
        about = excluded.about, writer = excluded.writer WHERE row.state <> 'begun'
      RETURNING ${COLUMNS}, was),
    other AS (
      SELECT ${COLUMNS}, NULL AS was FROM ${table} WHERE scope = ${word(scope)} AND (SELECT locked FROM gate)
        AND ${keys.length === 0 ? 'false' : sql`(kind, id) IN (${join(keys, ', ')})`}
      ORDER BY kind, id FOR UPDATE)
    SELECT gate.open, gate.locked::text, line.* FROM gate
      LEFT JOIN (SELECT * FROM mark UNION ALL SELECT * FROM other) AS line ON true`;
  const lines = await send(query, statement);
  const [{ open, locked } = {} as SqlRow] = lines;
  if (open === undefined) throw withoutColumns();
  // The effect would also commit a transaction that other code began and did not end.
  if (open !== null) throw leftOpen();
  if (locked !== 'true') return 'busy';
  const mark = lines.find(line => line.kind === 'payment' && line.id === id);
  if (!mark) return 'uncertain';
  const { about: _, ...payment } = readRow(mark);
  const rows = lines.flatMap(line => (line === mark || line.revision === null ? [] : readRow(line)));
  const { was, writer } = mark;
  return {
    begun: { id, writer: String(writer), revision: payment.revision },
    payment: was === null ? undefined : { ...payment, state: String(was), revision: payment.revision - 1 },
    rows: reads.map(key => rows.find(row => isAt(row, key))),
  };
};
