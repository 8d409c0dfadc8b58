// Reads a row of a store from a line of an answer.
import type { RowKind, StoreRow } from '../store/contract.ts';
import { type SqlRow, withoutColumns } from './database.ts';

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
