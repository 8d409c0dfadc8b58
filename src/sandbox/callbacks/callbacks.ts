// Posts status callbacks to the merchant in order for each payment, and logs every delivery.
import { EventEmitter, once } from 'node:events';
import { LONGEST_TIMER } from '../../deadline.ts';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults/faults.ts';
import { type PaymentRecord, withoutSettlement } from '../ledger/record.ts';
import type { Log } from '../log/log.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { toPhpJson } from '../text/php.ts';
import { type Callback, type Delivery, isTaken, type WaitingCallback } from './delivery.ts';
import { NOT_LOOPBACK, post } from './post.ts';

/** The parts that callbacks use. */
export interface CallbackParts {
  settings: SandboxSettings;
  clock: Clock;
  faults: Faults;
  log: Log;
}

/** Their documented callbacks lack the settlement fields of a lookup. */
const CARD_METHODS: readonly string[] = ['CARD', 'GOOGLEPAY', 'APPLEPAY', 'BLIK'];

/** The changes to a redelivered callback. */
export interface RedeliverOptions {
  /** A replacement for its body. */
  body?: string | undefined;
}

export class Callbacks {
  /** In the order of arrival. */
  waiting: WaitingCallback[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The time for which the timer is set. */
  #next = Number.POSITIVE_INFINITY;
  /** The running posts of each payment. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Emits `end` after each post, and after a reset. */
  readonly #ends = new EventEmitter().setMaxListeners(0);
  readonly #parts: CallbackParts;

  constructor(parts: CallbackParts) {
    this.#parts = parts;
  }

  async idle(): Promise<void> {
    const isBusy = () => this.#underWay.size > 0 || this.waiting.some(({ due }) => due !== undefined);
    while (isBusy()) await once(this.#ends, 'end');
  }

  /** Resolves once no callback of this payment is being posted. */
  async delivered(paymentId: string): Promise<void> {
    while (this.#underWay.has(paymentId)) await this.#underWay.get(paymentId);
  }

  /** Forgets every waiting callback. The log ends running posts. */
  clear(): void {
    this.keep([]);
    this.#underWay.clear();
    this.#ends.emit('end');
  }

  /** Posts the payment's state. */
  send(record: PaymentRecord, url: string) {
    const { settings, faults, log, clock } = this.#parts;
    const { id: paymentId, paymentStatus, reference } = record;
    const { fault, ms = 5_000 } = faults.take('callback', reference) ?? {};
    const payload = payloadOf(record);
    const sent = { paymentId, paymentStatus, url, body: toPhpJson(payload) };
    const callback: Callback = { ...sent, retries: settings.callbackRetries };
    const faulty: Callback = { ...callback, fault };
    if (fault === 'callback-delay') return this.#wait(faulty, clock.now() + ms);
    if (fault === 'callback-reorder') return this.#wait(faulty);
    if (fault === 'callback-lose')
      return log.emit({ type: 'callback', delivery: log.post({ ...sent, fault, error: 'never posted' }) });
    const once: Callback = { ...faulty, retries: [] };
    const forged = toPhpJson({ ...payload, paymentStatus: 'COMPLETED', amount: record.amount * 10 });
    const posts = {
      'callback-duplicate': [callback, once],
      'callback-forge': [{ ...once, paymentStatus: 'COMPLETED', body: forged }, callback],
      'callback-drop-query': [{ ...faulty, url: url.replace(/\?[^#]*/, '') }],
    };
    for (const one of fault ? posts[fault] : [callback]) this.#enqueue(one);
    const held = this.waiting.filter(one => one.due === undefined && one.callback.paymentId === paymentId);
    if (held.length > 0 || this.#next <= clock.now()) this.#postWaiting(held.reverse());
  }

  /** Posts a callback again, by hand. @throws {SandboxError} `unknown_delivery` */
  async redeliver(id: number, { body }: RedeliverOptions = {}): Promise<Delivery> {
    const { paymentId, paymentStatus, url, body: past } = this.#parts.log.delivery(id);
    const again = { paymentId, paymentStatus, url, body: body ?? past, repeats: id, retries: [] };
    const delivery = this.#enqueue(again.body === past ? again : { ...again, isEdited: true });
    await this.#underWay.get(paymentId);
    return { ...delivery };
  }

  /** Replaces the waiting callbacks, and sets the timer of the next due one. */
  keep(waiting: readonly WaitingCallback[]): void {
    this.waiting = [...waiting];
    clearTimeout(this.#timer);
    this.#next = Number.POSITIVE_INFINITY;
    for (const { due } of waiting) this.#wakeAt(due);
  }

  #wakeAt(due?: number): void {
    if (due === undefined || due >= this.#next) return;
    clearTimeout(this.#timer);
    this.#next = due;
    this.#timer = setTimeout(() => this.wake(due), Math.min(due - this.#parts.clock.now(), LONGEST_TIMER));
  }

  /** Posts the waiting callbacks that are due by this time. */
  wake(time = this.#parts.clock.now()): void {
    this.#postWaiting(this.waiting.filter(({ due }) => due !== undefined && due <= time));
  }

  /** Keeps the callbacks of one payment in order. */
  #enqueue(callback: Callback): Delivery {
    const { log } = this.#parts;
    const { retries: _, ...sent } = callback;
    const delivery = log.post(sent);
    const { paymentId } = delivery;
    const { signal: life } = log.life;
    const done = Promise.resolve(this.#underWay.get(paymentId))
      .then(() => this.#post(delivery, callback, life))
      .finally(() => {
        if (this.#underWay.get(paymentId) === done) this.#underWay.delete(paymentId);
        this.#ends.emit('end');
      });
    this.#underWay.set(paymentId, done);
    return delivery;
  }

  async #post(delivery: Delivery, callback: Callback, life: AbortSignal): Promise<void> {
    if (life.aborted) return;
    const { settings, log, clock } = this.#parts;
    delivery.at = clock.now();
    const begun = performance.now();
    Object.assign(delivery, await post(delivery, settings, life), { durationMs: performance.now() - begun });
    if (life.aborted) return;
    log.emit({ type: 'callback', at: delivery.at, delivery: { ...delivery } });
    const [ms, ...retries] = callback.retries;
    if (ms === undefined || isTaken(delivery) || delivery.error === NOT_LOOPBACK) return;
    const { fault: _, ...again } = callback;
    this.#wait({ ...again, repeats: delivery.id, retries }, clock.now() + ms);
  }

  /** Waits until this time, or until the next callback of its payment. */
  #wait(callback: Callback, due?: number): void {
    this.waiting.push({ callback, due });
    this.#wakeAt(due);
    const { paymentId, paymentStatus, fault } = callback;
    this.#parts.log.emit({ type: 'callback-waits', paymentId, paymentStatus, due, fault });
  }

  #postWaiting(posted: readonly WaitingCallback[]): void {
    const gone = new Set(posted);
    this.keep(this.waiting.filter(one => !gone.has(one)));
    for (const { callback } of posted) this.#enqueue(callback);
  }
}

/** Returns the record as the callbacks of its method show it. */
function payloadOf(record: PaymentRecord): object {
  if (record.paymentType !== 'DEPOSIT' || !CARD_METHODS.includes(record.paymentMethod)) return record;
  const payload = withoutSettlement(record);
  return record.paymentMethod === 'GOOGLEPAY' ? { ...payload, fallbackPaymentStatus: 0 } : payload;
}
