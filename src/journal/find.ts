// Reads what a journal knows: of one reference, and of all that are in doubt.
import type { Envelope } from '../schemas/response.ts';
import { bounded } from './change.ts';
import type { Doubt, Journal, JournalEntry, JournalRow } from './contract.ts';
import { readRow } from './key.ts';
import type { ScopedJournal } from './reports.ts';
import { isUnderWay } from './row.ts';

/** The doubts of a scope, or of all scopes, the oldest first. */
export async function doubtsIn(journal: Journal, scope: string | undefined): Promise<Doubt[]> {
  const { rows, now } = await bounded(journal.list({ scope, states: ['begun'] }));
  return rows.map(row => doubtOf(row, now));
}

/** What the journal knows of a reference, and what it keeps of its payment; undefined if it does not know it. */
export async function findReference(
  { journal, scope }: ScopedJournal,
  reference: string,
): Promise<{ entry: JournalEntry; kept: Envelope | undefined } | undefined> {
  const { row, now } = await readRow(journal, { scope, reference });
  return row && { entry: entryOf(row, now), kept: row.result };
}

/** @param now by the store's clock, as the row's times are */
export const entryOf = (row: JournalRow, now: number): JournalEntry => {
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
