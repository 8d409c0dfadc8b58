// The answers of a store's statements.
import type { RowKey, StoreRow, WithNow, Written } from '../store/contract.ts';
import type { SqlRow } from './database.ts';
import type { Answer, Table } from './dialect.ts';
import { leftOpen, noTransaction } from './errors.ts';

/** The row that was read, if it exists. */
export type Found = WithNow<{ row: StoreRow | undefined }>;

type Reader = Pick<Table, 'answerOf'>;

export function foundIn(reader: Reader, lines: readonly SqlRow[], isAlone = true): Found {
  const { row, now } = checkedIn(reader, lines, isAlone);
  return { row, now };
}

export const rowsIn = ({ answerOf }: Reader, lines: readonly SqlRow[]): StoreRow[] =>
  lines.flatMap(line => answerOf(line).row ?? []);

/** @param isAlone whether the statement was outside any transaction */
export function checkedIn({ answerOf }: Reader, [line]: readonly SqlRow[], isAlone = true): Answer {
  const answer = answerOf(line);
  if (isAlone && answer.isOpen) throw leftOpen();
  // A payment that it does not know yet would be made again.
  if (answer.isReplica) throw new Error('The store was read from a replica: it needs the primary.');
  return answer;
}

/** The result of a write that has changed no row. @param found the row now stored */
export function notWritten(found: Found, row: StoreRow, isAlone: boolean): Written {
  if ((found.row?.revision ?? 0) === row.revision) throw isAlone ? leftOpen() : noTransaction();
  return { isWritten: false, ...found };
}

/** The key of a payment's row. */
export const ofPayment = (id: string): RowKey => ({ kind: 'payment', id });

export const newPayment = (id: string): StoreRow => ({
  ...ofPayment(id),
  ...{ state: 'new', revision: 0, begunAt: 0, data: {} },
});

export const isAt = (row: RowKey, { kind, id }: RowKey): boolean => row.kind === kind && row.id === id;

/** Words of the SDK's own as literals, because Postgres uses a partial index only for states known when it plans. */
export const literals = (words: readonly string[]): string =>
  words.map(word => `'${word.replaceAll("'", "''")}'`).join(', ') || 'NULL';
