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
 * A merchant's client of the gateway. Create one and reuse it.
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
  /** The kind of terminal. It decides which payment methods the client accepts. */
  readonly terminal: T;
  /** Whether creates sign the addresses of their callbacks (the option `signCallbackUrls`). */
  declare readonly signCallbackUrls: boolean;
  /** Whether the client has a journal. With one, every payment that it confirms settles its doubt. */
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
   * Creates a deposit: the customer pays the merchant.
   *
   * @throws {InvalidRequestError} if the request is invalid, before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}: `outcome` says whether a payment may exist
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
   * Creates a withdrawal: the merchant pays the customer. Pass a `reference`. With a journal you can retry after any
   * error, and the customer is paid once. Without one, retry only if `outcome` is `not_sent` or `rejected`.
   *
   * @throws {InvalidRequestError} if the request is invalid, before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}: `outcome` says whether a payment may exist
   * @throws {DuplicateReferenceError} or {@link PaymentInDoubtError} or {@link JournalError}, with a journal
   * @example
   * await gateway.createWithdrawal({ paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77', webhookUrl });
   */
  async createWithdrawal(request: WithdrawalRequest, options?: CreateOptions): Promise<Created> {
    return create(this.#gateway, 'withdrawal', request, options);
  }

  /**
   * Creates the deposit that pays for an NFT, by one of {@link NFT_METHODS}. The gateway's document only restricts the
   * methods: the type `DEPOSIT` is this SDK's assumption.
   *
   * @throws {InvalidRequestError} if the request is invalid, before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}: `outcome` says whether a payment may exist
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
   * @throws {InvalidRequestError} if the request is invalid, before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}: `outcome` says whether a payment may exist
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
   * Looks up a payment. A failed payment is returned like any other, so check its `paymentStatus` or call `isPaid`.
   *
   * @param id the gateway's UUID of the payment, not your reference
   * @throws {InvalidRequestError} if the id is not a UUID
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
   * Polls a payment until it is final, or until `until` returns true. The pauses between lookups grow. Temporary
   * failures are retried until the deadline.
   *
   * @throws {WaitTimeoutError} at the deadline, with the last payment seen as `lastPayment`
   * @throws {PaymentNotFoundError} or another error of `getPayment` that a later lookup would have too
   * @example
   * const payment = await gateway.waitForPayment(id, { timeout: 60_000, signal });
   */
  async waitForPayment(id: string, options?: WaitOptions): Promise<Payment> {
    return waitFor(id, lookUpWithin(this.#gateway), options);
  }

  /**
   * Returns the token in a callback's address if it is signed with one of this client's keys (see `signCallbackUrls`).
   * `createWebhookHandler` checks it before anything else.
   */
  checkCallbackUrl(url: string): string | undefined {
    return this.#gateway.tokens.check(url);
  }

  /**
   * Checks whether a token from `checkCallbackUrl` belongs to the payment. For a payment without a reference, it only
   * proves that the token is signed with one of this client's keys.
   */
  isCallbackOf(token: string, payment: Payment): boolean {
    return this.#gateway.tokens.isOf(token, payment);
  }

  /**
   * Records a looked-up payment in the journal, which settles a doubt of its reference. `createWebhookHandler` calls it
   * for every callback. If it throws the journal's error, handle the callback again later.
   */
  async reconcile(payment: Payment): Promise<void> {
    return reconcile(this.#gateway, payment);
  }

  /**
   * Records in the journal that a payment's status has taken effect. Sweeps skip the payment once that status is final.
   * `createWebhookHandler` calls it after every effect. It throws the journal's errors.
   */
  async acknowledge(payment: Payment): Promise<void> {
    return acknowledge(this.#gateway, payment);
  }

  /**
   * Processes payments whose callback may be lost, as their callbacks would. It looks up your `ids`, or the journal's
   * open payments and the doubts with a known payment, less and less often with age. Call it from any scheduler.
   *
   * @returns the number of payments by result, for your log
   * @throws {ConfigurationError} without a journal or `ids`, or the journal's error: the next sweep processes the rest
   * @example
   * const { processed, open, gaveUp, failed } = await gateway.sweep({ handler });
   */
  async sweep(options: SweepOptions): Promise<Swept> {
    return sweep(this.#gateway, options);
  }

  /**
   * Sends the creates that `journal.plan` wrote, each at most once, and starts them in the order of planning. Call it
   * from any scheduler, or pass `follow`.
   *
   * @returns the number of creates by result, for your log: created, refused, postponed, in doubt
   * @throws {ConfigurationError} without a journal and its scope, or the journal's error: the next drain sends the rest
   * @example
   * const { created, refused, postponed, inDoubt } = await gateway.drain();
   */
  async drain(options?: DrainOptions): Promise<Drained> {
    return drain(this.#gateway, options);
  }

  /**
   * Lists the creates of this client's scope with an unknown outcome, oldest first, including those still running.
   *
   * @throws {ConfigurationError} without a journal, {@link ConnectionError}, or the journal's error
   * @example
   * for (const { reference, amount, currency, since } of await gateway.inDoubt()) console.log(reference, amount, currency, since);
   */
  async inDoubt(options?: CallOptions): Promise<Doubt[]> {
    return inDoubt(this.#gateway, options);
  }

  /**
   * Returns the journal's entry of a reference: its state, the money requested, the payment as last seen, and the
   * customer's next action. It asks only the journal.
   *
   * @returns undefined if the journal does not know the reference
   * @throws {ConfigurationError} without a journal, {@link ConnectionError}, or the journal's error
   * @example
   * const entry = await gateway.find('order-1042');
   * if (entry?.nextAction?.type === 'redirect') response.redirect(entry.nextAction.redirectUrl);
   */
  async find(reference: string, options?: CallOptions): Promise<FoundEntry | undefined> {
    return find(this.#gateway, reference, options);
  }

  /**
   * Settles a reference in doubt with an operator's answer. A payment's id is looked up and compared with the create.
   * `not_created` frees the reference, once the create's timeout and the journal's `settleMargin` have passed.
   *
   * @throws {ConfigurationError} without a journal
   * @throws {InvalidRequestError} if the journal does not know the reference, or the payment differs from the create.
   * The message names the fields, and `despite` accepts them
   * @throws {PaymentInDoubtError} for an early `not_created`, or the error of the lookup or journal
   * @example
   * await gateway.settle('payout-77', '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10'); // or 'not_created'
   * await gateway.settle('payout-78', id, { despite: ['amount'] }); // the gateway rounds
   */
  async settle(reference: string, paymentId: 'not_created' | (string & {}), options?: SettleOptions): Promise<void> {
    return settle(this.#gateway, reference, paymentId, options);
  }
}

/** Outside the class, because the build renames a class that refers to itself to `_GatewayClient` in every stack. */
const prototypeOfClient = () => GatewayClient.prototype;
