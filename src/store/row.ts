// Makes the row of a create and reads its parts.
import { isSamePayment } from '../schemas/id.ts';
import type { JournalKey, JournalRequest, JournalRow } from './creates.ts';

/** The next row; absent if nothing changes. */
export interface RowChange {
  next?: JournalRow | undefined;
}

/** A create that is about to be sent. */
export interface JournalAttempt extends JournalKey, JournalRequest {
  attemptId: string;
  timeoutMs: number;
  /** The order that it is an attempt of. */
  order?: string | undefined;
}

/** The first row of an attempt. */
export const newRow = (
  { scope, reference, paymentType, paymentMethod, amount, currency, bodyHash, ...rest }: JournalAttempt,
  now: number,
): JournalRow => ({
  scope,
  reference,
  state: 'begun',
  attemptId: rest.attemptId,
  begunAt: now,
  timeoutMs: rest.timeoutMs,
  paymentType,
  paymentMethod,
  amount,
  currency,
  bodyHash,
  ...(rest.order && { order: rest.order }),
  conflictingIds: [],
  looks: 0,
  revision: 1,
});

/** The row of an attempt in the place of an earlier one, which may have paid. */
export const nextRow = (
  { revision, isRetry, paidBy }: JournalRow,
  attempt: JournalAttempt,
  now: number,
): JournalRow => ({
  ...newRow(attempt, now),
  ...(isRetry && { isRetry }),
  ...(paidBy && { paidBy }),
  revision,
});

/** Whether the row belongs to this attempt and is unchanged since it began. */
export const isUntouched = (row: JournalRow, { attemptId }: JournalAttempt): boolean =>
  row.attemptId === attemptId && isWithoutPayment(row);

/** The row, due for a sweep. */
export const due = (row: JournalRow): JournalRow => ({ ...row, dueAt: row.dueAt ?? row.begunAt });

/** The row, no longer due for a sweep. */
export function notDue({ dueAt, leasedUntil, ...row }: JournalRow): JournalRow {
  return row;
}

/** The ids that a row in doubt knows. Its own id comes first. */
export const knownIds = ({ paymentId, conflictingIds }: JournalRow): string[] => [
  ...(paymentId ? [paymentId] : []),
  ...conflictingIds,
];

/** Whether the create may still run: it has not ended, and its timeout has not passed. @param now by the store's clock */
export const isUnderWay = (row: JournalRow, now: number): boolean =>
  row.state === 'begun' && !row.isEnded && row.begunAt + row.timeoutMs >= now;

/** Whether the row is in doubt without any reported id. */
export const isWithoutPayment = (row: JournalRow): boolean => row.state === 'begun' && knownIds(row).length === 0;

export function withoutIds(row: JournalRow, ids: readonly string[]): JournalRow {
  const isOut = (id: string) => ids.some(out => isSamePayment(out, id));
  const { paymentId, ...rest } = row;
  const conflictingIds = row.conflictingIds.filter(id => !isOut(id));
  return { ...rest, ...(paymentId && !isOut(paymentId) && { paymentId }), conflictingIds };
}

/** The row with the id added to its conflicting ids, unless the row knows the id already. */
export function withConflict(row: JournalRow, id: string): JournalRow {
  const isKnown = knownIds(row).some(known => isSamePayment(known, id));
  return isKnown ? row : due({ ...row, conflictingIds: [...row.conflictingIds, id] });
}
