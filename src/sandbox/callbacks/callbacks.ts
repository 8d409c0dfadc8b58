// Posts status callbacks to the merchant, one payment's after another, and keeps a log of every delivery.

import { delay, withSignal, withTimeout } from '../../deadline.ts';
import { isLoopback } from '../../schemas/url.ts';
import type { EventBus } from '../event-bus.ts';
import type { Faults } from '../faults/faults.ts';
import type { PaymentRecord } from '../ledger/ledger.ts';
import { toPhpJson } from '../php.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Delivery } from './delivery.ts';

type Callback = Pick<Delivery, 'paymentId' | 'paymentStatus' | 'url' | 'body' | 'fault'>;

/** Posts a callback: a fetch, or a double of it. */
export type CallbackFetch = (url: string, init: RequestInit) => Promise<Response>;

const LONGEST_POST = 10_000;

/** Milliseconds of a delay that says nothing else. */
const DELAY = 5_000;

/** A test must not post to a shop's real address. */
const NOT_LOOPBACK =
  'not posted: the address is not on loopback. To post it elsewhere: --forward-to, or new Sandbox({ forwardTo }).';

/** Methods whose completed callbacks are documented, and lack what a lookup shows of the settlement. */
const CARD_METHODS: ReadonlySet<string> = new Set(['CARD', 'GOOGLEPAY', 'APPLEPAY', 'BLIK']);

export interface CallbackSettings {
  fetch?: CallbackFetch | undefined;
  /** Takes every callback, in place of the payments' own addresses. */
  forwardTo?: string | undefined;
  /** Whether the query of a payment's own address is kept. */
  callbackQuery: 'keep' | 'drop';
}

export class Callbacks {
  #log: Delivery[] = [];
  readonly #underWay = new Map<string, Promise<void>>();
  /** Held back until the next one of the same payment. */
  readonly #held = new Map<string, Callback[]>();
  /** Payments whose own address counts, also with `forwardTo`. */
  readonly #ownAddress = new Set<string>();
  /** Delays that have not passed. */
  readonly #delays = new Set<Promise<void>>();
  #life = new AbortController();
  readonly #settings: CallbackSettings;
  readonly #faults: Faults;
  readonly #events: EventBus;

  constructor(settings: CallbackSettings, faults: Faults, events: EventBus) {
    this.#settings = settings;
    this.#faults = faults;
    this.#events = events;
  }

  get deliveries(): Delivery[] {
    return this.#log.map(delivery => ({ ...delivery }));
  }

  /** So many, the newest first. */
  latest(count: number): Delivery[] {
    return this.#log.slice(-count).reverse();
  }

  /** The newest first. */
  ofPayment(id: string): Delivery[] {
    return this.#log.filter(({ paymentId }) => paymentId === id).reverse();
  }

