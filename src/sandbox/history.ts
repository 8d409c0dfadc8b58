// The timeline of each payment: its calls, moves and callbacks, in the order of their times.
import type { EventBus, SandboxEvent } from './event-bus.ts';

/** Of one payment. A merchant that polls for days keeps the create and the latest. */
const KEPT = 500;

export class History {
  readonly #ofPayments = new Map<string, SandboxEvent[]>();

  constructor(events: EventBus) {
    events.subscribe(event => {
      const paymentId = event.type === 'callback' ? event.delivery.paymentId : 'paymentId' in event && event.paymentId;
      if (paymentId) this.#add(paymentId, event);
    });
  }

  /** The oldest first. */
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

  /** Those of a sandbox that was saved. */
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

/** A callback is told of at its end: the lookups that were made meanwhile come after it, though of the same millisecond. */
function placeOf(event: SandboxEvent, events: readonly SandboxEvent[]): number {
  if (event.type !== 'callback') return events.length;
  const { at } = event.delivery;
  return events.findLastIndex(one => one.type !== 'request' || one.method !== 'GET' || one.at < at) + 1;
}

/** A callback is told of at its end, and shown at its beginning. */
export const timeOf = (event: SandboxEvent): number => (event.type === 'callback' ? event.delivery.at : event.at);
