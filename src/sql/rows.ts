// The rows of a store, over the expressions of one dialect.
import { randomUUID } from 'node:crypto';
import type { DueQuery, RowKey, RowQuery, StoreEffect, StoreRow, WithNow, Written } from '../store/contract.ts';
import { emitWarning } from '../telemetry/events.ts';
import { hasChanged, type SqlDatabase, type SqlQuery, type SqlRow } from './database.ts';
import type { Begun, Dialect } from './dialect.ts';
import {
  afterWrite,
  leftOpen,
  noTransaction,
  orIgnored,
  orTaken,
  paymentTaken,
  rowChanged,
  withoutColumns,
} from './errors.ts';
import { sql as part, type Sql, send } from './sql.ts';
import { isAt, ofPayment, rowOf, type Statements, statementsOf } from './statements.ts';
import { ddlOf, migrate } from './table.ts';

/** What a store does with its rows. */
export type StoreSql = ReturnType<typeof storeSql>;

export function storeSql(d: Dialect, scope: string) {
  let resolved: Statements | undefined;
  const resolve = async (query: SqlQuery) => {
    const [line] = await query(`SELECT ${d.fullName} AS name`);
    if (typeof line?.name !== 'string') throw withoutColumns();
    return statementsOf(d, scope, line.name);
  };
  const use = async (query: SqlQuery): Promise<Statements> => {
    resolved ??= await resolve(query);
    return resolved;
  };
  const run = (query: SqlQuery, statement: Sql) => send(query, statement, d.placeOf);

  /** Returns the row of a line, if it was ever written. */
  const rowIn = (line: SqlRow): StoreRow | undefined => {
    const row = line.revision === null ? undefined : rowOf(line, d.textOf);
    return row?.revision === 0 ? undefined : row;
  };
  let isChecked = false;
  /** Returns the time of an answer. @param isAlone whether its statement was outside any transaction */
  const timeOf = ({ clock, replica, open, durable }: SqlRow, isAlone = true): number => {
    // An endless lease would block a payment permanently.
    if (typeof clock !== 'string') throw withoutColumns();
    if (isAlone && open === '1') throw leftOpen();
    // A payment that it does not know yet would be made again.
    if (replica === '1') throw new Error('The store was read from a replica: it needs the primary.');
    if (!isChecked && durable === '0') emitWarning(NOT_DURABLE);
    isChecked = true;
    return Number(clock);
  };
  const one = async (query: SqlQuery, statement: Sql, isAlone?: boolean) => {
    const [line = {}] = await run(query, statement);
    return { found: { row: rowIn(line), now: timeOf(line, isAlone) }, writer: line.writer };
  };
  const allOf = (lines: readonly SqlRow[]): StoreRow[] => lines.flatMap(line => rowIn(line) ?? []);

  /** Inserts in a separate transaction, because workers wait for an uncommitted row instead of skipping it. */
  const prepare = async (query: SqlQuery, id: string) => {
    const sql = await use(query);
    if (!d.isPrepared) return;
    const [line = {}] = await run(query, sql.read(ofPayment(id)));
    timeOf(line);
    if (line.revision === null) await run(query, sql.insert(newPayment(id), 0, undefined, d.alone));
  };

  /** @param isAlone whether it is outside any transaction, and durable @param isPrepared whether it was inserted empty */
  const write = async (query: SqlQuery, sql: Statements, row: StoreRow, isAlone: boolean, isPrepared = false) => {
    const guard = isAlone ? d.alone : await d.enter(query);
    if (!guard) throw noTransaction();
    const own = randomUUID();
    const isNew = row.revision === 0 && !isPrepared;
    const statement = isNew ? sql.insert(row, 1, own, guard) : sql.replace(row, row.revision, guard);
    const returning = isAlone ? d.returning : d.returningIn;
    const answer = await run(query, part`${statement} ${returning}`).catch(orTaken);
    const [line] = answer;
    if (returning && line) {
      // What comes next relies on it: a create is sent, or an effect never runs again.
      if (isAlone && row.state === 'begun') await d.expectCommitted(query, answer).catch(afterWrite);
      return { isWritten: true, row: rowIn(line), now: timeOf(line, false) };
    }
    const isChanged = !returning && !isNew && hasChanged(answer);
    const end = isAlone ? '' : d.lock;
    const { found, writer } = await one(query, sql.read(row, end), isAlone).catch(afterWrite);
    // Another process may already have replaced it.
    if (isChanged && !isPrepared)
      return { isWritten: true, row: { ...row, revision: row.revision + 1 }, now: found.now };
    if (isChanged || writer === own) return { isWritten: true, ...found };
    if (!found.row && row.revision === 0 && row.paymentId !== undefined) throw paymentTaken();
    if ((found.row?.revision ?? 0) === row.revision) throw isAlone ? leftOpen() : noTransaction();
    return { isWritten: false, ...found };
  };
  const alone = async (query: SqlQuery, row: StoreRow): Promise<Written> => {
    const isPrepared = d.isPrepared && row.kind === 'payment' && row.revision === 0;
    if (isPrepared) await prepare(query, row.id);
    return write(query, await use(query), row, true, isPrepared);
  };
  const read = async (query: SqlQuery, key: RowKey) => one(query, (await use(query)).read(key));

  return {
    channel: d.channel,
    async migrate(database: SqlDatabase<unknown>) {
      await migrate(database, d.migrations);
      await use((text, values) => database.query(text, values));
    },
    ddl: () => ddlOf(d.migrations),

    read: async (query: SqlQuery, key: RowKey) => (await read(query, key)).found,
    owner: async (query: SqlQuery, paymentId: string) => (await one(query, (await use(query)).owner(paymentId))).found,
    /** Writes outside any transaction, durably. @throws {PaymentTaken} */
    write: alone,
    /** Writes in the merchant's transaction. @throws {PaymentTaken} @throws {ConfigurationError} outside an open one */
    // Not kept: the merchant's connection may have another path or database.
    writeIn: async (query: SqlQuery, row: StoreRow) => write(query, resolved ?? (await resolve(query)), row, false),
    async list(query: SqlQuery, which: RowQuery): Promise<WithNow<{ rows: StoreRow[] }>> {
      const lines = await run(query, (await use(query)).list(which));
      return { rows: allOf(lines), now: timeOf(lines[0] ?? {}) };
    },

    due: (database: SqlDatabase<unknown>, { kind, states, olderThan = 0 }: DueQuery, limit: number, leaseMs: number) =>
      database.transaction(async tx => {
        const query = database.queryIn(tx);
        const sql = await use(query);
        const lines: SqlRow[] = [];
        for (const state of states) lines.push(...(await run(query, sql.due(kind, state, olderThan, limit))));
        const [clock = {}] = await run(query, sql.clock);
        const now = timeOf(clock, false);
        const leased = allOf(lines)
          .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
          .slice(0, limit)
          .map((row): StoreRow => ({ ...row, revision: row.revision + 1, leasedUntil: now + leaseMs }));
        if (leased.length > 0) await run(query, sql.lease(leased, now + leaseMs));
        return { rows: leased, now };
      }),

    /** Runs before the transaction of an effect. */
    prepare: (query: SqlQuery, { id }: StoreEffect) => prepare(query, id),
    begin: async (query: SqlQuery, effect: StoreEffect) => d.begin(query, await use(query), effect),
    /**
     * Writes the rows, and the payment's as ended.
     *
     * @returns false in another transaction than the one that began
     * @throws {PaymentTaken}
     * @throws `rowChanged()` if another row has a different revision
     */
    async complete(query: SqlQuery, begun: Begun, written: readonly StoreRow[]): Promise<boolean> {
      const isMarked = (row: RowKey) => isAt(row, ofPayment(begun.id));
      const mark = written.find(isMarked);
      const guard = await d.prove(query, begun);
      if (!guard || !mark) return false;
      const sql = await use(query);
      const writer = randomUUID();
      const others = written.filter(row => !isMarked(row));
      const statements = [
        // The mark was a write of the payment's row, which this one completes.
        sql.replace({ ...mark, about: undefined }, begun.revision, guard),
        ...others.map(row =>
          row.revision === 0 ? sql.insert(row, 1, writer, guard) : sql.replace(row, row.revision, guard),
        ),
      ];
      const [isCompleted, ...areWritten] = await d.writeAll(query, statements).catch(orTaken).catch(orIgnored);
      if (!isCompleted) return false;
      for (const [index, row] of others.entries()) {
        const isShown = d.returning !== '' || row.revision > 0;
        if (isShown && !areWritten[index]) throw rowChanged();
        if (isShown) continue;
        const now = await one(query, sql.read(row, d.lock), false);
        if (!now.found.row && row.paymentId !== undefined) throw paymentTaken();
        if (now.writer !== writer) throw rowChanged();
      }
      return true;
    },
    isEnded: (query: SqlQuery, begun: Begun) => d.isEnded(query, begun),
    /** Reads the committed mark, outside any transaction. `undefined`: the effect was rolled back. */
    async find(query: SqlQuery, begun: Begun): Promise<'done' | 'begun' | undefined> {
      const { found, writer } = await read(query, ofPayment(begun.id));
      if (writer === begun.writer) return found.row?.state === 'begun' ? 'begun' : 'done';
      // A later effect of the payment has a higher revision only if this one was committed.
      return (found.row?.revision ?? 0) > begun.revision ? 'done' : undefined;
    },
    /** Writes a mark that may have been lost, as begun. Runs outside any transaction. */
    async markUncertain(query: SqlQuery, { id, about }: StoreEffect): Promise<void> {
      for (;;) {
        const { row = newPayment(id) } = (await read(query, ofPayment(id))).found;
        if (row.state === 'begun' || (await alone(query, { ...row, state: 'begun', about })).isWritten) return;
      }
    },
  };
}

const newPayment = (id: string): StoreRow => ({ ...ofPayment(id), state: 'new', revision: 0, begunAt: 0, data: {} });

const NOT_DURABLE =
  'mysqlStore: innodb_flush_log_at_trx_commit is not 1 on this server. If it crashes, it may lose the creates of the last second, and a retry would pay them again. Set it to 1, and sync_binlog to 1 if replicas are promoted.';
