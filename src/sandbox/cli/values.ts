// Parses the values of options.
import { InvalidArgumentError } from 'commander';
import { isHttpUrl } from '../../schemas/url.ts';
import { DURATION, durationOf } from '../duration.ts';
import { MOVES, type MoveName } from '../ledger/moves.ts';

/** A move that the sandbox makes by itself after a create. */
export interface Auto {
  move: MoveName;
  ms: number;
}

export function httpUrl(written: string): string {
  if (isHttpUrl(written)) return written;
  throw new InvalidArgumentError('Pass an http(s) URL.');
}

/** Parses a text. The error does not show the value, because it may be a key. */
export function nonEmpty(written: string): string {
  if (written !== '') return written;
  throw new InvalidArgumentError('It must not be empty.');
}

export function time(written: string): number {
  const ms = durationOf(written);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`Pass ${DURATION}, and at most 24 days.`);
}

export const times = (written: string): number[] => written.split(',').map(one => time(one.trim()));

/** Parses a date into milliseconds since 1970. */
export function moment(written: string): number {
  const at = Date.parse(written);
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError('Pass a date such as 2026-11-21T09:00:00Z.');
}

export function moves(written: string, others: Auto[] = []): Auto[] {
  const [, name, after = ''] = /^(\w+):(.+)$/.exec(written) ?? [];
  if (!name || !Object.hasOwn(MOVES, name))
    throw new InvalidArgumentError('Pass a move and a time, such as complete:2s or fail:500ms.');
  return [...others, { move: name as MoveName, ms: time(after) }];
}
