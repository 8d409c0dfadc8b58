// Moves payments between states, each time with a callback.
import * as z from 'zod';
import { flag, optionsReader, text } from '../../option-reader.ts';
import type { PaymentStatus } from '../../schemas/methods.ts';
import type { Parts } from '../parts.ts';
import { errorMessageOf } from './ledger.ts';
import type { FailureReason } from './record.ts';

/** The options of a move. */
export interface MoveOptions {
  /** Moves the payment even out of a final state. */
  force?: boolean | undefined;
}

/** The options of `complete`. */
export interface CompleteOptions extends MoveOptions {
  /** The paid amount, if it is not the requested one. */
  amount?: number | undefined;
}

/** The moves, each with the state that it leads to. */
export const MOVES = {
  complete: 'COMPLETED',
  authorize: 'AUTHORIZED',
  cancel: 'CANCELED',
  fail: 'FAILED',
} as const satisfies Record<string, PaymentStatus>;

export type MoveName = keyof typeof MOVES;

const force = flag.optional().describe('Also out of a final state.');
const PAID = { error: 'must be a number above 0' };
const CODE = { error: 'must be a number or a string' };

/** The options of each move, also for the API and scenarios. */
export const moveFields = {
  complete: {
    amount: z.number(PAID).positive(PAID).optional().describe('The paid amount, if it is not the requested one.'),
    force,
  },
  authorize: { force },
  cancel: { force },
  fail: {
    code: z
      .union([z.number(), z.string()], CODE)
      .optional()
      .describe("A processor's code, which the gateway translates."),
    reason: text.optional().describe('A text, which passes through unchanged.'),
    force,
  },
};

type Options = FailureReason & CompleteOptions;

const READERS: Record<MoveName, (options: object) => Options> = {
  complete: optionsReader<CompleteOptions>()('sandbox.complete', moveFields.complete),
  authorize: optionsReader<MoveOptions>()('sandbox.authorize', moveFields.authorize),
  cancel: optionsReader<MoveOptions>()('sandbox.cancel', moveFields.cancel),
  fail: optionsReader<FailureReason & MoveOptions>()('sandbox.fail', moveFields.fail),
};

export function move({ ledger, callbacks, log }: Parts, id: string, name: MoveName, options: Options = {}) {
  const { amount: paid, force, ...reason } = READERS[name](options);
  const { paymentStatus: from, amount: requested } = ledger.get(id);
  const changes = name === 'complete' ? ledger.paidWith(id, paid) : errorMessageOf(reason);
  const record = ledger.move(id, MOVES[name], changes, force);
  const { id: paymentId, reference, paymentStatus, errorMessage } = record;
  const amount = record.amount === requested ? undefined : record.amount;
  log.emit({ type: 'move', paymentId, reference, from, paymentStatus, errorMessage, amount });
  if (paymentStatus !== from) callbacks.send(record, ledger.detailsOf(id).postedTo);
  return record;
}
