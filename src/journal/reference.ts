// Which references a journal keeps: the same in every store, so that what works in memory works in production.
import { InvalidRequestError } from '../errors.ts';
import { bounded, type Found } from './change.ts';
import type { Journal, JournalKey } from './contract.ts';

/** Bytes of UTF-8, because a key of MySQL has room for no more. */
const LONGEST = 1_020;

/** Postgres takes no NUL. */
export const isKeepable = (reference: string): boolean =>
  Buffer.byteLength(reference) <= LONGEST && !reference.includes('\0');

/** @throws {InvalidRequestError} before anything is written */
export function checkReference(reference: string): void {
  if (!isKeepable(reference)) throw new InvalidRequestError([UNKEEPABLE], 'not_sent');
}

const UNKEEPABLE = {
  path: 'reference',
  message: 'must have at most 1,020 bytes of UTF-8, and no NUL, to be kept in a journal',
};

/** The row of a reference. A gateway may name one that no journal keeps, and stores would fail for it every time. */
export const readRow = async (journal: Journal, key: JournalKey): Promise<Found> =>
  isKeepable(key.reference) ? bounded(journal.read(key)) : { now: 0 };
