// The moves between a payment's states, each with its callback.
import { ConfigurationError } from '../../errors.ts';
import type { PaymentStatus } from '../../schemas/methods.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { EventBus } from '../event-bus.ts';
import { errorMessageOf, type FailureReason, type Ledger, type PaymentRecord } from './ledger.ts';

/** How a payment is moved. */
export interface MoveOptions {
  /** Move the payment even out of a final state. */
  force?: boolean | undefined;
}

export class Moves {
  readonly #ledger: Ledger;
  readonly #callbacks: Callbacks;
  readonly #events: EventBus;

  constructor(ledger: Ledger, callbacks: Callbacks, events: EventBus) {
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
    if (typeof options !== 'object' || options === null)
      throw new ConfigurationError('sandbox.fail takes { code } or { reason }.');
    const { force, ...reason } = options;
    return this.#move(id, 'FAILED', errorMessageOf(reason), { force });
  }

  #move(
    id: string,
    status: PaymentStatus,
    changes: Partial<PaymentRecord>,
    { force }: MoveOptions = {},
  ): PaymentRecord {
    const before = this.#ledger.find(id)?.paymentStatus;
    const record = this.#ledger.move(id, status, changes, force);
    const { id: paymentId, reference, paymentStatus } = record;
    this.#events.emit({ type: 'move', paymentId, reference, paymentStatus });
    if (paymentStatus !== before) this.#callbacks.send(record, this.#ledger.callbackUrlOf(id));
    return record;
  }
}
