// The statements of a store in Postgres: one for each method, and an advisory lock for each payment.

import {
  leftOpen,
  rowsOf,
  type SqlQuery,
  type SqlRow,
  type SqlValue,
  sqlCodeOf,
  withoutColumns,
} from '../sql/database.ts';
import { rowOf } from '../sql/line.ts';
import { afterWrite, type ReadStoreOptions, rowChanged, type StoreSql } from '../sql/store.ts';
import { asciiJson } from '../sql/table.ts';
import { PaymentTaken, type RowKey, type StoreEffect, type StoreRow, type WithNow } from '../store/contract.ts';
import { ofMerchant } from '../store/thrown.ts';
import { migrationsOf, OPEN_XID, type Statements, statementsOf } from './statements.ts';
import { advised, ddlOf, expectCommitted, identityOf, lockKey, migrate } from './table.ts';

/** Identifies the mark of an effect. */
interface Begun {
  id: string;
  xid: string;
  revision: string;
}

/** @param table the merchant's spelling. Its schema and name are resolved on first use, and never again */
export function postgresStoreSql({ table, scope }: Pick<ReadStoreOptions, 'table' | 'scope'>): StoreSql<Begun> {
  // Every spelling of the table has the same channel, which each planned payout notifies.
  const channel = table.split('.').at(-1) as string;
  const migrations = migrationsOf(table);
  let resolved: Statements | undefined;
  const resolve = async (query: SqlQuery) => statementsOf(await identityOf(query, table), channel);
  const use = async (query: SqlQuery): Promise<Statements> => {
    resolved ??= await resolve(query);
    return resolved;
  };
  const statementFor = (row: StoreRow, insert: string, replace: string): [string, SqlValue[]] =>
    row.revision === 0
      ? [insert, [scope, ...valuesOf(row)]]
      : [replace, [scope, ...valuesOf(row), String(row.begunAt)]];
  const find = async (query: SqlQuery, text: string, values: SqlValue[]) => {
    const line = timed(linesOf(await query(text, [scope, ...values])));
    return { row: rowIn(line), now: Number(line.now) };
  };

  return {
    channel,
    async migrate(database) {
      await migrate(database, table, migrations);
      await use((text, values) => database.query(text, values));
    },
    ddl: () => ddlOf(table, migrations),
    advised,

    read: async (query, { kind, id }) => find(query, (await use(query)).read, [kind, id]),
    owner: async (query, paymentId) => find(query, (await use(query)).owner, [paymentId]),

    async write(query, row) {
      const sql = await use(query);
      const written = await query(...statementFor(row, sql.insert, sql.replace)).catch(orTaken);
      const [line] = linesOf(written);
      if (!line) return { isWritten: false, ...(await find(query, sql.read, [row.kind, row.id])) };
      // The create is sent next, so the row must be committed.
      if (row.kind === 'create' && row.state === 'begun') {
        await expectCommitted(query, written, line.xid).catch(afterWrite);
      }
      return writtenRow(row, line);
    },

    async writeIn(query, row) {
      // Not kept: the merchant's transaction may have another search path.
      const sql = resolved ?? (await resolve(query));
      await query(sql.enter);
      const written = await query(...statementFor(row, sql.insertIn(row), sql.replaceIn(row))).catch(orTaken);
      const [line] = linesOf(written);
      if (line) return writtenRow(row, line);
      const found = timed(linesOf(await query(sql.readIn, [scope, row.kind, row.id])));
      return found.open === 'true' ? { isWritten: false, row: rowIn(found), now: Number(found.now) } : undefined;
    },

    list: async (query, { kind, states }) =>
      allOf(linesOf(await query((await use(query)).list(states), [scope, kind]))),

    async due(database, { kind, states, olderThan = 0 }, limit, leaseMs) {
      const query: SqlQuery = (text, values) => database.query(text, values);
      const sql = await use(query);
      const seconds = [leaseMs, olderThan].map(ms => String(ms / 1000));
      return allOf(linesOf(await query(sql.due(states), [scope, kind, String(limit), ...seconds])));
    },

    prepare: async query => void (await use(query)),

    async begin(query, { id, about, reads }: StoreEffect) {
      const sql = await use(query);
      const key = lockKey(`${sql.table} ${scope} ${id}`);
      const values = [scope, id, asciiJson(about), key, ...reads.flatMap(read => [read.kind, read.id])];
      const lines = rowsOf(await query(sql.begin(reads.length), values));
      const [{ open, locked } = {} as SqlRow] = lines;
      if (open === undefined) throw withoutColumns();
      // The effect would also commit a transaction that other code began and did not end.
      if (open !== null) throw leftOpen();
      if (locked !== 'true') return 'busy';
      const mark = lines.find(({ xid }) => xid !== null);
      if (!mark) return 'uncertain';
      const { about: _, revision, ...payment } = rowOf(mark);
      const rows = lines.flatMap(line => (line === mark ? [] : (rowIn(line) ?? [])));
      return {
        begun: { id, xid: String(mark.xid), revision: String(revision) },
        payment: mark.was === null ? undefined : { ...payment, state: String(mark.was), revision: revision - 1 },
        rows: reads.map(key => rows.find(row => isAt(row, key))),
      };
    },

    async complete(query, { id, xid }, rows) {
      const sql = await use(query);
      const isNew = (row: StoreRow) => row.revision === 0 && !isAt(row, { kind: 'payment', id });
      const [added, changed] = [rows.filter(isNew), rows.filter(row => !isNew(row))];
      const send = async (text: string, written: readonly StoreRow[]) => {
        const values = written.flatMap(row => [...valuesOf(row), String(row.begunAt)]);
        return query(text, [scope, xid, ...values])
          .catch(orIgnored)
          .catch(orTaken);
      };
      const updated = await send(sql.update(changed.length), changed);
      if (updated.length === 0) return false;
      const inserted = added.length === 0 ? [] : await send(sql.add(added.length), added);
      if (updated.length + inserted.length < rows.length) throw rowChanged();
      return true;
    },

    // In the effect's own failed transaction, every statement fails.
    isEnded: async (query, { xid }) =>
      query(`SELECT ${OPEN_XID} AS xid`).then(
        ([answer]) => answer?.xid !== xid,
        () => false,
      ),

    async find(query, { id, xid, revision }) {
      const [found] = await query((await use(query)).find, [scope, id, xid, revision]);
      // Inside a transaction, it would see its own mark before the commit.
      if (found?.status === 'in progress') throw leftOpen();
      if (found?.status !== 'committed' || found.begun === null) return undefined;
      return found.begun === 'true' ? 'begun' : 'done';
    },

    async markUncertain(query, { id, about }, { xid }) {
      const kept = await query((await use(query)).markUncertain, [scope, id, asciiJson(about), xid]);
      if (kept[0]) await expectCommitted(query, kept, kept[0].xid);
    },
  };
}

