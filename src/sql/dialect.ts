// The SQL of one database, as the store needs it.
import type { RowKey, RowKind, RowQuery, StoreEffect, StoreRow, Written } from '../store/contract.ts';
import type { SqlQuery, SqlRow, SqlValue } from './database.ts';
import type { Migrations } from './table.ts';

export type Statement = readonly [text: string, values?: readonly SqlValue[]];

export interface Answer {
  /** The database's time, in milliseconds since 1970. */
  now: number;
  row: StoreRow | undefined;
  /** Identifies the last effect in a payment's row, and in MySQL the last write of any row. */
  writer?: unknown;
}

/** A payment that is locked and marked as begun, with the other rows that the effect has locked. */
export interface Marked {
  id: string;
  /** Identifies the effect in the payment's row. */
  writer: string;
  /** The payment's row before the mark, which has the next revision. */
  payment: StoreRow | undefined;
  /** In any order. */
  rows: readonly StoreRow[];
}

export interface Dialect {
  /** The channel that each planned payout notifies, if the database can. */
  readonly channel?: string;
  /** The table's full name as an expression, which a later path or database of the session does not concern. */
  readonly fullName: string;
  readonly migrations: Migrations;
  /** Makes the SQL of one scope. @param table its full name */
  over(table: string, scope: string): Table;
}

/** The SQL of one scope of a table. Each function gets the query of a session, which decides about the transaction. */
export interface Table extends Effects {
  /**
   * Reads the first line, by default of a statement outside any transaction.
   *
   * @throws {ConfigurationError} in an open one, or for a line without the columns of the statement
   * @throws for a replica
   */
  answerOf(lines: readonly SqlRow[], isAlone?: boolean): Answer;
  /** These select one line each, also without a row. */
  read(key: RowKey): Statement;
  owner(paymentId: string): Statement;
  list(query: RowQuery): Statement;
  /** Selects and locks rows of one state, because only then an index has their order. */
  due(kind: RowKind, state: string, olderThan: number, limit: number): Statement;
  lease(kind: RowKind, ids: readonly string[], until: number): Statement;

  /**
   * Writes durably, in a transaction of its own or in one that is open.
   *
   * @param isAlone true if no transaction may be open, false if one must be
   * @throws {PaymentTaken}
   * @throws {ConfigurationError} if the database finds otherwise
   */
  write(query: SqlQuery, row: StoreRow, isAlone: boolean): Promise<Written>;

  /** Runs before the transaction of an effect, outside any. */
  prepare?(query: SqlQuery, paymentId: string): Promise<void>;
}

/** The transaction of an effect. */
export interface Effects {
  /**
   * Locks the payment until the end of the transaction, and marks it as begun. Never waits for another worker with it.
   * Also locks and reads the rows of the effect's `reads`, in the order of their keys.
   */
  begin(query: SqlQuery, effect: StoreEffect): Promise<Marked | 'busy' | 'uncertain'>;
  /**
   * Writes the rows. The payment's row completes the mark.
   *
   * @returns false in another transaction than that of the mark
   * @throws {PaymentTaken}
   * @throws `rowChanged()` if another row has a different revision
   */
  complete(query: SqlQuery, marked: Marked, rows: readonly StoreRow[]): Promise<boolean>;
  /** Checks whether the mark's transaction has ended, which may have left a part of the effect. */
  isEnded(query: SqlQuery, marked: Marked): Promise<boolean>;
}
