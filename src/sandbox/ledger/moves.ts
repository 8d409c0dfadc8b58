// Moves payments between states, each time with a callback.
import * as z from 'zod';
import { flag, optionsReader, text } from '../../option-reader.ts';
import type { Parts } from '../parts.ts';
import type { AnyMoveOptions, CompleteOptions, FailureReason, MoveOptions } from './record.ts';

export const MOVES = {
  complete: 'COMPLETED',
  authorize: 'AUTHORIZED',
  cancel: 'CANCELED',
  fail: 'FAILED',
} as const;

export type MoveName = keyof typeof MOVES;

const force = flag.optional().describe('Also out of a final state.');
const PAID = { error: 'must be a number above 0' };
const code = z.union([z.number(), z.string()], { error: 'must be a number or a string' });

/** Also for the API and scenarios. */
export const moveFields = {
  complete: {
    amount: z.number(PAID).positive(PAID).optional().describe('The paid amount, if it is not the requested one.'),
    force,
  },
  authorize: { force },
  cancel: { force },
  fail: {
    code: code.optional().describe("A processor's code, which the gateway translates."),
    reason: text.optional().describe('A text, which passes through unchanged.'),
    force,
  },
};

const READERS: Record<MoveName, (options: object) => AnyMoveOptions> = {
  complete: optionsReader<CompleteOptions>()('sandbox.complete', moveFields.complete),
  authorize: optionsReader<MoveOptions>()('sandbox.authorize', moveFields.authorize),
  cancel: optionsReader<MoveOptions>()('sandbox.cancel', moveFields.cancel),
  fail: optionsReader<FailureReason & MoveOptions>()('sandbox.fail', moveFields.fail),
};

export function move({ ledger, callbacks, log }: Parts, id: string, name: MoveName, options: AnyMoveOptions = {}) {
  const checked = READERS[name](options);
  const { paymentStatus: from, amount: requested } = ledger.get(id);
  const record = ledger.move(id, MOVES[name], checked);
  const { id: paymentId, reference, paymentStatus, errorMessage } = record;
  const amount = record.amount === requested ? undefined : record.amount;
  log.emit({ type: 'move', paymentId, reference, from, paymentStatus, errorMessage, amount });
  if (paymentStatus !== from) callbacks.send(record, ledger.detailsOf(id).postedTo);
  return structuredClone(record);
}
