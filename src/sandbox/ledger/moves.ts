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

const force = flag.optional();
const readMove = optionsReader<MoveOptions>()('The options of a move', { force });
const readFail = optionsReader<FailureReason & MoveOptions>()('sandbox.fail', {
  code: z.union([z.number(), z.string()], { error: 'must be a number or a string' }).optional(),
  reason: z.string({ error: 'must be a string' }).optional(),
  force,
});

export class Moves {
  readonly #ledger: Ledger;
  readonly #callbacks: Callbacks;
  readonly #events: Log;

  constructor(ledger: Ledger, callbacks: Callbacks, events: Log) {
    this.#ledger = ledger;
    this.#callbacks = callbacks;
    this.#events = events;
  }

  complete(id: string, options?: MoveOptions): PaymentRecord {
    return this.#move(id, 'COMPLETED', this.#ledger.settlementOf(id), options);
  }

  authorize(id: string, options?: MoveOptions): PaymentRecord {
    return this.#move(id, 'AUTHORIZED', {}, options);
  }

  cancel(id: string, options?: MoveOptions): PaymentRecord {
    return this.#move(id, 'CANCELED', {}, options);
  }

  fail(id: string, options: FailureReason & MoveOptions = {}): PaymentRecord {
    const { force, ...reason } = readFail(options);
    return this.#move(id, 'FAILED', errorMessageOf(reason), { force });
  }

  #move(id: string, status: PaymentStatus, changes: Partial<PaymentRecord>, options: MoveOptions = {}): PaymentRecord {
    const { force } = readMove(options);
    const { paymentStatus: from } = this.#ledger.get(id);
    const record = this.#ledger.move(id, status, changes, force);
    const { id: paymentId, reference, paymentStatus, errorMessage } = record;
    this.#events.emit({ type: 'move', paymentId, reference, from, paymentStatus, errorMessage });
    if (paymentStatus !== from) this.#callbacks.send(record, this.#ledger.callbackUrlOf(id));
    return record;
  }
}
