// Writes and reads the rows of a store in MySQL: each value of a statement is text, and each text of a merchant's is hex.
import { type SqlRow, type SqlValue, withoutColumns } from '../sql/database.ts';
import type { RowKey, StoreRow } from '../store/contract.ts';
import { LONGEST } from '../store/key.ts';
import { asciiHex, hex, textOf } from './table.ts';

/** The values of a scope's rows, in the order of the placeholders. */
export function valuesIn(scope: string) {
  const inScope = hex(scope, 'scope', LONGEST.scope);
  const keyOf = ({ kind, id }: RowKey): SqlValue[] => [inScope, kind, hex(id, `${kind}'s id`, LONGEST.reference)];
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
  paymentId === undefined ? null : paymentHex(paymentId),
  asciiHex(data),
  about === undefined ? null : asciiHex(about),
];

export const paymentHex = (paymentId: string): string => hex(paymentId, 'payment id', 64);

/** The key of a payment's row. */
export const ofPayment = (id: string): RowKey => ({ kind: 'payment', id });

export const nameOf = ({ kind, id }: RowKey): string => `${kind} ${id}`;

/** Reads a line, also of a row that was only prepared. @throws {ConfigurationError} without its columns */
export function lineOf(line: SqlRow): StoreRow {
  const { id, kind, state, revision, begun, due, leased, payment, data, about } = line as Record<string, string | null>;
  if (typeof revision !== 'string' || typeof data !== 'string') throw withoutColumns();
  return {
    kind: kind as RowKey['kind'],
    id: textOf(id),
    state: String(state),
    revision: Number(revision),
    begunAt: Number(begun),
    ...(due !== null && { dueAt: Number(due) }),
    ...(leased !== null && { leasedUntil: Number(leased) }),
    ...(payment !== null && { paymentId: textOf(payment) }),
    data: JSON.parse(data),
    ...(about !== null && { about: JSON.parse(String(about)) }),
  };
}

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
