// The SQL of one database, as the store needs it.
import type { RowKey, RowKind, RowQuery, StoreEffect, StoreRow, WithNow, Written } from '../store/contract.ts';
import type { SqlQuery, SqlRow, SqlValue } from './database.ts';
import type { Migrations } from './table.ts';

export type Statement = readonly [text: string, values?: readonly SqlValue[]];

export type Answer = WithNow<{
  row: StoreRow | undefined;
  /** Identifies the last effect in a payment's row, and in MySQL the last write of any row. */
  writer?: unknown;
}>;

/** A payment that is locked and marked as begun, and the other locked rows in any order. */
export interface Marked {
  id: string;
  writer: string;
  /** The payment's row before the mark, which has the next revision. */
  payment: StoreRow | undefined;
  rows: readonly StoreRow[];
}

export interface Dialect {
  /** Each planned payout notifies it, if the database can. */
  channel?: string;
  /** An expression for the table's full name, because a session can change its path or database. */
  fullName: string;
  migrations: Migrations;
  /** @param table its full name */
  over(table: string, scope: string): Table;
}

export interface Table extends Effects {
  /** Reads the first line. @param isAlone throws for an open transaction, too @throws for a replica, or other columns */
  answerOf(lines: readonly SqlRow[], isAlone?: boolean): Answer;
  /** This and the next two select a line also without a row. */
  read(key: RowKey): Statement;
  owner(paymentId: string): Statement;
  list(query: RowQuery): Statement;
  /** Locks rows of one state, because an index has their order only then. */
  due(kind: RowKind, state: string, olderThan: number, limit: number): Statement;
  lease(kind: RowKind, ids: readonly string[], until: number): Statement;
  /** Writes durably. @param isAlone true if no transaction may be open, false if one must be @throws {PaymentTaken} */
  write(query: SqlQuery, row: StoreRow, isAlone: boolean): Promise<Written>;
  /** Runs before the transaction of an effect, outside any. */
  prepare?(query: SqlQuery, paymentId: string): Promise<void>;
}

export interface Effects {
  /** Marks the payment as begun, without waiting for its lock. Locks the rows of `reads` in the order of their keys. */
  begin(query: SqlQuery, effect: StoreEffect): Promise<Marked | 'busy' | 'uncertain'>;
  /**
   * Writes the rows, whose payment completes the mark.
   *
   * @returns false in another transaction
   * @throws {PaymentTaken}, or `rowChanged()` if a row has another revision
   */
  complete(query: SqlQuery, marked: Marked, rows: readonly StoreRow[]): Promise<boolean>;
  /** Whether the mark's transaction has ended, which may have committed a part of the effect. */
  isEnded(query: SqlQuery, marked: Marked): Promise<boolean>;
}
