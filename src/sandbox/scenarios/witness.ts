// What the merchant's server does while a scenario is played: how it answers each callback, and whether it looks the payment up.
import type { Delivery } from '../callbacks/delivery.ts';
import type { EventBus, SandboxEvent } from '../event-bus.ts';

/** A callback that was posted, and what the merchant did from then until it was answered. */
export interface Witnessed {
  delivery: Delivery;
  /** Whether the payment was looked up, with good credentials, and the lookup answered. */
  isLookedUp: boolean;
  /** Whether a fault was injected into such a lookup. */
  isHindered: boolean;
}

type Lookup = Extract<SandboxEvent, { type: 'request' }>;

export class Witness {
  readonly #seen: (Lookup | Delivery)[] = [];
  /** Stops watching. */
  readonly leave: () => void;

  constructor(events: EventBus) {
    this.leave = events.subscribe(event => {
      if (event.type === 'callback') this.#seen.push(event.delivery);
      if (event.type === 'request' && event.method === 'GET' && event.paymentId) this.#seen.push(event);
    });
  }

  /** The callbacks of a payment that were answered, or given up, so far. */
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
