// The SQL of a journal in MySQL: each write is followed by a read, because it returns no rows.
import type { JournalKey, JournalRow, JournalState } from '../journal/contract.ts';
import { LONGEST } from '../journal/key.ts';
import { type SqlQuery, type SqlRow, withoutColumns } from '../sql/database.ts';
import { afterWrite, type JournalLine, type JournalSql, rowOf } from '../sql/journal.ts';
import { emitWarning } from '../telemetry/events.ts';
import {
  AUTOCOMMIT,
  advised,
  asciiHex,
  checkAutocommit,
  ddlOf,
  hasChanged,
  hex,
  IS_COMMITTED,
  insertedAlone,
  isOpen,
  MOMENT,
  migrate,
  ms,
  NOW,
  quoted,
  refuseUncommitted,
  TABLE_OPTIONS,
  TEXT,
  textOf,
} from './table.ts';

/** @param table its name, as the merchant wrote it */
export function journalSql(table: string): JournalSql {
  const sql = statements(quoted(table));
  let isChecked = false;
  /** Checks the session of a statement outside the merchant's transactions, and returns its time. */
  const check = (line: SqlRow): number => {
    const now = clockOf(line);
    checkAutocommit(line);
    if (line.replica === '1') throw new Error('The journal was read from a replica: it needs the primary.');
    if (!isChecked && line.flush !== '1') emitWarning(NOT_DURABLE);
    isChecked = true;
    return now;
  };
  const clock = async (query: SqlQuery) => check((await query(sql.clock))[0] ?? {});

  return {
    migrate: database => migrate(database, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),
    advised,

    async read(query, key) {
      const [line] = await query(sql.read, keyOf(key));
      return line ? { row: rowIn(line), now: check(line) } : { now: await clock(query) };
    },

    async insert(query, row) {
      if (!(await insertedAlone(query, sql.insert, valuesOf(row)))) return undefined;
      const { row: written } = await this.read(query, row).catch(afterWrite);
      return written;
    },

    async insertIn(query, row) {
      if (!(await isOpen(query))) return undefined;
      await query(sql.insertIn, valuesOf(row));
      const [line = {}] = await query(sql.readIn, keyOf(row)).catch(afterWrite);
      const found = rowIn(line);
      return { row: found, isInserted: found.attemptId === row.attemptId, now: clockOf(line) };
    },

    async replace(query, row, revision) {
      const times = [row.begunAt, row.dueAt, row.leasedUntil].map(textOrNull);
      const values = [row.state, ...times, detailsOf(row), ...keyOf(row), String(revision)];
      const isReplaced = hasChanged(await query(sql.replace, values));
      if (isReplaced) return { isReplaced, now: await clock(query).catch(afterWrite) };
      const { row: found, now } = await this.read(query, row);
      if (found?.revision === revision) return refuseUncommitted(query);
      return { isReplaced, now };
    },

    async list(query, { scope, states }) {
      const lines = await query(sql.list(states, scope), ofScope(scope));
      return { rows: lines.map(rowIn), now: lines[0] ? check(lines[0]) : await clock(query) };
    },

    /** Locks the due rows state by state: only then an index has their order, and MySQL locks no other rows. */
    claim: (database, { scope, states, olderThan = 0 }, limit, leaseMs) =>
      database.transaction(async tx => {
        const query = database.queryIn(tx);
        const lines: SqlRow[] = [];
        for (const state of states) {
          lines.push(...(await query(sql.due(limit, scope), [state, ...ofScope(scope), String(olderThan)])));
        }
        const [line = {}] = await query(sql.clock);
        const now = clockOf(line);
        const rows = lines
          .map(rowIn)
          .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
          .slice(0, limit)
          .map(row => ({ ...row, leasedUntil: now + leaseMs, revision: row.revision + 1 }));
        if (rows.length > 0) await query(sql.lease(rows.length), [String(now + leaseMs), ...rows.flatMap(keyOf)]);
        return { rows, now };
      }),
  };
}

/** @throws {ConfigurationError} without a time: an endless lease would block a payment permanently */
function clockOf({ clock }: SqlRow): number {
  if (typeof clock === 'string') return Number(clock);
  throw withoutColumns();
}

const keyOf = ({ scope, reference }: JournalKey): [string, string] => [
  hex(scope, 'scope', LONGEST.scope),
  hex(reference, 'reference', LONGEST.reference),
];

const ofScope = (scope: string | undefined): string[] =>
  scope === undefined ? [] : [hex(scope, 'scope', LONGEST.scope)];

/** In the order of the placeholders. */
const valuesOf = (row: JournalRow) => [
  ...keyOf(row),
  row.state,
  textOrNull(row.dueAt),
  textOrNull(row.leasedUntil),
  detailsOf(row),
];

const textOrNull = (value: number | undefined): string | null => (value === undefined ? null : String(value));

const detailsOf = ({ scope, reference, state, revision, begunAt, dueAt, leasedUntil, ...details }: JournalRow) =>
  asciiHex(details);