  /** Resolves when nothing is being posted any more. */
  async idle(): Promise<void> {
    while (this.#underWay.size + this.#delays.size > 0) {
      await Promise.all([...this.#underWay.values(), ...this.#delays]);
    }
  }

  /** Resolves when no callback of this payment is being posted any more. */
  async delivered(paymentId: string): Promise<void> {
    await this.#underWay.get(paymentId);
  }

  /** This payment's callbacks go to its own address, also with `forwardTo`. */
  keepAddress(paymentId: string): void {
    this.#ownAddress.add(paymentId);
  }

  /** Forgets every delivery; what is under way is stopped. */
  clear(): void {
    this.#life.abort(new Error('the sandbox was reset'));
    this.#life = new AbortController();
    this.#log = [];
    this.#underWay.clear();
    this.#held.clear();
    this.#ownAddress.clear();
    this.#delays.clear();
  }

  /** Posts the payment's state, with the fault that is armed for it. */
  send(record: PaymentRecord, address: string): void {
    const { id: paymentId, paymentStatus } = record;
    const armed = this.#faults.take('callback', paymentId);
    const payload = payloadOf(record);
    const callback: Callback = {
      paymentId,
      paymentStatus,
      url: this.#addressOf(paymentId, address),
      body: toPhpJson(payload),
    };
    const faulty = { ...callback, ...(armed && { fault: armed.fault }) };
    switch (armed?.fault) {
      case 'callback-lose':
        this.#events.emit({ type: 'callback', delivery: this.#record({ ...faulty, error: 'never posted' }) });
        return;
      case 'callback-delay':
        this.#postLater(faulty, armed.ms ?? DELAY);
        return;
      case 'callback-reorder':
        this.#held.set(paymentId, [faulty, ...(this.#held.get(paymentId) ?? [])]);
        return;
      case 'callback-duplicate':
        this.#enqueue(callback);
        this.#enqueue(faulty);
        break;
      case 'callback-forge': {
        const forged = { ...payload, paymentStatus: 'COMPLETED', amount: record.amount * 10 };
        this.#enqueue({ ...faulty, paymentStatus: 'COMPLETED', body: toPhpJson(forged) });
        this.#enqueue(callback);
        break;
      }
      default:
        this.#enqueue(callback);
    }
    for (const held of this.#held.get(paymentId) ?? []) this.#enqueue(held);
    this.#held.delete(paymentId);
  }

  #addressOf(paymentId: string, own: string): string {
    const { forwardTo, callbackQuery } = this.#settings;
    const isKept = callbackQuery === 'keep';
    if (!forwardTo || this.#ownAddress.has(paymentId)) return isKept ? own : own.replace(/\?[^#]*/, '');
    const { search } = new URL(own);
    if (!isKept || !search) return forwardTo;
    // A token in it must reach the shop, wherever that listens.
    const address = new URL(forwardTo);
    address.search += address.search ? `&${search.slice(1)}` : search;
    return address.href;
  }

  /** Posts the same body again. */
  async redeliver(id: number): Promise<Delivery> {
    const past = this.#log.find(delivery => delivery.id === id);
    if (!past) throw new SandboxError('unknown_delivery', `The sandbox has made no delivery ${id}.`);
    const { paymentId, paymentStatus, url, body } = past;
    const delivery = this.#enqueue({ paymentId, paymentStatus, url, body });
    await this.#underWay.get(paymentId);
    return { ...delivery };
  }

  #record(callback: Callback & { error?: string }): Delivery {
    const delivery = { id: this.#log.length + 1, ...callback };
    this.#log.push(delivery);
    return delivery;
  }

  /** Keeps the callbacks of one payment in order. */
  #enqueue(callback: Callback): Delivery {
    const delivery = this.#record(callback);
    const { paymentId } = delivery;
    const { signal } = this.#life;
    const done = Promise.resolve(this.#underWay.get(paymentId))
      .then(() => this.#post(delivery, signal))
      .finally(() => {
        if (this.#underWay.get(paymentId) === done) this.#underWay.delete(paymentId);
      });
    this.#underWay.set(paymentId, done);
    return delivery;
  }

  #postLater(callback: Callback, ms: number): void {
    const { signal } = this.#life;
    const delayed = delay(ms, signal).then(
      () => void this.#enqueue(callback),
      () => {}, // the sandbox was reset
    );
    this.#delays.add(delayed);
    delayed.finally(() => this.#delays.delete(delayed));
  }

  async #post(delivery: Delivery, life: AbortSignal): Promise<void> {
    if (life.aborted) return;
    const begun = performance.now();
    try {
      // Also where a fetch does not react to the signal.
      const posting = withSignal(this.#statusOf(delivery, life), life);
      delivery.status = await withTimeout(posting, LONGEST_POST, `not answered within ${LONGEST_POST} ms`);
    } catch (error) {
      delivery.error = describe(error);
    }
    delivery.durationMs = performance.now() - begun;
    if (!life.aborted) this.#events.emit({ type: 'callback', delivery: { ...delivery } });
  }

  async #statusOf({ url, body }: Delivery, life: AbortSignal): Promise<number> {
    const { fetch: post, forwardTo } = this.#settings;
    const { hostname, host } = new URL(url);
    const isWanted = forwardTo !== undefined && host === new URL(forwardTo).host;
    if (!post && !isWanted && !isLoopback(hostname)) throw new Error(NOT_LOOPBACK);
    const response = await (post ?? fetch)(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([life, AbortSignal.timeout(LONGEST_POST)]),
    });
    response.body?.cancel().catch(() => {});
    return response.status;
  }
}

/** The record as a callback shows it: unwrapped, and with what differs by method. */
function payloadOf(record: PaymentRecord): object {
  if (record.paymentType !== 'DEPOSIT' || !CARD_METHODS.has(record.paymentMethod)) return record;
  const { settled_crypto_amount, crypto_tx_hash, destination_wallet, ...payload } = record;
  return record.paymentMethod === 'GOOGLEPAY' ? { ...payload, fallbackPaymentStatus: 0 } : payload;
}

function describe(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : String(cause);
}
