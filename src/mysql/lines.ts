// Writes and reads the rows of a store in MySQL: each value of a statement is text, and each text of a merchant's is hex.
import { type SqlRow, type SqlValue, withoutColumns } from '../sql/database.ts';
import { rowOf } from '../sql/line.ts';
import type { RowKey, StoreRow } from '../store/contract.ts';
import { asciiHex, hex, textOf } from './table.ts';

/** The values of a scope's rows, in the order of the placeholders. */
export function valuesIn(scope: string) {
  const inScope = hex(scope);
  const keyOf = ({ kind, id }: RowKey): SqlValue[] => [inScope, kind, hex(id)];
  return {
    inScope,
    keyOf,
    /** Of an INSERT. */
    inserted: (row: Omit<StoreRow, 'begunAt'>, revision: number, writer: string | null): SqlValue[] => [
      ...keyOf(row),
      row.state,
      textOrNull(row.dueAt),
      ...restOf(row),
      writer,
      String(revision),
    ],
    /** Of an UPDATE. @param existing the stored revision */
    replaced: (row: StoreRow, existing = row.revision): SqlValue[] => [
      row.state,
      String(row.revision + 1),
      ...(row.revision === 0 ? [] : [String(row.begunAt)]),
      textOrNull(row.dueAt),
      ...restOf(row),
      ...keyOf(row),
      String(existing),
    ],
  };
}

const textOrNull = (value: number | undefined): string | null => (value === undefined ? null : String(value));

const restOf = ({ leasedUntil, paymentId, data, about }: Omit<StoreRow, 'begunAt'>): SqlValue[] => [
  textOrNull(leasedUntil),
  paymentId === undefined ? null : hex(paymentId),
  asciiHex(data),
  about === undefined ? null : asciiHex(about),
];

/** The key of a payment's row. */
export const ofPayment = (id: string): RowKey => ({ kind: 'payment', id });

export const nameOf = ({ kind, id }: RowKey): string => `${kind} ${id}`;

/** Reads a line, also of a row that was only prepared. @throws {ConfigurationError} without its columns */
export const lineOf = (line: SqlRow): StoreRow => rowOf(line, textOf);

/** Returns the row of a line, if it was ever written. */
export function rowIn(line: SqlRow | undefined): StoreRow | undefined {
  const row = line && lineOf(line);
  return row?.revision === 0 ? undefined : row;
}

export const rowsIn = (lines: readonly SqlRow[]): StoreRow[] => lines.flatMap(line => rowIn(line) ?? []);

/** @throws {ConfigurationError} without a time: an endless lease would block a payment permanently */
export function clockOf({ clock }: SqlRow): number {
  if (typeof clock === 'string') return Number(clock);
  throw withoutColumns();
}