const rowIn = (line: SqlRow): JournalRow =>
  rowOf({ ...(line as unknown as JournalLine), scope: textOf(line.scope), reference: textOf(line.reference) });

const NOT_DURABLE =
  'mysqlJournal: innodb_flush_log_at_trx_commit is not 1 on this server, so a crash of it may lose the creates of the last second, and whoever repeats one of them pays it again. Set it to 1, and sync_binlog to 1 where replicas are promoted.';

function statements(journal: string) {
  const clock = `${ms(NOW)} AS clock, CAST(@@global.innodb_flush_log_at_trx_commit AS CHAR) AS flush,
    ${AUTOCOMMIT},
    IF(@@global.read_only OR @@global.innodb_read_only, '1', '0') AS replica`;
  const columns = `HEX(entry.scope) AS scope, HEX(entry.reference) AS reference, entry.state AS state,
    CAST(entry.revision AS CHAR) AS revision, ${ms('entry.begun_at')} AS begun, ${ms('entry.due_at')} AS due,
    ${ms('entry.leased_until')} AS leased, entry.details AS details`;
  const key = `scope = ${TEXT} AND reference = ${TEXT}`;
  const ofEntry = `entry.scope = ${TEXT} AND entry.reference = ${TEXT}`;
  const insert = `INSERT INTO ${journal} (scope, reference, state, due_at, leased_until, details, revision, begun_at)`;
  const written = `${TEXT}, ${TEXT}, ?, IF(? IS NULL, NULL, ${NOW}), ${MOMENT}, ${TEXT}, 1, ${NOW}`;
  /** In the order of assignment, because later expressions see the earlier assignments. */
  const overFreed = Object.entries({
    begun_at: 'VALUES(begun_at)',
    due_at: 'VALUES(due_at)',
    leased_until: 'VALUES(leased_until)',
    details: `IF(${journal}.details LIKE '%"isRetry":true%', CONCAT('{"isRetry":true,', SUBSTR(VALUES(details), 2)), VALUES(details))`,
    revision: `${journal}.revision + 1`,
    state: 'VALUES(state)',
  }).map(([name, value]) => `${name} = IF(${journal}.state = 'freed', ${value}, ${journal}.${name})`);
  const isOneOf = (states: readonly JournalState[]) => `state IN (${states.map(state => `'${state}'`).join(', ')})`;
  const inScope = (scope: string | undefined) => (scope === undefined ? '' : ` AND scope = ${TEXT}`);

  return {
    clock: `SELECT ${clock}`,
    read: `SELECT ${clock}, ${columns} FROM ${journal} AS entry WHERE ${ofEntry}`,
    insert: `${insert} SELECT ${written} FROM DUAL WHERE ${IS_COMMITTED}`,
    replace: `UPDATE ${journal} SET state = ?, revision = revision + 1, begun_at = ${MOMENT}, due_at = ${MOMENT},
      leased_until = ${MOMENT}, details = ${TEXT}
      WHERE ${key} AND revision = CAST(? AS UNSIGNED) AND ${IS_COMMITTED}`,

    // In the merchant's transaction. A locking read ignores an older snapshot.
    insertIn: `${insert} VALUES (${written}) ON DUPLICATE KEY UPDATE ${overFreed.join(', ')}`,
    readIn: `SELECT ${clock}, ${columns} FROM ${journal} AS entry WHERE ${ofEntry} FOR UPDATE`,

    list: (states: readonly JournalState[], scope: string | undefined) => `SELECT ${clock}, ${columns}
      FROM ${journal} AS entry WHERE ${isOneOf(states)}${inScope(scope)} ORDER BY begun_at`,

    due: (limit: number, scope: string | undefined) => `SELECT ${columns} FROM ${journal} AS entry FORCE INDEX (due)
      WHERE state = ?${inScope(scope)} AND due_at <= ${NOW} AND (leased_until IS NULL OR leased_until <= ${NOW})
        AND begun_at <= ${NOW} - INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND
      ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`,

    // Without the index, MySQL would read all of a small table, and wait for rows that other claims lock.
    lease: (
      count: number,
    ) => `UPDATE ${journal} FORCE INDEX (PRIMARY) SET revision = revision + 1, leased_until = ${MOMENT}
      WHERE ${Array(count).fill(`(${key})`).join(' OR ')}`,

    // Never change a published migration: add another.
    migrations: [
      `CREATE TABLE IF NOT EXISTS ${journal} (
        scope varbinary(${LONGEST.scope}) NOT NULL,
        reference varbinary(${LONGEST.reference}) NOT NULL,
        state varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
        revision int NOT NULL,
        begun_at datetime(3) NOT NULL,
        due_at datetime(3),
        leased_until datetime(3),
        details longtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
        PRIMARY KEY (scope, reference),
        KEY due (state, scope, due_at)
      ) ${TABLE_OPTIONS}`,
    ],
  };
}
