// Keeps the deliveries of callbacks in the order of posting. Above a limit, it drops the oldest.
import { SandboxError } from '../sandbox-error.ts';
import type { Delivery } from './delivery.ts';

export class DeliveryLog {
  readonly #all = new Map<number, Delivery>();
  readonly #last = new Map<string, Delivery>();
  readonly #limit: number;
  #nextId = 1;
  /** The number of deliveries dropped for newer ones. */
  forgotten = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#all.size;
  }

  get all(): Delivery[] {
    return [...this.#all.values()].map(delivery => ({ ...delivery }));
  }

  /** Returns the last deliveries, the newest first. */
  latest(count: number): Delivery[] {
    return [...this.#all.keys()]
      .slice(-count)
      .map(id => this.get(id))
      .reverse();
  }

  lastOf(paymentId: string): Delivery | undefined {
    const delivery = this.#last.get(paymentId);
    return delivery && { ...delivery };
  }

  /** @throws {SandboxError} `unknown_delivery` */
  get(id: number): Delivery {
    const delivery = this.#all.get(id);
    if (!delivery) throw new SandboxError('unknown_delivery', `The sandbox has made no delivery ${id}.`);
    return { ...delivery };
  }

  /** Returns the stored delivery itself: changes to it appear in the log. */
  add(fields: Omit<Delivery, 'id'>): Delivery {
    const delivery: Delivery = { id: this.#nextId, ...fields };
    this.#nextId += 1;
    this.#keep(delivery);
    for (const [id, { status, error }] of this.#all) {
      // A running delivery stays.
      if (this.#all.size <= this.#limit || (status ?? error) === undefined) break;
      this.drop(id);
    }
    return delivery;
  }

  drop(id: number): void {
    const { paymentId = '' } = this.#all.get(id) ?? {};
    if (this.#last.get(paymentId)?.id === id) this.#last.delete(paymentId);
    if (this.#all.delete(id)) this.forgotten += 1;
  }

  forget(paymentId: string): void {
    for (const [id, delivery] of this.#all) if (delivery.paymentId === paymentId) this.drop(id);
  }

  restore(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#keep({ ...delivery });
    this.#nextId = Math.max(0, ...this.#all.keys()) + 1;
  }

  clear(): void {
    this.#all.clear();
    this.#last.clear();
    this.#nextId = 1;
    this.forgotten = 0;
  }

  #keep(delivery: Delivery): void {
    this.#all.set(delivery.id, delivery);
    this.#last.set(delivery.paymentId, delivery);
  }
}
