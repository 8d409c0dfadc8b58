// Parses the values of --auto.
import { InvalidArgumentError } from 'commander';
import { MOVES, type MoveName } from '../ledger/moves.ts';
import { durationOf } from '../text/duration.ts';

export interface Auto {
  move: MoveName;
  ms: number;
}

export function moves(written: string, others: Auto[] = []): Auto[] {
  const [, name = '', after = ''] = /^(\w+):(.+)$/.exec(written) ?? [];
  const ms = durationOf(after);
  if (Object.hasOwn(MOVES, name) && ms !== undefined) return [...others, { move: name as MoveName, ms }];
  throw new InvalidArgumentError('Pass a move and a time, such as complete:2s or fail:500ms.');
}
