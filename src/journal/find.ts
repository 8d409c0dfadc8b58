// Reads the journal: one reference, all doubts, and plans that no process drains.
import type { Envelope } from '../schemas/response.ts';
import { bounded } from './change.ts';
import type { Doubt, Journal, JournalEntry, JournalRow } from './contract.ts';
import { readRow } from './key.ts';
import type { ScopedJournal } from './reports.ts';
import { isUnderWay } from './row.ts';

/** Returns the doubts of a scope, or of all scopes, the oldest first. */
export async function doubtsIn(journal: Journal, scope: string | undefined): Promise<Doubt[]> {
  const { rows, now } = await bounded(journal.list({ scope, states: ['begun'] }));
  return rows.map(row => doubtOf(row, now));
}

/** Returns a reference's entries from all scopes without its payment. Rows with payments are too many to scan. */
export async function findUnpaid(journal: Journal, reference: string): Promise<JournalEntry[]> {
  const { rows, now } = await bounded(journal.list({ states: ['begun', 'planned', 'freed'] }));
  return rows.filter(row => row.reference === reference).map(row => entryOf(row, now));
}

/** Milliseconds overdue until a scope counts as not drained. */
const LONG_DUE = 600_000;

/** Returns the scopes whose plans no process drains, if this scope has no plans: its name may be mistyped. */
export async function undrainedScopes({ journal, scope }: ScopedJournal): Promise<string[]> {
  const { rows, now } = await bounded(journal.list({ states: ['planned'] }));
  if (rows.some(row => row.scope === scope)) return [];
  const isLeft = ({ dueAt = now, leasedUntil = 0 }: JournalRow) => dueAt + LONG_DUE < now && leasedUntil < now;
  return [...new Set(rows.filter(isLeft).map(row => row.scope))];
}

/** Returns the entry of a reference and its kept payment, or undefined for an unknown reference. */
export async function findReference(
  { journal, scope }: ScopedJournal,
  reference: string,
): Promise<{ entry: JournalEntry; kept: Envelope | undefined } | undefined> {
  const { row, now } = await readRow(journal, { scope, reference });
  return row && { entry: entryOf(row, now), kept: row.result };
}

/** @param now by the store's clock, like the row's times */
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
