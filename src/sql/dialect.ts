// The differences between Postgres and MySQL, as the store needs them.
import type { LockedRows, RowKey, StoreEffect } from '../store/contract.ts';
import type { SqlQuery, SqlRow } from './database.ts';
import type { Sql } from './sql.ts';
import type { Migrations } from './table.ts';

/** Identifies the mark of a running effect. */
export interface Begun {
  /** The payment's id. */
  id: string;
  /** Identifies the effect in the payment's row. */
  writer: string;
  /** The revision of the mark. */
  revision: number;
}

/** A scope of a table. */
interface ScopedTable {
  /** Its full name. */
  readonly table: string;
  readonly scope: string;
  /** Returns the condition of one row. */
  at(key: RowKey): Sql;
}

/** The rows that an effect has locked. */
export type Locked = Omit<LockedRows<unknown>, 'tx'>;

export interface Dialect {
  /** The channel that each planned payout notifies, if the database can. */
  readonly channel?: string;
  /** Runs a statement with the database's placeholders. */
  send(query: SqlQuery, statement: Sql): Promise<readonly SqlRow[]>;
  /** The table's full name as an expression, which a later path or database of the session does not concern. */
  readonly fullName: string;
  readonly migrations: Migrations;

  /** A word of the SDK's own. */
  word(value: string | undefined): Sql;
  text(value: string | undefined): Sql;
  integer(value: number): Sql;
  json(value: object | undefined): Sql;
  /** @param ms since 1970 */
  moment(ms: number | undefined): Sql;
  /** The moment that many milliseconds ago, constant within a statement. */
  ago(ms: number): Sql;
  readonly now: string;
  /** Selects the `clock`, whether the server is a `replica` and `durable`, and the session in an `open` transaction. */
  readonly checks: string;
  /** Selects the columns of a row, and its `writer`. */
  readonly columns: string;
  /** Reads an id, as `columns` selects it. */
  textOf(id: string): string;
  /** Names an index after its table. */
  indexed(name: string): string;
  /** The FROM of a SELECT without a table. */
  readonly fromNothing: string;
  /** The end of an INSERT that leaves an existing row unchanged. */
  orKeep(table: string): string;
  /** The end of a write that returns the `clock` and the times of the row, if the database can. */
  readonly returning: string;
  /** The same in the merchant's transaction. */
  readonly returningIn: string;
  /** The end of a SELECT that sees the newest row, also in the merchant's transaction. */
  readonly lock: string;

  /** The condition of a durable write that the session commits by itself. */
  readonly alone: Sql;
  /** Throws unless a write that was returned is committed. */
  expectCommitted(query: SqlQuery, written: readonly SqlRow[]): Promise<void>;
  /** Returns the condition of durable writes in an open transaction, or undefined outside one. */
  enter(query: SqlQuery): Promise<Sql | undefined>;

  /** Whether the row of a payment must exist before its effect. */
  readonly isPrepared: boolean;
  /**
   * Locks the payment until the end of the transaction, and marks it as begun. Never waits for another worker with it.
   * Also locks and reads the rows of the effect's `reads`, in the order of their keys.
   */
  begin(
    query: SqlQuery,
    scoped: ScopedTable,
    effect: StoreEffect,
  ): Promise<(Locked & { begun: Begun }) | 'busy' | 'uncertain'>;
  /** Returns the condition of writes in the transaction of the mark, or undefined if that is known to have ended. */
  prove(query: SqlQuery, begun: Begun): Promise<Sql | undefined>;
  /**
   * Runs writes in the transaction of the mark.
   *
   * @returns whether each has changed its row. In MySQL only the `writer` of the row shows an INSERT
   */
  writeAll(query: SqlQuery, statements: readonly Sql[]): Promise<readonly boolean[]>;
  /** Checks whether the mark's transaction has ended, which may have left a part of the effect. */
  isEnded(query: SqlQuery, begun: Begun): Promise<boolean>;
}