/**
 * Refuses the rows of a replica, because a payment that it does not know yet would be made again.
 *
 * @throws {ConfigurationError} without the time, which decides whether a row is due or late
 */
function linesOf(answer: readonly SqlRow[]): readonly SqlRow[] {
  const lines = rowsOf(answer);
  if (lines[0] && typeof lines[0].now !== 'string') throw withoutColumns();
  if (lines[0]?.replica === 'true') throw new Error('The store was read from a replica: it needs the primary.');
  return lines;
}

/** Returns the first line of an answer that always has the time. */
function timed([line]: readonly SqlRow[]): SqlRow {
  if (line) return line;
  throw withoutColumns();
}

/** Returns the row of a line, if it has one. */
const rowIn = (line: SqlRow): StoreRow | undefined => (line.revision === null ? undefined : rowOf(line));

const allOf = (lines: readonly SqlRow[]): WithNow<{ rows: StoreRow[] }> => ({
  rows: lines.flatMap(line => rowIn(line) ?? []),
  now: Number(timed(lines).now),
});

/** Returns the row as a read would, without another query. */
const writtenRow = (row: StoreRow, { now, begun, due }: SqlRow) => ({
  isWritten: true,
  row: JSON.parse(
    JSON.stringify({
      ...row,
      revision: row.revision + 1,
      begunAt: Number(begun),
      ...(due !== null && { dueAt: Number(due) }),
    }),
  ) as StoreRow,
  now: Number(now),
});

const isAt = (row: RowKey, { kind, id }: RowKey) => row.kind === kind && row.id === id;

/** In the order of the placeholders, after the scope. */
const valuesOf = ({ kind, id, state, revision, dueAt, leasedUntil, ...row }: StoreRow): SqlValue[] => [
  kind,
  id,
  state,
  String(revision),
  dueAt === undefined ? null : String(dueAt),
  leasedUntil === undefined ? null : String(leasedUntil),
  row.paymentId ?? null,
  asciiJson(row.data),
  row.about ? asciiJson(row.about) : null,
];

/** Postgres's code for a violated unique index. Only that of payments can be. */
const NOT_UNIQUE = '23505';

function orTaken(error: unknown): never {
  if (sqlCodeOf(error) !== NOT_UNIQUE) throw error;
  throw new PaymentTaken('Another create already has this payment.');
}

/** Postgres's code for every statement after a failed one. */
const IN_FAILED_TRANSACTION = '25P02';

function orIgnored(error: unknown): never {
  if (sqlCodeOf(error) !== IN_FAILED_TRANSACTION) throw error;
  throw ofMerchant(new Error(IGNORED, { cause: error }));
}

const IGNORED =
  'Your function ignored an SQL error, so Postgres rolled back its transaction. The effect can run again. Await every query and rethrow its error, or use SAVEPOINT for a query that may fail.';
