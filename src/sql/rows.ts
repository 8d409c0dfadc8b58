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
import { sql as part, type Sql } from './sql.ts';
import { isAt, ofPayment, rowOf, type Statements, statementsOf, writtenRow } from './statements.ts';
import { ddlOf, migrate } from './table.ts';

/** The rows of one scope. Each method gets the query of a session, which decides about the transaction. */
export class Rows {
  readonly channel: string | undefined;
  readonly #dialect: Dialect;
  readonly #scope: string;
  #statements: Statements | undefined;
  #isChecked = false;

  constructor(dialect: Dialect, scope: string) {
    this.channel = dialect.channel;
    this.#dialect = dialect;
    this.#scope = scope;
  }

  async migrate(database: SqlDatabase<unknown>): Promise<void> {
    await migrate(database, this.#dialect.migrations);
    await this.#use((text, values) => database.query(text, values));
  }

  ddl(): string {
    return ddlOf(this.#dialect.migrations);
  }

  async read(query: SqlQuery, key: RowKey): Promise<Found> {
    return (await this.#read(query, key)).found;
  }

  async owner(query: SqlQuery, paymentId: string): Promise<Found> {
    return (await this.#one(query, (await this.#use(query)).owner(paymentId))).found;
  }

  async list(query: SqlQuery, which: RowQuery): Promise<WithNow<{ rows: StoreRow[] }>> {
    const lines = await this.#run(query, (await this.#use(query)).list(which));
    return { rows: this.#all(lines), now: this.#timeOf(lines[0] ?? {}) };
  }

  /** Leases rows in a separate transaction. */
  due(database: SqlDatabase<unknown>, { kind, states, olderThan = 0 }: DueQuery, limit: number, leaseMs: number) {
    return database.transaction(async (tx): Promise<WithNow<{ rows: StoreRow[] }>> => {
      const query = database.queryIn(tx);
      const sql = await this.#use(query);
      const lines: SqlRow[] = [];
      for (const state of states) lines.push(...(await this.#run(query, sql.due(kind, state, olderThan, limit))));
      const [clock = {}] = await this.#run(query, sql.clock);
      const now = this.#timeOf(clock, false);
      const rows = this.#all(lines)
        .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
        .slice(0, limit)
        .map(row => ({ ...row, revision: row.revision + 1, leasedUntil: now + leaseMs }));
      if (rows.length > 0) await this.#run(query, sql.lease(rows, now + leaseMs));
      return { rows, now };
    });
  }

  /** Writes outside any transaction, durably. @throws {PaymentTaken} */
  async write(query: SqlQuery, row: StoreRow): Promise<Written> {
    const isPrepared = this.#dialect.isPrepared && row.kind === 'payment' && row.revision === 0;
    if (isPrepared) await this.prepare(query, row);
    return this.#write(query, await this.#use(query), row, true, isPrepared);
  }

  /** Writes in the merchant's transaction. @throws {PaymentTaken} @throws {ConfigurationError} outside an open one */
  async writeIn(query: SqlQuery, row: StoreRow): Promise<Written> {
    // Not kept: the merchant's connection may have another path or database.
    return this.#write(query, this.#statements ?? (await this.#resolve(query)), row, false);
  }

  /**
   * Runs before the transaction of an effect. It inserts the payment's row if the dialect needs that, because workers
   * wait for an uncommitted row instead of skipping it.
   */
  async prepare(query: SqlQuery, { id }: Pick<StoreEffect, 'id'>): Promise<void> {
    const sql = await this.#use(query);
    if (!this.#dialect.isPrepared) return;
    const [line = {}] = await this.#run(query, sql.read(ofPayment(id)));
    this.#timeOf(line);
    if (line.revision === null) {
      await this.#run(query, sql.insert(newPayment(id), 0, undefined, this.#dialect.alone));
    }
  }

  async begin(query: SqlQuery, effect: StoreEffect): ReturnType<Dialect['begin']> {
    return this.#dialect.begin(query, await this.#use(query), effect);
  }

  /**
   * Writes the rows, and the payment's as ended.
   *
   * @returns false in another transaction than the one that began
   * @throws {PaymentTaken}
   * @throws `rowChanged()` if another row has a different revision
   */
  async complete(query: SqlQuery, begun: Begun, written: readonly StoreRow[]): Promise<boolean> {
    const { returning, lock } = this.#dialect;
    const isMarked = (row: RowKey) => isAt(row, ofPayment(begun.id));
    const mark = written.find(isMarked);
    const guard = await this.#dialect.prove(query, begun);
    if (!guard || !mark) return false;
    const sql = await this.#use(query);
    const writer = randomUUID();
    const others = written.filter(row => !isMarked(row));
    const statements = [
      // The mark was a write of the payment's row, which this one completes.
      sql.replace({ ...mark, about: undefined }, begun.revision, guard),
      ...others.map(row =>
        row.revision === 0 ? sql.insert(row, 1, writer, guard) : sql.replace(row, row.revision, guard),
      ),
    ];
    const [isCompleted, ...areWritten] = await this.#dialect
      .writeAll(query, statements)
      .catch(orTaken)
      .catch(orIgnored);
    if (!isCompleted) return false;
    for (const [index, row] of others.entries()) {
      const isShown = returning !== '' || row.revision > 0;
      if (isShown && !areWritten[index]) throw rowChanged();
      if (isShown) continue;
      const now = await this.#one(query, sql.read(row, lock), false);
      if (!now.found.row && row.paymentId !== undefined) throw paymentTaken();
      if (now.writer !== writer) throw rowChanged();
    }
    return true;
  }

  isEnded(query: SqlQuery, begun: Begun): Promise<boolean> {
    return this.#dialect.isEnded(query, begun);
  }

  /** Reads the committed mark, outside any transaction. `undefined`: the effect was rolled back. */
  async find(query: SqlQuery, begun: Begun): Promise<'done' | 'begun' | undefined> {
    const { found, writer } = await this.#read(query, ofPayment(begun.id));
    if (writer === begun.writer) return found.row?.state === 'begun' ? 'begun' : 'done';
    // A later effect of the payment has a higher revision only if this one was committed.
    return (found.row?.revision ?? 0) > begun.revision ? 'done' : undefined;
  }

  /** Writes a mark that may have been lost, as begun. Runs outside any transaction. */
  async markUncertain(query: SqlQuery, { id, about }: StoreEffect): Promise<void> {
    for (;;) {
      const { row = newPayment(id) } = await this.read(query, ofPayment(id));
      if (row.state === 'begun' || (await this.write(query, { ...row, state: 'begun', about })).isWritten) return;
    }
  }

  /** @param isAlone whether it is outside any transaction @param isPrepared whether it was inserted empty */
  async #write(
    query: SqlQuery,
    sql: Statements,
    row: StoreRow,
    isAlone: boolean,
    isPrepared = false,
  ): Promise<Written> {
    const d = this.#dialect;
    const guard = isAlone ? d.alone : await d.enter(query);
    if (!guard) throw noTransaction();
    const own = randomUUID();
    const isNew = row.revision === 0 && !isPrepared;
    const statement = isNew ? sql.insert(row, 1, own, guard) : sql.replace(row, row.revision, guard);
    const returning = isAlone ? d.returning : d.returningIn;
    const answer = await this.#run(query, part`${statement} ${returning}`).catch(orTaken);
    const [line] = answer;
    if (returning && line) {
      // The next step relies on it: a create is sent, or an effect never runs again.
      if (isAlone && row.state === 'begun') await d.expectCommitted(query, answer).catch(afterWrite);
      return { isWritten: true, row: writtenRow(row, line), now: this.#timeOf(line, false) };
    }
    const isChanged = !returning && !isNew && hasChanged(answer);
    const end = isAlone ? '' : d.lock;
    const { found, writer } = await this.#one(query, sql.read(row, end), isAlone).catch(afterWrite);
    // Another process may already have replaced it.
    if (isChanged && !isPrepared)
      return { isWritten: true, row: { ...row, revision: row.revision + 1 }, now: found.now };
    if (isChanged || writer === own) return { isWritten: true, ...found };
    if (!found.row && row.revision === 0 && row.paymentId !== undefined) throw paymentTaken();
    if ((found.row?.revision ?? 0) === row.revision) throw isAlone ? leftOpen() : noTransaction();
    return { isWritten: false, ...found };
  }

  async #use(query: SqlQuery): Promise<Statements> {
    this.#statements ??= await this.#resolve(query);
    return this.#statements;
  }

  async #resolve(query: SqlQuery): Promise<Statements> {
    const [line] = await query(`SELECT ${this.#dialect.fullName} AS name`);
    if (typeof line?.name !== 'string') throw withoutColumns();
    return statementsOf(this.#dialect, this.#scope, line.name);
  }

  #run(query: SqlQuery, statement: Sql): Promise<readonly SqlRow[]> {
    return this.#dialect.send(query, statement);
  }

  async #read(query: SqlQuery, key: RowKey) {
    return this.#one(query, (await this.#use(query)).read(key));
  }

  async #one(query: SqlQuery, statement: Sql, isAlone?: boolean) {
    const [line = {}] = await this.#run(query, statement);
    const found: Found = { row: this.#rowIn(line), now: this.#timeOf(line, isAlone) };
    return { found, writer: line.writer };
  }

  /** Returns the row of a line, if it was ever written. */
  #rowIn(line: SqlRow): StoreRow | undefined {
    const row = line.revision === null ? undefined : rowOf(line, this.#dialect.textOf);
    return row?.revision === 0 ? undefined : row;
  }

  #all(lines: readonly SqlRow[]): StoreRow[] {
    return lines.flatMap(line => this.#rowIn(line) ?? []);
  }

  /** Returns the time of an answer. @param isAlone whether its statement was outside any transaction */
  #timeOf({ clock, replica, open, durable }: SqlRow, isAlone = true): number {
    // An endless lease would block a payment permanently.
    if (typeof clock !== 'string') throw withoutColumns();
    if (isAlone && open === '1') throw leftOpen();
    // A payment that it does not know yet would be made again.
    if (replica === '1') throw new Error('The store was read from a replica: it needs the primary.');
    if (!this.#isChecked && durable === '0') emitWarning(NOT_DURABLE);
    this.#isChecked = true;
    return Number(clock);
  }
}

type Found = WithNow<{ row?: StoreRow | undefined }>;

const newPayment = (id: string): StoreRow => ({ ...ofPayment(id), state: 'new', revision: 0, begunAt: 0, data: {} });

const NOT_DURABLE =
  'mysqlStore: innodb_flush_log_at_trx_commit is not 1 on this server. If it crashes, it may lose the creates of the last second, and a retry would pay them again. Set it to 1, and sync_binlog to 1 if replicas are promoted.';
