// The answers of a store's statements.
import type { RowKey, StoreRow, Written } from '../store/contract.ts';
import type { SqlRow } from './database.ts';
import type { Answer, Table } from './dialect.ts';
import { leftOpen, noTransaction } from './errors.ts';

export const rowsIn = ({ answerOf }: Table, lines: readonly SqlRow[]): StoreRow[] =>
  lines.flatMap(line => answerOf([line], false).row ?? []);

/** Checks the session of an answer. @param isOpen whether it is in a transaction that other code began */
export function checkSession(isReplica: boolean, isOpen: boolean): void {
  if (isOpen) throw leftOpen();
  // A payment that it does not know yet would be made again.
  if (isReplica) throw new Error('The store was read from a replica: it needs the primary.');
}

/** The result of a write that has changed no row. @param stored the row now stored */
export function notWritten({ row: stored, now }: Answer, row: StoreRow, isAlone: boolean): Written {
  if ((stored?.revision ?? 0) === row.revision) throw isAlone ? leftOpen() : noTransaction();
  return { isWritten: false, row: stored, now };
}

export const ofPayment = (id: string): RowKey => ({ kind: 'payment', id });

export const newPayment = (id: string): StoreRow => ({
  ...ofPayment(id),
  ...{ state: 'new', revision: 0, begunAt: 0, data: {} },
});

export const isAt = (row: RowKey, { kind, id }: RowKey): boolean => row.kind === kind && row.id === id;

/** Words of the SDK's own as literals, because Postgres uses a partial index only for states known when it plans. */
export const literals = (words: readonly string[]): string =>
  words.map(word => `'${word.replaceAll("'", "''")}'`).join(', ') || 'NULL';
