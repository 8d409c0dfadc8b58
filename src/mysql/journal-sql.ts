// The SQL of a journal in MySQL, which answers no rows of what it writes: a write, and then a read.
import { randomUUID } from 'node:crypto';
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
  hasSavepoint,
  hex,
  IS_COMMITTED,
  inserted,
  insertedAlone,
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

/** One for each plan: of two of the same name the later one replaces the other. */
const savepointOf = (ticket: string): string => `payment_gateway_plan_${ticket.slice(0, 16)}`;

/**
 * @param table its name, as the merchant has written it
 * @typeParam Ticket the reference of a row that only one transaction sees, as hex
 */
export function journalSql(table: string): JournalSql<string> {
  const sql = statements(quoted(table));
  let isChecked = false;
  /** Of a statement of our own. */
  const check = (line: SqlRow): number => {
    const now = clockOf(line);
    checkAutocommit(line);
    if (line.replica === '1') throw new Error('The journal was read from a replica: it needs the primary.');
    if (!isChecked && line.flush !== '1') emitWarning(NOT_DURABLE);
    isChecked = true;
    return now;
  };
  const clock = async (query: SqlQuery, ticket?: string) => {
    const [line = {}] = await query(sql.clock);
    return ticket ? clockOf(line) : check(line);
  };

  return {
    migrate: database => migrate(database, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),
    advised,

    async enter(query, isLatest) {
      const ticket = Buffer.from(randomUUID()).toString('hex');
      const savepoint = savepointOf(ticket);
      // All are sent before anything that the merchant sends next: what undoes the transaction undoes the ticket, and with its
      // end the savepoints are gone. Later ROLLBACK TO would also undo what the merchant has sent beside the plan.
      const [, , , isOpen] = await Promise.all([
        query(sql.enter, [ticket]),
        query(`SAVEPOINT ${savepoint}`),
        query(`SAVEPOINT ${savepoint}_seen`),
        hasSavepoint(query, `ROLLBACK TO SAVEPOINT ${savepoint}_seen`),
      ]);
      // RELEASE takes later savepoints with it, and so those of later plans.
      if (isOpen && (!isLatest() || (await hasSavepoint(query, `RELEASE SAVEPOINT ${savepoint}_seen`)))) return ticket;
      await query(sql.leave, [ticket]);
      return undefined;
    },

    async leave(query, ticket) {
      await query(sql.leave, [ticket]);
      return hasSavepoint(query, `RELEASE SAVEPOINT ${savepointOf(ticket)}`);
    },

    async read(query, key, ticket) {
      const [line] = await query(ticket ? sql.readIn : sql.read, keyOf(key));
      if (!line) return { now: await clock(query, ticket) };
      return { row: rowIn(line), now: ticket ? clockOf(line) : check(line) };
    },

    async insert(query, row, ticket) {
      const values = [...keyOf(row), row.state, textOrNull(row.dueAt), textOrNull(row.leasedUntil), detailsOf(row)];
      const isInserted = ticket
        ? await inserted(query, sql.insertIn, [...values, ticket])
        : await insertedAlone(query, sql.insert, values);
      if (!isInserted) return undefined;
      const { row: written } = await this.read(query, row, ticket).catch(afterWrite);
      return written;
    },

    async replace(query, row, revision, ticket) {
      const times = [row.begunAt, row.dueAt, row.leasedUntil].map(textOrNull);
      const values = [row.state, ...times, detailsOf(row), ...keyOf(row), String(revision)];
      const isReplaced = ticket
        ? hasChanged(await query(sql.replaceIn, [ticket, ...values]))
        : hasChanged(await query(sql.replace, values));
      if (ticket) {
        const [line] = await query(sql.ticket, [ticket]);
        return line && { isReplaced, now: clockOf(line) };
      }
      if (isReplaced) return { isReplaced, now: await clock(query).catch(afterWrite) };
      const { row: found, now } = await this.read(query, row);
      if (found?.revision === revision) return refuseUncommitted(query);
      return { isReplaced, now };
    },

    async list(query, { scope, states }) {
      const lines = await query(sql.list(states, scope), ofScope(scope));
      return { rows: lines.map(rowIn), now: lines[0] ? check(lines[0]) : await clock(query) };
    },

    /** Locks what is due in each state by itself, because only so an index has it in its order, and nothing more is locked. */
    claim: (database, { scope, states, olderThan = 0 }, limit, leaseMs) =>
      database.transaction(async (_, query) => {
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

/** @throws where there is none: a lease without an end would keep a payment from everybody */
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
  const columns = `HEX(scope) AS scope, HEX(reference) AS reference, state, CAST(revision AS CHAR) AS revision,
    ${ms('begun_at')} AS begun, ${ms('due_at')} AS due, ${ms('leased_until')} AS leased, details`;
  const key = `scope = ${TEXT} AND reference = ${TEXT}`;
  const read = `SELECT ${clock}, ${columns} FROM ${journal} WHERE ${key}`;
  const insert = `INSERT INTO ${journal} (scope, reference, state, due_at, leased_until, details, revision, begun_at)`;
  const written = `${TEXT}, ${TEXT}, ?, IF(? IS NULL, NULL, ${NOW}), ${MOMENT}, ${TEXT}, 1, ${NOW}`;
  const changes = `entry.state = ?, entry.revision = entry.revision + 1, entry.begun_at = ${MOMENT}, entry.due_at = ${MOMENT},
    entry.leased_until = ${MOMENT}, entry.details = ${TEXT}
    WHERE entry.scope = ${TEXT} AND entry.reference = ${TEXT} AND entry.revision = CAST(? AS UNSIGNED)`;
  /** Of the transaction that has the ticket, and of no other one. */
  const ticket = `ticket.scope = '' AND ticket.reference = ${TEXT}`;
  const isOneOf = (states: readonly JournalState[]) => `state IN (${states.map(state => `'${state}'`).join(', ')})`;
  const inScope = (scope: string | undefined) => (scope === undefined ? '' : ` AND scope = ${TEXT}`);

  return {
    clock: `SELECT ${clock}`,
    read,
    // A snapshot of the merchant's may be older than the row.
    readIn: `${read} FOR UPDATE`,

    insert: `${insert} SELECT ${written} FROM DUAL WHERE ${IS_COMMITTED}`,
    insertIn: `${insert} SELECT ${written} FROM ${journal} AS ticket WHERE ${ticket}`,
    replace: `UPDATE ${journal} AS entry SET ${changes} AND ${IS_COMMITTED}`,
    replaceIn: `UPDATE ${journal} AS entry JOIN ${journal} AS ticket ON ${ticket}
      SET ${changes}`,

    enter: `${insert} VALUES ('', ${TEXT}, 'ticket', NULL, NULL, '', 0, ${NOW})`,
    ticket: `SELECT ${clock} FROM ${journal} AS ticket WHERE ${ticket}`,
    leave: `DELETE FROM ${journal} WHERE scope = '' AND reference = ${TEXT}`,

    list: (states: readonly JournalState[], scope: string | undefined) => `SELECT ${clock}, ${columns} FROM ${journal}
      WHERE ${isOneOf(states)}${inScope(scope)} ORDER BY begun_at`,

    due: (limit: number, scope: string | undefined) => `SELECT ${columns} FROM ${journal} FORCE INDEX (due)
      WHERE state = ?${inScope(scope)} AND due_at <= ${NOW} AND (leased_until IS NULL OR leased_until <= ${NOW})
        AND begun_at <= ${NOW} - INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND
      ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`,

    // Over a small table MySQL would rather read all of it, and wait for what others have leased.
    lease: (
      count: number,
    ) => `UPDATE ${journal} FORCE INDEX (PRIMARY) SET revision = revision + 1, leased_until = ${MOMENT}
      WHERE ${Array(count).fill(`(${key})`).join(' OR ')}`,

    // Never change one that was published: add another.
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
