// Reads the store: one reference, or all doubts.
import type { Envelope } from '../schemas/response.ts';
import { bounded } from './change.ts';
import type { CreateEntry, Doubt, Journal, JournalRow } from './creates.ts';
import { readRow } from './key.ts';
import type { ScopedJournal } from './reports.ts';
import { isUnderWay } from './row.ts';

/** Returns the doubts, the oldest first. */
export async function doubtsIn(journal: Journal): Promise<Doubt[]> {
  const { rows, now } = await bounded(journal.list({ states: ['begun'] }));
  return rows.map(row => doubtOf(row, now));
}

/** Returns the entry of a reference and its kept payment, or undefined for an unknown reference. */
export async function findReference(
  { journal, scope }: ScopedJournal,
  reference: string,
): Promise<{ entry: CreateEntry; kept: Envelope | undefined } | undefined> {
  const { row, now } = await readRow(journal, { scope, reference });
  return row && { entry: entryOf(row, now), kept: row.result };
}

/** @param now by the store's clock, like the row's times */
export const entryOf = (row: JournalRow, now: number): CreateEntry => {
  const { state, result } = row;
  return { ...doubtOf(row, now), state, ...(result && { payment: result.payment }) };
};

const doubtOf = (row: JournalRow, now: number): Doubt => {
  const { scope, reference, paymentType, paymentMethod, amount, currency, paymentId, conflictingIds } = row;
  return {
    scope,
    reference,
    since: new Date(row.begunAt),
    ...{ paymentType, paymentMethod, amount, currency },
    ...(paymentId && { paymentId }),
    conflictingIds,
    underWay: isUnderWay(row, now),
  };
};
