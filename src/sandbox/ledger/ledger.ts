// The sandbox's books: every payment, its state, and the moves between states.
import { isFinalStatus, ONRAMP_METHODS, type PaymentStatus } from '../../schemas/methods.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { toPhpDate } from '../text/php.ts';
import { idsOf } from './ids.ts';
import { matcherOf, orderOf, type PaymentQuery } from './query.ts';
import { quote } from './rates.ts';
import {
  type AcceptedRequest,
  type Entry,
  type FailureReason,
  type PaymentRecord,
  withoutSettlement,
} from './record.ts';

/** The document's translations of processor codes. */
const TRANSLATIONS: ReadonlyMap<string, string> = new Map([
  ['4001', 'CVV error'],
  ['4004', 'Insufficient balance'],
  ['4018', 'Canceled by the user'],
]);

const MERCHANT_WALLET = '0x5a4db0c05e771e3e9a7e5a4db0c05e771e3e9a7e';

export class Ledger {
  readonly #entries = new Map<string, Entry>();
  #nextId: () => string;
  readonly #settings: SandboxSettings;
  readonly #now: () => number;

  /** @param now returns milliseconds since 1970 */
  constructor(settings: SandboxSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
    this.#nextId = idsOf(settings.seed);
  }

  /** Forgets every payment, and restarts the ids. */
  clear(): void {
    this.#entries.clear();
    this.#nextId = idsOf(this.#settings.seed);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns all orders, each with its attempts. The newest are first. A payment of no order is one. */
  orders(query: PaymentQuery): (readonly PaymentRecord[])[] {
    return [...Map.groupBy(this.search(query), record => orderOf(record) ?? record.id).values()];
  }

  /** Returns the matching payments, the newest first. */
  search(query: PaymentQuery): PaymentRecord[] {
    return this.entries
      .map(({ record }) => record)
      .filter(matcherOf(query))
      .reverse();
  }

  /**
   * @param changes a fault's changes to the record
   * @param isPlayed whether a scenario has chosen the address of its callbacks
   */
  create(request: AcceptedRequest, changes?: Partial<PaymentRecord>, isPlayed?: boolean): PaymentRecord {
    const { paymentType, paymentMethod, amount, currency } = request;
    const record: PaymentRecord = {
      id: this.#freshId(),
      paymentStatus: 'PENDING',
      created: toPhpDate(this.#now()),
      paymentType,
      description: request.description ?? null,
      paymentMethod,
      reference: request.reference ?? null,
      amount,
      currency,
      customer: request.customer ? { ...request.customer } : null,
      billingAddress: request.billingAddress ? { ...request.billingAddress } : [],
      ...(isOnramp(request) && quote(request)),
      ...changes,
    };
    this.#entries.set(record.id, { record, request, ...(isPlayed && { isPlayed }) });
    this.#makeWay();
    return record;
  }

  /** In the order of creation. */
  get entries(): Entry[] {
    return [...this.#entries.values()];
  }

  restore(entries: readonly Entry[]): void {
    for (const entry of entries) this.#entries.set(entry.record.id, entry);
  }

  find(id: string): PaymentRecord | undefined {
    return this.#entries.get(id.toLowerCase())?.record;
  }

  /** @throws {SandboxError} `unknown_payment` */
  get(id: string): PaymentRecord {
    return this.#entry(id).record;
  }

  /** Returns the payments with this id or reference, the newest first. @throws {SandboxError} `unknown_payment` */
  named(idOrReference: string): [PaymentRecord, ...PaymentRecord[]] {
    const [first, ...others] = this.find(idOrReference) ? [] : this.search({ reference: idOrReference });
    return [first ?? this.get(idOrReference), ...others];
  }

  /** Returns the only payment with this id or reference. @throws {SandboxError} `unknown_payment`, `refused` */
  only(idOrReference: string): PaymentRecord {
    const found = this.named(idOrReference);
    if (found.length === 1) return found[0];
    const list = found.map(({ id, paymentStatus }) => `${id} (${paymentStatus})`);
    throw new SandboxError(
      'refused',
      `Several payments have the reference ${idOrReference}: ${list.join(', ')}. Pass the id of one.`,
    );
  }

  /** Returns the merchant's request, the start of the customer's quote, and the addresses of its callbacks. */
  detailsOf(id: string) {
    const { request, quotedAt, isPlayed } = this.#entry(id);
    const callbackUrl = (request.webhookUrl ?? request.callbackUrl) as string;
    const { forwardTo } = this.#settings;
    const postedTo = forwardTo === undefined || isPlayed ? callbackUrl : forwarded(callbackUrl, forwardTo);
    return { request, quotedAt, callbackUrl, postedTo };
  }

  /** Gives an identified customer a quote from now on. */
  renewQuote(id: string): void {
    this.#entry(id).quotedAt = this.#now();
  }

  choose(id: string, paymentMethod: string): void {
    const entry = this.#entry(id);
    entry.record = { ...entry.record, paymentMethod };
  }

  /**
   * @param force allows moves out of a final state
   * @throws {SandboxError} `unknown_payment`, `final_state`
   */
  move(id: string, paymentStatus: PaymentStatus, changes: Partial<PaymentRecord>, force = false): PaymentRecord {
    const entry = this.#entry(id);
    const from = entry.record.paymentStatus;
    if (isFinalStatus(from) && !force) {
      throw new SandboxError('final_state', `Payment ${id} is ${from}, which is final. To move it anyway, pass force.`);
    }
    const { errorMessage, ...kept } = withoutSettlement(entry.record);
    entry.record = { ...kept, paymentStatus, ...changes };
    return entry.record;
  }

  paidWith(id: string, paid?: number) {
    const { record, request } = this.#entry(id);
    const amount = paid ?? record.amount;
    return {
      amount,
      settled_crypto_amount: Number(quote({ ...record, amount }).cryptoAmount),
      crypto_tx_hash: `0x${record.id.replaceAll('-', '').repeat(2)}`,
      destination_wallet: walletOf(request),
    };
  }

  /** Drops the oldest final payments above the limit. Payments that can still move stay. */
  #makeWay(): void {
    for (const [id, { record }] of this.#entries) {
      if (this.#entries.size <= this.#settings.maxPayments) return;
      if (isFinalStatus(record.paymentStatus)) this.#entries.delete(id);
    }
  }

  /** Skips ids that exist already: with a seed, a saved sandbox may have the first ones. */
  #freshId(): string {
    let id = this.#nextId();
    while (this.#entries.has(id)) id = this.#nextId();
    return id;
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(String(id).toLowerCase());
    if (!entry)
      throw new SandboxError('unknown_payment', `The sandbox has no payment ${id}: pass its id or reference.`);
    return entry;
  }
}

/** Adds the query of a callback's own address: a token in it must reach the shop at any address. */
function forwarded(own: string, forwardTo: string): string {
  const { search } = new URL(own);
  if (!search) return forwardTo;
  const address = new URL(forwardTo);
  address.search += address.search ? `&${search.slice(1)}` : search;
  return address.href;
}

/** Returns the text that the gateway stores. A code without a documented translation keeps its number. */
export function errorMessageOf({ code, reason }: FailureReason): { errorMessage?: string } {
  if (reason !== undefined) return { errorMessage: reason };
  return code === undefined ? {} : { errorMessage: TRANSLATIONS.get(String(code)) ?? `Processor error ${code}` };
}

/** Whether the customer pays money for a settlement in crypto. */
export const isOnramp = ({ paymentMethod }: { paymentMethod: string }): boolean =>
  paymentMethod === 'ONRAMP' || ONRAMP_METHODS.some(method => method === paymentMethod);

/** Returns the crypto's destination: the wallet of the request, or the merchant's own. */
export function walletOf({ additionalParameters }: AcceptedRequest): string {
  const { destination_wallet } = (additionalParameters ?? {}) as { destination_wallet?: unknown };
  return typeof destination_wallet === 'string' ? destination_wallet : MERCHANT_WALLET;
}
