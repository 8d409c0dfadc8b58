// The answers of a store's statements.
import type { RowKey, StoreRow, Written } from '../store/contract.ts';
import type { Answer } from './dialect.ts';
import { leftOpen, noTransaction } from './errors.ts';

/** @param isOpen whether the session is in a transaction that other code began */
export function checkSession(isReplica: boolean, isOpen: boolean) {
  if (isOpen) throw leftOpen();
  // A retry would make a payment again that the replica does not know yet.
  if (isReplica) throw new Error('The store was read from a replica: it needs the primary.');
}

export function notWritten({ row, now }: Answer, revision: number, isAlone: boolean): Written {
  if ((row?.revision ?? 0) === revision) throw isAlone ? leftOpen() : noTransaction();
  return { isWritten: false, row, now };
}

export const ofPayment = (id: string): RowKey => ({ kind: 'payment', id });

export const newPayment = (id: string): StoreRow => ({
  ...ofPayment(id),
  ...{ state: 'new', revision: 0, begunAt: 0, data: {} },
});

export const isAt = (row: RowKey, { kind, id }: RowKey) => row.kind === kind && row.id === id;

/** As literals, because Postgres uses a partial index only for states that it knows when it plans. */
export const literals = (words: readonly string[]) =>
  words.map(word => `'${word.replaceAll("'", "''")}'`).join(', ') || 'NULL';
