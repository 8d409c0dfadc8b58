// Posts status callbacks to the merchant, one payment's after another, and keeps a log of every delivery.

import { isLoopback } from '../loopback.ts';
import { failing, inTime } from '../time.ts';
import { type PaymentRecord, SandboxError } from './ledger.ts';
import { toPhpJson } from './php.ts';

/** One post of one callback. */
export interface Delivery {
  /** Counts from 1, in order of posting. */
  id: number;
  paymentId: string;
  paymentStatus: string;
  url: string;
  /** The JSON that was posted. */
  body: string;
  /** The merchant's HTTP status; absent while the post is under way, and when it got no answer. */
  status?: number;
  /** Why there was no answer. */
  error?: string;
  durationMs?: number;
}

/** Posts a callback: a fetch, or a double of it. */
export type CallbackFetch = (url: string, init: RequestInit) => Promise<Response>;

const LONGEST_POST = 10_000;

/** A test must not post to a shop's real address. */
const NOT_LOOPBACK =
  'not posted: the address is not on loopback. To post there, pass new Sandbox({ fetch }).';

/** Methods whose completed callbacks are documented, and lack what a lookup tells of the settlement. */
const CARD_METHODS: ReadonlySet<string> = new Set(['CARD', 'GOOGLEPAY', 'APPLEPAY', 'BLIK']);

export class Callbacks {
  readonly #log: Delivery[] = [];
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #fetch: CallbackFetch | undefined;

  constructor(fetch: CallbackFetch | undefined) {
    this.#fetch = fetch;
  }

  get deliveries(): Delivery[] {
    return this.#log.map(delivery => ({ ...delivery }));
  }

  /** Resolves when nothing is being posted any more. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  send(record: PaymentRecord, url: string): void {
    const { id: paymentId, paymentStatus } = record;
    this.#enqueue({ paymentId, paymentStatus, url, body: toPhpJson(payloadOf(record)) });
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

  /** Keeps the callbacks of one payment in order. */
  #enqueue(callback: Omit<Delivery, 'id'>): Delivery {
    const delivery = { id: this.#log.length + 1, ...callback };
    this.#log.push(delivery);
    const { paymentId } = delivery;
    const done = Promise.resolve(this.#underWay.get(paymentId))
      .then(() => this.#post(delivery))
      .finally(() => {
        if (this.#underWay.get(paymentId) === done) this.#underWay.delete(paymentId);
      });
    this.#underWay.set(paymentId, done);
    return delivery;
  }

  async #post(delivery: Delivery): Promise<void> {
    const begun = performance.now();
    try {
      const late = failing(`not answered within ${LONGEST_POST} ms`);
      delivery.status = await inTime(this.#statusOf(delivery), LONGEST_POST, late);
    } catch (error) {
      delivery.error = describe(error);
    }
    delivery.durationMs = performance.now() - begun;
  }

  async #statusOf({ url, body }: Delivery): Promise<number> {
    if (!this.#fetch && !isLoopback(new URL(url).hostname)) throw new Error(NOT_LOOPBACK);
    const response = await (this.#fetch ?? fetch)(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(LONGEST_POST),
    });
    response.body?.cancel().catch(() => {});
    return response.status;
  }
}

/** The record as a callback shows it: unwrapped, and each method with its own peculiarities. */
function payloadOf(record: PaymentRecord): object {
  if (record.paymentType !== 'DEPOSIT' || !CARD_METHODS.has(record.paymentMethod)) return record;
  const { settled_crypto_amount, crypto_tx_hash, destination_wallet, ...payload } = record;
  return record.paymentMethod === 'GOOGLEPAY' ? { ...payload, fallbackPaymentStatus: 0 } : payload;
}

function describe(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : String(cause);
}
