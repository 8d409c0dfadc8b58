// Limits scopes and references alike in every store, so that tests in memory match production.
import type { ProblemOf } from './options.ts';

/** Bytes of UTF-8: MySQL limits the length of a key. */
export const LONGEST = { scope: 255, reference: 1_020 };

/** Postgres rejects NUL in text. */
const fits = (text: string, most: number): boolean => Buffer.byteLength(text) <= most && !text.includes('\0');

export const scopeProblem: ProblemOf = value => {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  return fits(value, LONGEST.scope) ? undefined : 'must have at most 255 bytes of UTF-8 and no NUL';
};

export const isKeepable = (reference: string): boolean => fits(reference, LONGEST.reference);
