// GatewayClient: the calls of payments/ and upkeep/, bound to a client's options.
import {
  type CallOptions,
  type ClientOptions,
  type CreateOptions,
  readClientOptions,
  type SettleOptions,
} from './client-options.ts';
import { type Created, create } from './payments/create.ts';
import { type Gateway, openGateway } from './payments/gateway.ts';
import { lookUp } from './payments/lookup.ts';
import { cancelOrder, type Order, orderOf } from './payments/order-state.ts';
import { type Checkout, type CheckoutRequest, checkout, type OnrampCheckout } from './payments/orders.ts';
import { type PayoutRequest, payOut } from './payments/payouts.ts';
import { ask, type Doubt, doubts, type Entry, find, reconcile, settle } from './payments/references.ts';
import { resolveReview, reviews } from './payments/reviews.ts';
import { type WaitOptions, waitFor } from './payments/wait.ts';
import type { Terminal } from './schemas/methods.ts';
import type { Payment } from './schemas/records/payment.ts';
import type {
  DepositRequest,
  NftPurchaseRequest,
  OnrampDeposit,
  PaymentRequest,
  WithdrawalRequest,
} from './schemas/requests/request.ts';
import type { Store } from './store/contract.ts';
import type { Review } from './store/rules/payment-row.ts';
import { type Upkeep, type UpkeepOptions, upkeep } from './upkeep/upkeep.ts';
import { CLIENT, type ClientLink } from './webhooks/client-link.ts';

/**
 * A merchant's client of the gateway. Create one and reuse it.
 *
 * @example
 * const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey, signKey });
 * const request = { amount: '25.50', currency: 'EUR', reference: 'order-1042', webhookUrl, returnUrl };
 * const { payment, nextAction } = await gateway.createDeposit({ paymentMethod: 'CARD', ...request });
 */
export class GatewayClient<const T extends Terminal = 'standard', Tx = unknown> {
  /** Base address of the gateway, without a slash at its end. */
  readonly baseUrl: string;
  /** Kind of terminal, which decides the accepted payment methods. */
  readonly terminal: T;
  /** For the webhook handler, with the type of `tx`. */
  declare readonly [CLIENT]: ClientLink<Tx>;
  readonly #gateway: Gateway;

  /** @throws {ConfigurationError} if an option is missing or refused */
  constructor(options: ClientOptions<T, Tx> = {}) {
    const gateway = openGateway(readClientOptions(options));
    const { baseUrl, terminal, store, tokens, signCallbackUrls } = gateway;
    this.baseUrl = baseUrl;
    this.terminal = terminal as T;
    this.#gateway = gateway;
    const link: ClientLink<Tx> = {
      store: store as Store<Tx> | undefined,
      tokens,
      signCallbackUrls,
      reconcile: (...args) => reconcile(gateway, ...args),
    };
    Object.defineProperty(this, CLIENT, { value: link });
    bindMethods(this);
  }

