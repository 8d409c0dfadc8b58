// The merchant's side of the gateway: GatewayClient binds its options to the calls in payments/ and journal/.

import {
  type CallOptions,
  type ClientOptions,
  type CreateOptions,
  readClientOptions,
  type SettleOptions,
} from './client-options.ts';
import { bindMethods } from './detached.ts';
import type { Doubt } from './journal/contract.ts';
import type { Swept } from './journal/sweep.ts';
import type { SweepOptions } from './journal/sweep-options.ts';
import { type Created, create } from './payments/create.ts';
import type { Drained, DrainOptions } from './payments/drain-options.ts';
import { type Gateway, openGateway } from './payments/gateway.ts';
import {
  acknowledge,
  drain,
  type FoundEntry,
  find,
  inDoubt,
  reconcile,
  settle,
  sweep,
} from './payments/journal-calls.ts';
import { lookUp, lookUpWithin } from './payments/lookup.ts';
import { type WaitOptions, waitFor } from './payments/wait.ts';
import type { Terminal } from './schemas/methods.ts';
import type { Payment } from './schemas/payment.ts';
import type {
  DepositRequest,
  NftPurchaseRequest,
  OnrampDeposit,
  OnrampPayment,
  PaymentRequest,
  WithdrawalRequest,
} from './schemas/request.ts';

/**
 * A merchant's connection to the gateway. Make one and keep it.
 *
 * @example
 * const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey, signKey });
 * const { payment, nextAction } = await gateway.createDeposit({
 *   paymentMethod: 'CARD', amount: '25.50', currency: 'EUR',
 *   reference: 'order-1042', webhookUrl: 'https://shop.example/callbacks', returnUrl: 'https://shop.example/thanks',
 * });
 */
export class GatewayClient<const T extends Terminal = 'standard'> {
  /** The gateway's base address, without a slash at its end. */
  readonly baseUrl: string;
  /** The kind of terminal, which decides the methods that can be used. */
  readonly terminal: T;
  /** Whether creates sign the addresses of their callbacks. */
  declare readonly signCallbackUrls: boolean;
  /** Whether it has a journal, and so settles the doubts of the payments that it confirms. */
  declare readonly hasJournal: boolean;
  readonly #gateway: Gateway;

  /** @throws {ConfigurationError} if an option is missing or refused */
  constructor(options: ClientOptions<T> = {}) {
    const settings = readClientOptions(options);
    this.baseUrl = settings.baseUrl;
    this.terminal = settings.terminal as T;
    Object.defineProperties(this, {
      signCallbackUrls: { value: settings.signCallbackUrls },
      hasJournal: { value: settings.journal !== undefined },
    });
    this.#gateway = openGateway(settings);
    bindMethods(this, prototypeOfClient());
  }

