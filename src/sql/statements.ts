// The statements of a store over its one table.
import type { RowKey, RowKind, RowQuery, StoreRow } from '../store/contract.ts';
import type { SqlRow } from './database.ts';
import type { Dialect } from './dialect.ts';
import { withoutColumns } from './errors.ts';
import { join, type Sql, sql } from './sql.ts';

/** The key of a payment's row. */
export const ofPayment = (id: string): RowKey => ({ kind: 'payment', id });

export const isAt = (row: RowKey, { kind, id }: RowKey): boolean => row.kind === kind && row.id === id;

/** They have a static text, because some are prepared. */
export type Statements = ReturnType<typeof statementsOf>;

/** @param table its full name */
export function statementsOf(d: Dialect, scope: string, table: string) {
  const inScope = (kind: string) => sql`scope = ${d.text(scope)} AND kind = ${d.word(kind)}`;
  const at = ({ kind, id }: RowKey) => sql`${inScope(kind)} AND id = ${d.text(id)}`;
  const newDue = (row: StoreRow) =>
    sql`CASE WHEN ${d.word(row.dueAt === undefined ? undefined : 'due')} IS NOT NULL THEN ${d.now} END`;
  const select = (where: Sql, end = '') =>
    sql`SELECT ${d.checks}, ${d.columns} FROM (SELECT 1 AS one) AS always LEFT JOIN ${table} ON ${where} ${end}`;
  return {
    table,
    scope,
    at,
    read: (key: RowKey, end?: string) => select(at(key), end),
    owner: (paymentId: string) => select(sql`scope = ${d.text(scope)} AND payment_id = ${d.text(paymentId)}`),
    list: ({ kind, states }: RowQuery) =>
      select(sql`${inScope(kind)} AND state IN (${literals(states)})`, 'ORDER BY begun_at'),
    clock: sql`SELECT ${d.checks}`,

    insert: (row: StoreRow, revision: number, writer: string | undefined, guard: Sql) =>
      sql`INSERT INTO ${table} (scope, kind, id, state, revision, begun_at, due_at, leased_until, payment_id, data, about, writer)
        SELECT ${d.text(scope)}, ${d.word(row.kind)}, ${d.text(row.id)}, ${d.word(row.state)},
          ${String(revision)}, ${d.now}, ${newDue(row)}, ${d.moment(row.leasedUntil)},
          ${d.text(row.paymentId)}, ${d.json(row.data)}, ${d.json(row.about)}, ${d.word(writer)}
        ${d.fromNothing} WHERE ${guard} ${d.orKeep(table)}`,

    /** @param existing the stored revision */
    replace: (row: StoreRow, existing: number, guard: Sql) =>
      sql`UPDATE ${table} SET state = ${d.word(row.state)}, revision = ${d.integer(row.revision + 1)},
          begun_at = ${row.revision === 0 ? d.now : d.moment(row.begunAt)},
          due_at = ${row.revision === 0 ? newDue(row) : d.moment(row.dueAt)}, leased_until = ${d.moment(row.leasedUntil)},
          payment_id = ${d.text(row.paymentId)}, data = ${d.json(row.data)}, about = ${d.json(row.about)}
        WHERE ${at(row)} AND revision = ${d.integer(existing)} AND ${guard}`,

    /** In one state, because only then an index has their order, and MySQL locks no other rows. */
    due: (kind: RowKind, state: string, olderThan: number, limit: number) =>
      sql`SELECT ${d.columns} FROM ${table} ${d.indexed('due')}
        WHERE ${inScope(kind)} AND state = ${literals([state])} AND due_at <= ${d.ago(0)}
          AND (leased_until IS NULL OR leased_until <= ${d.ago(0)}) AND begun_at <= ${d.ago(olderThan)}
        ORDER BY due_at LIMIT ${String(limit)} FOR UPDATE SKIP LOCKED`,
    // Without the index, MySQL would read all of a small table, and wait for rows that other callers lock.
    lease: (keys: readonly RowKey[], until: number) =>
      sql`UPDATE ${table} ${d.indexed('PRIMARY')} SET revision = revision + 1, leased_until = ${d.moment(until)}
        WHERE ${join(
          keys.map(key => sql`(${at(key)})`),
          ' OR ',
        )}`,
  };
}

/** Literals, because Postgres uses a partial index only for states known when it plans the statement. */
const literals = (states: readonly string[]): string =>
  states.map(state => `'${state.replaceAll("'", "''")}'`).join(', ') || 'NULL';

/**
 * Reads a row whose columns are text, because a merchant may have changed how the driver reads other types.
 *
 * @param decode reads an id
 * @throws {ConfigurationError} without the columns
 */
export function rowOf(line: SqlRow, decode: (id: string) => string): StoreRow {
  const { kind, id, state, revision, begun, due, leased, payment, data, about } = line as Record<string, string | null>;
  if (typeof revision !== 'string' || typeof data !== 'string') throw withoutColumns();
  return {
    kind: kind as RowKind,
    id: decode(String(id)),
    state: String(state),
    revision: Number(revision),
    begunAt: Number(begun),
    ...(due !== null && { dueAt: Number(due) }),
    ...(leased !== null && { leasedUntil: Number(leased) }),
    ...(payment !== null && { paymentId: decode(String(payment)) }),
    data: JSON.parse(data),
    ...(about !== null && { about: JSON.parse(String(about)) }),
  };
}

/** Returns a row as an answer shows that it was written. */
export const writtenRow = ({ dueAt: _, ...row }: StoreRow, { begun, due }: SqlRow): StoreRow => ({
  ...row,
  revision: row.revision + 1,
  begunAt: Number(begun),
  ...(due !== null && { dueAt: Number(due) }),
});
