// Moves payments between states, each time with a callback.
import * as z from 'zod';
import { flag, optionsReader } from '../../options/reader.ts';
import type { PaymentStatus } from '../../schemas/methods.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { Log } from '../log.ts';
import { errorMessageOf, type Ledger } from './ledger.ts';
import type { FailureReason, PaymentRecord } from './record.ts';

/** The options of a move. */
export interface MoveOptions {
  /** Moves the payment even out of a final state. */
  force?: boolean | undefined;
}

/** The moves, each with the state that it leads to. */
export const MOVES = {
  complete: 'COMPLETED',
  authorize: 'AUTHORIZED',
  cancel: 'CANCELED',
  fail: 'FAILED',
} as const satisfies Record<string, PaymentStatus>;

export type MoveName = keyof typeof MOVES;

const force = flag.optional();
const readMove = optionsReader<MoveOptions>()('The options of a move', { force });
const readFail = optionsReader<FailureReason & MoveOptions>()('sandbox.fail', {
  code: z.union([z.number(), z.string()], { error: 'must be a number or a string' }).optional(),
  reason: z.string({ error: 'must be a string' }).optional(),
  force,
});

export type Move = (id: string, name: MoveName, options?: FailureReason & MoveOptions) => PaymentRecord;

export const moveOf =
  (ledger: Ledger, callbacks: Callbacks, log: Log): Move =>
  (id, name, options = {}) => {
    const { force, ...reason } = name === 'fail' ? readFail(options) : readMove(options);
    const { paymentStatus: from } = ledger.get(id);
    const changes = name === 'fail' ? errorMessageOf(reason) : name === 'complete' ? ledger.settlementOf(id) : {};
    const record = ledger.move(id, MOVES[name], changes, force);
    const { id: paymentId, reference, paymentStatus, errorMessage } = record;
    log.emit({ type: 'move', paymentId, reference, from, paymentStatus, errorMessage });
    if (paymentStatus !== from) callbacks.send(record, ledger.callbackUrlOf(id));
    return record;
  };