  /**
   * Creates a deposit: the customer pays.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}, each with an `outcome`
   * @throws {DuplicateReferenceError} or {@link PaymentInDoubtError} or {@link JournalError}, with a journal
   * @example
   * const request = { amount: '80.00', currency: 'PLN', reference: 'order-1043', webhookUrl };
   * const { nextAction } = await gateway.createDeposit({ paymentMethod: 'BLIK', ...request });
   * if (nextAction.type === 'redirect') response.redirect(nextAction.redirectUrl);
   */
  async createDeposit(
    request: DepositRequest | (T extends 'onramp' ? OnrampDeposit : never),
    options?: CreateOptions,
  ): Promise<Created> {
    return create(this.#gateway, 'deposit', request, options);
  }

  /**
   * Creates a withdrawal: the merchant pays. Give it a `reference`. With a journal it can be made again after any error, and is
   * paid once; without one only if `outcome` is `not_sent` or `rejected`.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}, each with an `outcome`
   * @throws {DuplicateReferenceError} or {@link PaymentInDoubtError} or {@link JournalError}, with a journal
   * @example
   * await gateway.createWithdrawal({ paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77', webhookUrl });
   */
  async createWithdrawal(request: WithdrawalRequest, options?: CreateOptions): Promise<Created> {
    return create(this.#gateway, 'withdrawal', request, options);
  }

  /**
   * Creates the deposit that pays for an NFT, by one of {@link NFT_METHODS}. That it is a deposit is this SDK's
   * assumption: the gateway's document only restricts the methods.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}, each with an `outcome`
   * @throws {DuplicateReferenceError} or {@link PaymentInDoubtError} or {@link JournalError}, with a journal
   * @example
   * await gateway.createNftPurchase({ paymentMethod: 'OPENBANKING', amount: 40, currency: 'GBP', webhookUrl });
   */
  async createNftPurchase(request: NftPurchaseRequest, options?: CreateOptions): Promise<Created> {
    return create(this.#gateway, 'nftPurchase', request, options);
  }

  /**
   * Creates a payment of either type, for code that handles both.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}, each with an `outcome`
   * @throws {DuplicateReferenceError} or {@link PaymentInDoubtError} or {@link JournalError}, with a journal
   * @example
   * await gateway.createPayment({ paymentType: 'DEPOSIT', paymentMethod: 'P24', amount: '99.00', currency: 'PLN', webhookUrl });
   */
  async createPayment(
    request: PaymentRequest | (T extends 'onramp' ? OnrampPayment : never),
    options?: CreateOptions,
  ): Promise<Created> {
    return create(this.#gateway, 'payment', request, options);
  }

  /**
   * Reads a payment. A payment that failed is read like any other: look at its `paymentStatus`, or ask `isPaid`.
   *
   * @param id the gateway's id, a UUID; not the merchant's reference
   * @throws {InvalidRequestError} if the id is no UUID
   * @throws {PaymentNotFoundError} if the gateway has no such payment
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError} after the client's `retries`
   * @example
   * const payment = await gateway.getPayment(id);
   * if (isPaid(payment)) console.log(payment.paymentType === 'DEPOSIT' ? 'the customer has paid' : 'it was paid out');
   */
  async getPayment(id: string, options?: CallOptions): Promise<Payment> {
    return lookUp(this.#gateway, id, options);
  }

  /**
   * Looks at a payment again and again, ever less often, until it is final, or until `until` says so. Lookups that
   * fail for a while are repeated until the deadline.
   *
   * @throws {WaitTimeoutError} at the deadline, with the `lastPayment` seen
   * @throws {PaymentNotFoundError} and other errors of `getPayment` that a later lookup would have too
   * @example
   * const payment = await gateway.waitForPayment(id, { timeout: 60_000, signal });
   */
  async waitForPayment(id: string, options?: WaitOptions): Promise<Payment> {
    return waitFor(id, lookUpWithin(this.#gateway), options);
  }

  /**
   * The token in a callback's address, if it is one that this client's creates give out (see `signCallbackUrls`).
   * `createWebhookHandler` asks for it before anything else.
   */
  checkCallbackUrl(url: string): string | undefined {
    return this.#gateway.tokens.check(url);
  }

  /**
   * Whether a token of `checkCallbackUrl` is that of the payment. Without a reference it proves only that this client has
   * given it out.
   */
  isCallbackOf(token: string, payment: Payment): boolean {
    return this.#gateway.tokens.isOf(token, payment);
  }

  /**
   * Records in the journal a payment that a lookup has confirmed, so that a doubt of its reference is settled.
   * `createWebhookHandler` does so for every callback. It throws what the journal throws: take the callback again later.
   */
  async reconcile(payment: Payment): Promise<void> {
    return reconcile(this.#gateway, payment);
  }

  /**
   * Tells the journal that a payment's status has taken effect: once it is final, no sweep looks at it again.
   * `createWebhookHandler` does so after every effect. It throws what the journal throws.
   */
  async acknowledge(payment: Payment): Promise<void> {
    return acknowledge(this.#gateway, payment);
  }

  /**
   * Looks at payments whose callback may be lost, and lets each take effect as its callback would have: what the journal has
   * open, ever less often with age, doubts whose payment is known among it; or your own list. Call it from any scheduler.
   *
   * @returns how many payments it has found in which state, to be logged
   * @throws {ConfigurationError} without a journal or `ids`; what the journal throws: the next sweep looks at the rest
   * @example
   * const { processed, open, gaveUp, failed } = await gateway.sweep({ handler });
   */
  async sweep(options: SweepOptions): Promise<Swept> {
    return sweep(this.#gateway, options);
  }

  /**
   * Sends what `journal.plan` has written down, each at most once; they begin in the order of planning. Call it from any
   * scheduler, or pass `follow`.
   *
   * @returns how many were created, refused, postponed, or are in doubt, to be logged
   * @throws {ConfigurationError} without a journal and its scope; what the journal throws: the next drain sends the rest
   * @example
   * const { created, refused, postponed, inDoubt } = await gateway.drain();
   */
  async drain(options?: DrainOptions): Promise<Drained> {
    return drain(this.#gateway, options);
  }

  /**
   * The creates of this client's scope whose outcome is unknown, the oldest first; those under way are among them.
   *
   * @throws {ConfigurationError} without a journal; {@link ConnectionError}; or what the journal throws
   * @example
   * for (const { reference, amount, currency, since } of await gateway.inDoubt()) console.log(reference, amount, currency, since);
   */
  async inDoubt(options?: CallOptions): Promise<Doubt[]> {
    return inDoubt(this.#gateway, options);
  }

  /**
   * What the journal knows of a reference: its state, what was asked for, its payment as it was last seen, and what the
   * customer is to do. It asks the journal, and not the gateway.
   *
   * @returns undefined if nothing was ever created under it
   * @throws {ConfigurationError} without a journal; {@link ConnectionError}; or what the journal throws
   * @example
   * const entry = await gateway.find('order-1042');
   * if (entry?.nextAction?.type === 'redirect') response.redirect(entry.nextAction.redirectUrl);
   */
  async find(reference: string, options?: CallOptions): Promise<FoundEntry | undefined> {
    return find(this.#gateway, reference, options);
  }

  /**
   * An operator settles a reference in doubt: with the id of its payment, which is looked up and compared; or by saying
   * that there is none, which frees the reference. That is taken the journal's `settleMargin` after the create's time-out.
   *
   * @throws {ConfigurationError} without a journal
   * @throws {InvalidRequestError} if the journal does not know the reference, or the payment differs from the create: the
   * message names in what, and `despite` settles it anyway
   * @throws {PaymentInDoubtError} for `not_created` while the create may still arrive; or what a lookup or the journal throws
   * @example
   * await gateway.settle('payout-77', '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10'); // or 'not_created'
   * await gateway.settle('payout-78', id, { despite: ['amount'] }); // the gateway rounds
   */
  async settle(reference: string, paymentId: 'not_created' | (string & {}), options?: SettleOptions): Promise<void> {
    return settle(this.#gateway, reference, paymentId, options);
  }
}

/** Outside of the class: one that refers to itself is called `_GatewayClient` by the build, in every stack. */
const prototypeOfClient = () => GatewayClient.prototype;
