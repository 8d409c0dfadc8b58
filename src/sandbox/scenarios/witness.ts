// Records the merchant's behaviour during a scenario: its answers to callbacks, and its lookups.
import type { Delivery } from '../callbacks/delivery.ts';
import type { SandboxEvent } from '../events.ts';
import type { Log } from '../log.ts';

/** A posted callback, with the merchant's behaviour until its answer. */
export interface Witnessed {
  delivery: Delivery;
  /** Whether the merchant looked up the payment with good credentials, and got an answer. */
  isLookedUp: boolean;
  /** Whether a fault was injected into such a lookup. */
  isHindered: boolean;
}

type Lookup = Extract<SandboxEvent, { type: 'request' }>;

export class Witness {
  readonly #seen: (Lookup | Delivery)[] = [];
  readonly leave: () => void;

  constructor(events: Log) {
    this.leave = events.subscribe(event => {
      if (event.type === 'callback') this.#seen.push(event.delivery);
      if (event.type === 'request' && event.method === 'GET' && event.paymentId) this.#seen.push(event);
    });
  }

  /** Returns the callbacks of a payment that were answered or given up so far. */
  callbacksOf(paymentId: string): Witnessed[] {
    const callbacks: Witnessed[] = [];
    let lookups: Lookup[] = [];
    for (const one of this.#seen) {
      if (one.paymentId !== paymentId) continue;
      if ('type' in one) {
        lookups.push(one);
        continue;
      }
      const meanwhile = lookups.filter(({ at }) => at >= one.at);
      callbacks.push({
        delivery: one,
        isLookedUp: meanwhile.some(({ status }) => status === 200),
        isHindered: meanwhile.some(({ fault }) => fault !== undefined),
      });
      lookups = [];
    }
    return callbacks;
  }
}
