// The SQL of a journal in Postgres: one statement per method, and a check of a create's commit by driver or query.
import type { JournalRow, JournalState, Timed } from '../journal/contract.ts';
import { rowsOf, type SqlQuery, type SqlRow, type SqlValue, withoutColumns } from '../sql/database.ts';
import { afterWrite, type JournalLine, type JournalSql, rowOf } from '../sql/journal.ts';
import { asciiJson, LONGEST_NAME } from '../sql/table.ts';
import { advised, ddlOf, durably, expectCommitted, indexName, migrate, quoted } from './table.ts';

/**
 * @param table its name, as the merchant wrote it
 * @param notify whether each plan sends a NOTIFY
 */
export function journalSql(table: string, notify: boolean): JournalSql {
  const channel = notify ? channelOf(table) : undefined;
  const sql = statements(table, channel);
  const lines = async (query: SqlQuery, text: string, values?: SqlValue[]) => linesOf(await query(text, values));
  /** Writes outside the merchant's transactions. */
  const write = async (query: SqlQuery, text: string, row: JournalRow, values: SqlValue[]) => {
    const written = await query(text, values);
    const [line] = linesOf(written);
    // The create is sent next, so the row must be committed.
    if (line && row.state === 'begun') await expectCommitted(query, written, line.id).catch(afterWrite);
    return line;
  };
  return {
    migrate: database => migrate(database, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),
    advised,
    channel,

    async read(query, { scope, reference }) {
      const [line] = await lines(query, sql.read, [scope, reference]);
      const { now } = line ?? timed(await lines(query, sql.clock));
      return { row: rowIn(line), now: Number(now) };
    },

    async insert(query, row) {
      const inserted = await write(query, sql.insert, row, valuesOf(row));
      return inserted && asRead(row, inserted);
    },

    async insertIn(query, row) {
      await query(sql.enter);
      const [written] = await lines(query, sql.insertIn, [...valuesOf(row), ...(channel ? [channel] : [])]);
      if (written) return { row: asRead(row, written), isInserted: true, now: Number(written.now) };
      const found = timed(await lines(query, sql.readIn, [row.scope, row.reference]));
      return found.open === 'true' ? { row: rowIn(found), isInserted: false, now: Number(found.now) } : undefined;
    },

    async replace(query, row, revision) {
      const replaced = await write(query, sql.replace, row, [...valuesOf(row), String(row.begunAt), String(revision)]);
      if (replaced) return { isReplaced: true, now: Number(replaced.now) };
      const { now } = timed(await lines(query, sql.clock));
      return { isReplaced: false, now: Number(now) };
    },

    list: async (query, { scope, states }) => allOf(await lines(query, sql.list(states, scope), ofScope(scope))),

    async claim(database, { scope, states, olderThan = 0 }, limit, leaseMs) {
      const seconds = [leaseMs, olderThan].map(ms => String(ms / 1000));
      const query: SqlQuery = (text, values) => database.query(text, values);
      return allOf(await lines(query, sql.claim(states, scope), [String(limit), ...seconds, ...ofScope(scope)]));
    },
  };
}

const ofScope = (scope: string | undefined): string[] => (scope === undefined ? [] : [scope]);

/** Returns the row as a read would, without another query. */
const asRead = (row: JournalRow, { now, due, revision, tried }: Line): JournalRow =>
  JSON.parse(
    JSON.stringify({
      ...row,
      revision: Number(revision ?? 1),
      begunAt: Number(now),
      ...(due !== null && { dueAt: Number(due) }),
      ...(tried === 'true' && { isRetry: true }),
    }),
  );

/** A line of an answer. */
interface Line extends Omit<JournalLine, 'revision'> {
  /** Null without a row. */
  revision: string | null;
  now: string;
  replica?: string;
  /** Id of a single statement's transaction. */
  id?: string;
  /** Whether the statement ran in an open transaction. */
  open?: string;
  /** Whether the reference was tried before. */
  tried?: string;
}

