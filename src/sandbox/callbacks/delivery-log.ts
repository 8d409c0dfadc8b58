// Every delivery of a callback that is kept, in the order of posting: above a limit the oldest make way.
import { SandboxError } from '../sandbox-error.ts';
import type { Delivery } from './delivery.ts';

export class DeliveryLog {
  readonly #all = new Map<number, Delivery>();
  /** The last of each payment. */
  readonly #last = new Map<string, Delivery>();
  readonly #limit: number;
  #nextId = 1;
  /** How many made way for newer ones. */
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

  /** So many of the last, the newest first. */
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

  /** The delivery itself: what is changed about it is seen in the log. */
  add(fields: Omit<Delivery, 'id'>): Delivery {
    const delivery: Delivery = { id: this.#nextId, ...fields };
    this.#nextId += 1;
    this.#keep(delivery);
    for (const [id, { status, error }] of this.#all) {
      // One that is under way stays.
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

  /** Those of a payment that is forgotten. */
  forget(paymentId: string): void {
    for (const [id, delivery] of this.#all) if (delivery.paymentId === paymentId) this.drop(id);
  }

  /** Those of a sandbox that was saved. */
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