  /**
   * Creates a deposit: the customer pays the merchant.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}: `outcome` says whether a payment may exist
   * @throws {DuplicateReferenceError} or {@link PaymentInDoubtError} or {@link StoreError}, with a store
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
   * Creates a withdrawal: the merchant pays the customer. Pass a `reference`. With a store, you can retry after any
   * error: the customer is paid at most once. Without one, retry only if `outcome` is `not_sent` or `rejected`.
   *
   * @throws the errors of `createDeposit`
   * @example
   * await gateway.createWithdrawal({ paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77', webhookUrl });
   */
  async createWithdrawal(request: WithdrawalRequest, options?: CreateOptions): Promise<Created> {
    return create(this.#gateway, 'withdrawal', request, options);
  }

  /**
   * Creates the deposit that pays for an NFT, by one of {@link NFT_METHODS}. Its type `DEPOSIT` is an assumption: the
   * gateway's document only lists the methods.
   *
   * @throws the errors of `createDeposit`
   */
  async createNftPurchase(request: NftPurchaseRequest, options?: CreateOptions): Promise<Created> {
    return create(this.#gateway, 'nftPurchase', request, options);
  }

  /**
   * Creates a payment of either type, for code that handles both.
   *
   * @throws the errors of `createDeposit`
   */
  async createPayment(
    request: PaymentRequest | (T extends 'onramp' ? OnrampDeposit & { paymentType: 'DEPOSIT' } : never),
    options?: CreateOptions,
  ): Promise<Created> {
    return create(this.#gateway, 'payment', request, options);
  }

  /**
   * Looks up a payment. A failed payment is returned like any other, so check its `paymentStatus` or call `isPaid`.
   *
   * @param id the gateway's UUID of the payment, not your reference
   * @throws {InvalidRequestError} if the id is not a UUID
   * @throws {PaymentNotFoundError} for an unknown payment
   * @throws {ApiError} or {@link ConnectionError} or {@link ResponseError}, after the client's `retries`
   * @example
   * const payment = await gateway.getPayment(id);
   * if (isPaid(payment) && payment.paymentType === 'DEPOSIT') console.log('the customer has paid');
   */
  async getPayment(id: string, options?: CallOptions): Promise<Payment> {
    return lookUp(this.#gateway, id, options);
  }

  /**
   * Polls a payment at growing intervals until it is final, or `until` returns true. Retries temporary failures.
   *
   * @throws {WaitTimeoutError} at the deadline, with `lastPayment`
   * @throws {PaymentNotFoundError} or another lasting error of `getPayment`
   * @example
   * const payment = await gateway.waitForPayment(id, { timeout: 60_000, signal });
   */
  async waitForPayment(id: string, options?: WaitOptions): Promise<Payment> {
    return waitFor(this.#gateway, id, options);
  }

  /**
   * Returns the payment page of an order. Call it whenever the customer presses "pay": now, twice, with another method,
   * or again after a decline. At most one create runs at a time, and one payment pays the order.
   *
   * @param orderId your own id, 1 to 200 bytes without control characters. Each attempt has the reference `<order>.<n>`
   * @param request a deposit without a reference. If an attempt with its method, amount and currency is open, that page
   * is returned, and the other fields are ignored
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} or {@link ConnectionError} of `outcome` `rejected` or `not_sent`: the next call tries again
   * @throws {ConfigurationError} without a store, or {@link StoreError}
   * @example
   * const checkout = await gateway.checkout('order-1042', { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', returnUrl });
   * if (checkout.state === 'redirect') response.redirect(checkout.redirectUrl);
   */
  async checkout(
    orderId: string,
    request: CheckoutRequest | (T extends 'onramp' ? OnrampCheckout : never),
    options?: CreateOptions,
  ): Promise<Checkout> {
    return checkout(this.#gateway, orderId, request, options);
  }

  /**
   * Returns an order as the store knows it, or undefined for an unknown order.
   *
   * @throws {ConfigurationError} without a store, {@link ConnectionError}, or the store's error
   */
  async order(orderId: string, options?: CallOptions): Promise<Order | undefined> {
    return ask(this.#gateway, 'order', options, store => orderOf(store, orderId));
  }

  /**
   * Stops further attempts to pay an order. A payment of it that completes later goes to review. Returns false if the
   * order is paid.
   *
   * @throws the errors of `order`
   */
  async cancelOrder(orderId: string, options?: CallOptions): Promise<boolean> {
    return ask(this.#gateway, 'cancelOrder', options, store => cancelOrder(store, orderId));
  }

  /**
   * Plans a withdrawal inside your own transaction, next to your row of the debt: both are committed, or neither.
   * `upkeep` sends it after the commit, at most once. Await `payOut` before the transaction ends.
   *
   * @param tx your open transaction: a `pg` client after BEGIN, or your library's handle, as in `onPaid`
   * @param request a withdrawal with a `reference`. Planning the same request again changes nothing
   * @throws {InvalidRequestError} before anything is written
   * @throws {DuplicateReferenceError} for the reference of another request
   * @throws {PaymentInDoubtError} if a create of the reference has an unknown outcome
   * @throws {ConfigurationError} without a store, or outside a transaction; or the database's error
   * @example
   * await db.transaction(async tx => {
   *   await tx.insert(payouts).values({ reference: 'payout-77', amount: '120.00' });
   *   await gateway.payOut(tx, { reference: 'payout-77', paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR' });
   * });
   */
  async payOut(tx: Tx, request: PayoutRequest, options?: { extra?: object | undefined }): Promise<Entry> {
    return payOut(this.#gateway, tx, request, options);
  }

  /** Lists the payments and refused payouts that a person must check, oldest first. @throws the errors of `order` */
  async reviews(options?: CallOptions): Promise<Review[]> {
    return ask(this.#gateway, 'reviews', options, reviews);
  }

  /**
   * Closes the review with this `id` and `status`, after a person has acted on it. An effect that was cut off then
   * counts as done.
   *
   * @throws {InvalidRequestError} if no such review is open, or the errors of `order`
   */
  async resolveReview(id: string, status: string, options?: CallOptions): Promise<void> {
    return ask(this.#gateway, 'resolveReview', options, store => resolveReview(store, id, status));
  }

  /**
   * Sends planned payouts, and processes payments whose callbacks were lost, with your handler. Run it in a worker
   * until `signal` aborts, or with `once` from a scheduler, in any number of replicas.
   *
   * @throws {ConfigurationError} without a store. With `once` also the store's error: the next run does the rest
   * @example
   * const { swept, sent } = await gateway.upkeep({ handler, once: true });
   */
  async upkeep(options: UpkeepOptions): Promise<Upkeep> {
    return upkeep(this.#gateway, options);
  }

  /**
   * Lists the creates of this scope with an unknown outcome, oldest first, including those still running.
   *
   * @throws the errors of `order`
   * @example
   * console.table(await gateway.doubts());
   */
  async doubts(options?: CallOptions): Promise<Doubt[]> {
    return ask(this.#gateway, 'doubts', options, doubts);
  }

  /**
   * Returns the store's entry of a reference: its state, the money requested, the payment as last seen, and the
   * customer's next action. Undefined for an unknown reference. Reads only the store.
   *
   * @throws the errors of `order`
   * @example
   * const entry = await gateway.find('donation-7');
   * if (entry?.nextAction?.type === 'redirect') response.redirect(entry.nextAction.redirectUrl);
   */
  async find(reference: string, options?: CallOptions): Promise<Entry | undefined> {
    return ask(this.#gateway, 'find', options, store => find(store, reference));
  }

  /**
   * Settles a reference in doubt with an operator's answer. A payment's id is looked up and compared with the create.
   * `not_created` frees the reference, once the create's timeout and the store's `settleMargin` have passed.
   *
   * @throws {ConfigurationError} without a store
   * @throws {InvalidRequestError} for an unknown reference, or for a payment that differs from the create. The message
   * names the fields, and `despite` accepts them
   * @throws {PaymentInDoubtError} for an early `not_created`, or the error of the lookup or store
   * @example
   * await gateway.settle('payout-77', id); // or 'not_created'
   * await gateway.settle('payout-78', id, { despite: ['amount'] }); // the gateway rounds
   */
  async settle(reference: string, paymentId: 'not_created' | (string & {}), options?: SettleOptions): Promise<void> {
    return settle(this.#gateway, reference, paymentId, options);
  }
}

/** Makes methods work detached and through a Proxy. Outside the class, which the build would rename in every stack. */
function bindMethods(client: object): void {
  const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(GatewayClient.prototype);
  for (const name of Object.keys(methods)) {
    const value = Reflect.get(client, name).bind(client);
    Object.defineProperty(client, name, { value, writable: true, configurable: true });
  }
}