/**
 * Refuses the rows of a replica, because a payment that it does not know yet would be made again.
 *
 * @throws {ConfigurationError} without the time, which decides whether a row is due or late
 */
function linesOf(answer: readonly SqlRow[]): Line[] {
  const lines = rowsOf(answer) as unknown as Line[];
  if (lines[0] && typeof lines[0].now !== 'string') throw withoutColumns();
  if (lines[0]?.replica === 'true') throw new Error('The journal was read from a replica: it needs the primary.');
  return lines;
}

/** In the order of the placeholders. */
const valuesOf = ({
  scope,
  reference,
  state,
  revision,
  begunAt,
  dueAt,
  leasedUntil,
  ...details
}: JournalRow): (string | null)[] => [
  scope,
  reference,
  state,
  dueAt === undefined ? null : String(dueAt),
  leasedUntil === undefined ? null : String(leasedUntil),
  asciiJson(details),
];

const rowIn = (line: Line | undefined): JournalRow | undefined =>
  line && line.revision !== null ? rowOf(line as JournalLine) : undefined;

/** Returns the first line of an answer that always has the time. */
function timed([line]: readonly Line[]): Line {
  if (line) return line;
  throw withoutColumns();
}

const allOf = (lines: Line[]): Timed<{ rows: JournalRow[] }> => ({
  rows: lines.flatMap(line => rowIn(line) ?? []),
  now: Number(timed(lines).now),
});

/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `floor(extract(epoch FROM ${moment}) * 1000)::bigint::text`;
const moment = (placeholder: string) => `to_timestamp(${placeholder}::text::double precision / 1000)`;
/** An interval in seconds. */
const interval = (placeholder: string) => `make_interval(secs => ${placeholder}::text::double precision)`;

const NOW = `${ms('clock_timestamp()')} AS now`;

const REPLICA = 'pg_is_in_recovery()::text AS replica';
/** The store's time, on a line even without rows. */
const CLOCK = `(SELECT ${NOW}, ${REPLICA}) AS clock`;

/** Finds the key in text, because details contain no nested objects. */
const WAS_TRIED = `row.details::text LIKE '%"isRetry":true%'`;

const INTO = '(scope, reference, state, revision, begun_at, due_at, leased_until, details)';

/** Writes literals, because Postgres uses a partial index only for states known when it plans the statement. */
const isOneOf = (states: readonly JournalState[]) => `state IN (${states.map(state => `'${state}'`).join(', ')})`;

/** A setting that lasts until the end of the merchant's transaction. Outside one, it ends with its own statement. */
const OPEN = `current_setting('payment_gateway.transaction', true)`;
const IS_OPEN = `coalesce(${OPEN}, '') = 'open'`;

