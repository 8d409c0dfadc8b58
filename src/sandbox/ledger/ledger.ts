// The payments of the sandbox, and their moves between states.
import { isFinalStatus, isOnrampMethod, type PaymentStatus } from '../../schemas/methods.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { toPhpDate } from '../text/php.ts';
import { idsOf } from './ids.ts';
import { matcherOf, orderOf, type PaymentQuery } from './query.ts';
import { quote } from './rates.ts';
import {
  type AcceptedRequest,
  type AnyMoveOptions,
  type Entry,
  type PaymentRecord,
  withoutSettlement,
} from './record.ts';

/** The document's translations of processor codes. */
const TRANSLATIONS = new Map([
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

  constructor(settings: SandboxSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
    this.#nextId = idsOf(settings.seed);
  }

  clear(): void {
    this.#entries.clear();
    this.#nextId = idsOf(this.#settings.seed);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the attempts of each order, and each other payment, the newest first. */
  orders(query: PaymentQuery) {
    return [...Map.groupBy(this.search(query), record => orderOf(record) ?? record.id).values()];
  }

  /** The newest first. */
  search(query: PaymentQuery): PaymentRecord[] {
    const records = this.entries.map(({ record }) => record);
    return records.filter(matcherOf(query)).reverse();
  }

  /** @param changes those of a fault */
  create(request: AcceptedRequest, changes?: Partial<PaymentRecord>, isPlayed?: boolean): PaymentRecord {
    const { paymentType, paymentMethod, amount, currency } = request;
    let id = this.#nextId();
    // A saved sandbox may have the first ids of the seed.
    while (this.#entries.has(id)) id = this.#nextId();
    const record: PaymentRecord = {
      id,
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
    this.#entries.set(id, { record, request, ...(isPlayed && { isPlayed }) });
    this.#dropOldest();
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

  /** Returns the payments with this id or reference, the newest first, at least one. */
  named(name: string): [PaymentRecord, ...PaymentRecord[]] {
    const [first, ...others] = this.find(name) ? [] : this.search({ reference: name });
    return [first ?? this.get(name), ...others];
  }

  /** Returns the only payment with this id or reference. */
  only(name: string): PaymentRecord {
    const found = this.named(name);
    if (found.length === 1) return found[0];
    const list = found.map(({ id, paymentStatus }) => `${id} (${paymentStatus})`).join(', ');
    throw new SandboxError('refused', `Several payments have the reference ${name}: ${list}. Pass the id of one.`);
  }

  /** The payment's callbacks go to `postedTo`. */
  detailsOf(id: string) {
    const { request, quotedAt, isPlayed } = this.#entry(id);
    const callbackUrl = (request.webhookUrl ?? request.callbackUrl) as string;
    const { forwardTo } = this.#settings;
    const postedTo = forwardTo === undefined || isPlayed ? callbackUrl : forwarded(callbackUrl, forwardTo);
    return { request, quotedAt, callbackUrl, postedTo };
  }

  renewQuote(id: string): void {
    this.#entry(id).quotedAt = this.#now();
  }

  choose(id: string, paymentMethod: string): void {
    const entry = this.#entry(id);
    entry.record = { ...entry.record, paymentMethod };
  }

  move(id: string, paymentStatus: PaymentStatus, { amount, force, ...reason }: AnyMoveOptions): PaymentRecord {
    const entry = this.#entry(id);
    const from = entry.record.paymentStatus;
    if (isFinalStatus(from) && !force) {
      throw new SandboxError('final_state', `Payment ${id} is ${from}, which is final. To move it anyway, pass force.`);
    }
    const { errorMessage, ...kept } = withoutSettlement(entry.record);
    const changes = paymentStatus === 'COMPLETED' ? settled(entry, amount) : errorMessageOf(reason);
    entry.record = { ...kept, paymentStatus, ...changes };
    return entry.record;
  }

  /** Payments that can still move stay. */
  #dropOldest(): void {
    for (const [id, { record }] of this.#entries) {
      if (this.#entries.size <= this.#settings.maxPayments) return;
      if (isFinalStatus(record.paymentStatus)) this.#entries.delete(id);
    }
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(String(id).toLowerCase());
    if (entry) return entry;
    throw new SandboxError('unknown_payment', `The sandbox has no payment ${id}: pass its id or reference.`);
  }
}

function settled({ record, request }: Entry, amount = record.amount) {
  return {
    amount,
    settled_crypto_amount: Number(quote({ ...record, amount }).cryptoAmount),
    crypto_tx_hash: `0x${record.id.replaceAll('-', '').repeat(2)}`,
    destination_wallet: walletOf(request),
  };
}

/** Adds the query of the payment's own address, which may have a token. */
function forwarded(own: string, forwardTo: string): string {
  const { search } = new URL(own);
  if (!search) return forwardTo;
  const address = new URL(forwardTo);
  address.search += address.search ? `&${search.slice(1)}` : search;
  return address.href;
}

function errorMessageOf({ code, reason }: AnyMoveOptions): { errorMessage?: string } {
  if (reason !== undefined) return { errorMessage: reason };
  return code === undefined ? {} : { errorMessage: TRANSLATIONS.get(String(code)) ?? `Processor error ${code}` };
}

export const isOnramp = ({ paymentMethod }: { paymentMethod: string }): boolean =>
  paymentMethod === 'ONRAMP' || isOnrampMethod(paymentMethod);

export function walletOf({ additionalParameters }: AcceptedRequest): string {
  const { destination_wallet: wallet } = Object(additionalParameters);
  return typeof wallet === 'string' ? wallet : MERCHANT_WALLET;
}
