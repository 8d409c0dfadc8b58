// The timeline of each payment: its calls, moves and callbacks in order of time.
import type { EventBus, SandboxEvent } from './event-bus.ts';

/** Events per payment. A merchant that polls for days keeps the create and the latest events. */
const KEPT = 500;

export class History {
  readonly #ofPayments = new Map<string, SandboxEvent[]>();

  constructor(events: EventBus) {
    events.subscribe(event => {
      const paymentId = event.type === 'callback' ? event.delivery.paymentId : 'paymentId' in event && event.paymentId;
      if (paymentId) this.#add(paymentId, event);
    });
  }

  /** Returns the events of a payment, the oldest first. */
  ofPayment(paymentId: string): SandboxEvent[] {
    const events = this.#ofPayments.get(paymentId) ?? [];
    return events.toSorted((a, b) => timeOf(a) - timeOf(b));
  }

  forget(paymentId: string): void {
    this.#ofPayments.delete(paymentId);
  }

  clear(): void {
    this.#ofPayments.clear();
  }

  get entries(): [paymentId: string, events: SandboxEvent[]][] {
    return [...this.#ofPayments];
  }

  restore(entries: readonly (readonly [paymentId: string, events: SandboxEvent[]])[]): void {
    for (const [paymentId, events] of entries) this.#ofPayments.set(paymentId, [...events]);
  }

  #add(paymentId: string, event: SandboxEvent): void {
    const events = this.#ofPayments.get(paymentId) ?? [];
    this.#ofPayments.set(paymentId, events);
    events.splice(placeOf(event, events), 0, event);
    if (events.length > KEPT) events.splice(1, 1);
  }
}

/** Finds the place of a callback, which is reported at its end. Lookups made meanwhile come after it. */
function placeOf(event: SandboxEvent, events: readonly SandboxEvent[]): number {
  if (event.type !== 'callback') return events.length;
  const { at } = event.delivery;
  return events.findLastIndex(one => one.type !== 'request' || one.method !== 'GET' || one.at < at) + 1;
}

/** Returns an event's time. A callback counts from its start, although it is reported at its end. */
export const timeOf = (event: SandboxEvent): number => (event.type === 'callback' ? event.delivery.at : event.at);