function statements(table: string, channel: string | undefined) {
  const journal = quoted(table);
  // Names of one word in lower case, because plugins of query builders rewrite others.
  const columns = `scope, reference, state, revision::text, ${ms('begun_at')} AS begun, ${ms('due_at')} AS due,
    ${ms('leased_until')} AS leased, details::text`;
  const key = 'scope = $1::text AND reference = $2::text';
  const due = 'CASE WHEN $4::text IS NOT NULL THEN clock_timestamp() END';
  const written = `$1::text, $2::text, $3::text, ${durably('1')}, clock_timestamp(), ${due}, ${moment('$5')}, $6::text::json`;
  const id = 'txid_current()::text AS id';

  return {
    // As simple as possible, because planning takes most of its time.
    read: `SELECT ${NOW}, ${REPLICA}, ${columns} FROM ${journal} WHERE ${key}`,
    clock: `SELECT ${NOW}, ${REPLICA}`,

    // A create waits for these two.
    insert: `INSERT INTO ${journal} ${INTO}
      VALUES (${written}) ON CONFLICT (scope, reference) DO NOTHING
      RETURNING ${ms('begun_at')} AS now, ${ms('due_at')} AS due, ${id}`,
    replace: `UPDATE ${journal} SET state = $3::text, revision = ${durably('revision + 1')}, begun_at = ${moment('$7')},
        due_at = ${moment('$4')}, leased_until = ${moment('$5')}, details = $6::text::json
      WHERE ${key} AND revision = $8::text::integer RETURNING ${NOW}, ${id}`,

    // In the merchant's transaction. ON CONFLICT also locks rows that it leaves unchanged, so exclude existing rows.
    enter: `SELECT set_config('payment_gateway.transaction', 'open', true) AS open`,
    insertIn: `INSERT INTO ${journal} AS row ${INTO} SELECT ${written} WHERE ${IS_OPEN}
        AND NOT EXISTS (SELECT FROM ${journal} WHERE ${key} AND state <> 'freed')
      ON CONFLICT (scope, reference) DO UPDATE SET state = excluded.state, revision = row.revision + 1,
        begun_at = excluded.begun_at, due_at = excluded.due_at, leased_until = excluded.leased_until,
        details = CASE WHEN ${WAS_TRIED} THEN '{"isRetry":true,' || substr(excluded.details::text, 2)
          ELSE excluded.details::text END::json
        WHERE row.state = 'freed'
      RETURNING ${ms('begun_at')} AS now, ${ms('due_at')} AS due, revision::text, (${WAS_TRIED})::text AS tried
        ${channel ? `, pg_notify($7::text, '')::text AS told` : ''}`,
    readIn: `SELECT ${NOW}, (${IS_OPEN})::text AS open, ${columns}
      FROM (SELECT 1) AS always LEFT JOIN ${journal} ON ${key}`,

    list: (states: readonly JournalState[], scope: string | undefined) => `SELECT now, replica, listed.* FROM ${CLOCK}
      LEFT JOIN (SELECT ${columns}, begun_at FROM ${journal}
        WHERE ${isOneOf(states)}${scope === undefined ? '' : ' AND scope = $1::text'}) AS listed
      ON true ORDER BY begun_at`,

    claim: (states: readonly JournalState[], scope: string | undefined) => `WITH waiting AS (
        SELECT scope, reference FROM ${journal}
        WHERE ${isOneOf(states)}${scope === undefined ? '' : ' AND scope = $4::text'} AND due_at <= now()
          AND coalesce(leased_until <= now(), true) AND begun_at <= now() - ${interval('$3')}
        ORDER BY due_at LIMIT $1::text::bigint FOR UPDATE SKIP LOCKED),
      claimed AS (
        UPDATE ${journal} AS row SET revision = revision + 1,
          leased_until = clock_timestamp() + ${interval('$2')}
        FROM waiting WHERE row.scope = waiting.scope AND row.reference = waiting.reference RETURNING row.*)
      SELECT now, replica, leased.* FROM ${CLOCK} LEFT JOIN
      (SELECT ${columns}, due_at FROM claimed) AS leased ON true ORDER BY due_at`,

    // Never change a published migration: add another.
    migrations: [
      // details is json, not jsonb: jsonb refuses a NUL that the gateway may echo.
      `CREATE TABLE IF NOT EXISTS ${journal} (
        scope text NOT NULL,
        reference text NOT NULL,
        state text NOT NULL,
        revision integer NOT NULL,
        begun_at timestamptz NOT NULL,
        due_at timestamptz,
        leased_until timestamptz,
        details json NOT NULL,
        PRIMARY KEY (scope, reference)
      )`,
      // For the few doubts, without reading created rows, which stay permanently.
      `CREATE INDEX IF NOT EXISTS ${indexName(table, 'open')} ON ${journal} (begun_at) WHERE state = 'begun'`,
      // For sweeps, without final rows.
      `CREATE INDEX IF NOT EXISTS ${indexName(table, 'due')} ON ${journal} (scope, due_at)
  WHERE due_at IS NOT NULL AND state <> 'planned'`,
      // For drains.
      `CREATE INDEX IF NOT EXISTS ${indexName(table, 'planned')} ON ${journal} (scope, due_at) WHERE state = 'planned'`,
    ],
  };
}

/** Returns the channel that a plan notifies. */
export const channelOf = (table: string): string => table.slice(-LONGEST_NAME);
