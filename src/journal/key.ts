// Which scopes and references a journal keeps: the same in every store, so that what works in memory works in production.
import { InvalidRequestError } from '../errors.ts';
import { type ProblemOf, textProblem } from '../options/store-options.ts';
import { bounded, type FoundRow, NO_ROW } from './change.ts';
import type { Journal, JournalKey } from './contract.ts';

/** Bytes of UTF-8, because a key of MySQL has room for no more. */
export const LONGEST = { scope: 255, reference: 1_020 };

/** Postgres takes no NUL. */
const fits = (text: string, most: number): boolean => Buffer.byteLength(text) <= most && !text.includes('\0');

/** For the option `scope`. */
export const scopeProblem: ProblemOf = value =>
  textProblem(value) ??
  (fits(String(value), LONGEST.scope) ? undefined : 'must have at most 255 bytes of UTF-8, and no NUL');

export const isKeepable = (reference: string): boolean => fits(reference, LONGEST.reference);

/** @throws {InvalidRequestError} before anything is written */
export function checkReference(reference: string): void {
  if (!isKeepable(reference)) throw new InvalidRequestError([UNKEEPABLE], 'not_sent');
}

const UNKEEPABLE = {
  path: 'reference',
  message: 'must have at most 1,020 bytes of UTF-8, and no NUL, to be kept in a journal',
};

/** The row of a reference. A gateway may name one that no journal keeps, and stores would fail for it every time. */
export const readRow = async (journal: Journal, key: JournalKey): Promise<FoundRow> =>
  isKeepable(key.reference) ? bounded(journal.read(key)) : NO_ROW;
