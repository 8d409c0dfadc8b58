// The merchant's side of the gateway: creates payments, reads them back, and waits for them.
import { readCreated, readLookedUp } from './answers.ts';
import { type CallOptions, type CreateOptions, creationLimitsOf, limitsOf } from './call-options.ts';
import {
  bodyOf,
  CREATABLE,
  type CreationSchema,
  check,
  type DepositRequest,
  type NftPurchaseRequest,
  nftPurchaseSchema,
  type PaymentRequest,
  type Positive,
  type WithdrawalRequest,
  withdrawalSchema,
} from './creation.ts';
import { ConfigurationError, InvalidRequestError, PaymentNotFoundError } from './errors.ts';
import { type Call, observe, reporting } from './events.ts';
import { type NextAction, nextActionOf } from './next-action.ts';
import { Guard } from './once/guard.ts';
import type { Doubt } from './once/journal.ts';
import { type ClientOptions, resolveOptions, type Settings } from './options.ts';
import { isPaymentId } from './payment-id.ts';
import type { Envelope } from './schemas/envelope.ts';
import type { Terminal } from './schemas/methods.ts';
import type { Payment } from './schemas/payment.ts';
import type { Amount } from './schemas/request.ts';
import { signBody } from './signing.ts';
import { type Deadline, deadlineIn } from './time.ts';
import { Transport } from './transport.ts';
import { type WaitOptions, waitFor } from './wait.ts';
import { type ConfirmedWebhook, confirm, readClaim } from './webhooks/confirm.ts';

/** A payment that the gateway has accepted. */
export interface Created {
  /** As a rule `PENDING`: the outcome comes by callback. */
  payment: Payment;
  /** What to do now. */
  nextAction: NextAction;
  /** Whether an earlier create of this reference had made the payment already; only a `journal` can tell. */
  replayed: boolean;
}

/**
 * A merchant's connection to the gateway. Make one and keep it: it holds no state besides its options.
 *
 * @example
 * const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey, signKey });
 * const { payment, nextAction } = await gateway.createDeposit({
 *   paymentMethod: 'CARD', amount: '25.50', currency: 'EUR',
 *   reference: 'order-1042', webhookUrl: 'https://shop.example/callbacks', returnUrl: 'https://shop.example/thanks',
 * });
 */
export class GatewayClient<const T extends Terminal = 'standard'> {
  readonly baseUrl: string;
  readonly terminal: T;
  readonly #settings: Settings;
  readonly #transport: Transport;
  readonly #guard: Guard | undefined;
  readonly #creatable: (typeof CREATABLE)[Terminal];
  readonly #url: string;
  readonly #headers: Record<string, string>;

  /** @throws {ConfigurationError} if an option is missing or refused */
  constructor(options: ClientOptions<T> = {}) {
    const settings = resolveOptions(options);
    this.baseUrl = settings.baseUrl;
    this.terminal = settings.terminal as T;
    this.#settings = settings;
    this.#transport = new Transport(settings);
    this.#guard = settings.journal && new Guard(settings.journal, settings.baseUrl, settings.onEvent);
    this.#creatable = CREATABLE[settings.terminal];
    this.#url = `${settings.baseUrl}/api/v1/payments`;
    this.#headers = {
      authorization: `Bearer ${settings.apiKey}`,
      accept: 'application/json',
      // Half of a compressed answer cannot be read, and may hold the payment's id.
      'accept-encoding': 'identity',
    };
  }

  /**
   * Creates a deposit: the customer pays.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} {@link ConnectionError} {@link ResponseError}, each with an `outcome`
   * @example
   * const { nextAction } = await gateway.createDeposit({ paymentMethod: 'BLIK', amount: '80.00', currency: 'PLN', webhookUrl });
   * if (nextAction.type === 'redirect') response.redirect(nextAction.redirectUrl);
   */
  async createDeposit<const A extends Amount>(
    request: DepositRequest<T> & Positive<A>,
    options?: CreateOptions,
  ): Promise<Created> {
    return this.#create(this.#creatable.deposit, request, options, 'DEPOSIT');
  }

  /**
   * Creates a withdrawal: the merchant pays the customer. Give it a `reference`, and repeat it only if the error's
   * `outcome` is `not_sent` or `rejected`.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} {@link ConnectionError} {@link ResponseError}, each with an `outcome`
   * @example
   * await gateway.createWithdrawal({ paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77', webhookUrl });
   */
  async createWithdrawal<const A extends Amount>(
    request: WithdrawalRequest & Positive<A>,
    options?: CreateOptions,
  ): Promise<Created> {
    return this.#create(withdrawalSchema, request, options, 'WITHDRAWAL');
  }

  /**
   * Creates the deposit that pays for an NFT, by one of {@link NFT_METHODS}. That it is a deposit is this SDK's
   * reading: the gateway's document only restricts the methods.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} {@link ConnectionError} {@link ResponseError}, each with an `outcome`
   * @example
   * await gateway.createNftPurchase({ paymentMethod: 'OPENBANKING', amount: 40, currency: 'GBP', webhookUrl });
   */
  async createNftPurchase<const A extends Amount>(
    request: NftPurchaseRequest & Positive<A>,
    options?: CreateOptions,
  ): Promise<Created> {
    return this.#create(nftPurchaseSchema, request, options, 'DEPOSIT');
  }

  /**
   * Creates a payment of either type, for code that handles both.
   *
   * @throws {InvalidRequestError} before anything is sent
   * @throws {ApiError} {@link ConnectionError} {@link ResponseError}, each with an `outcome`
   * @example
   * await gateway.createPayment({ paymentType: 'DEPOSIT', paymentMethod: 'P24', amount: '99.00', currency: 'PLN', webhookUrl });
   */
  async createPayment<const A extends Amount>(
    request: PaymentRequest<T> & Positive<A>,
    options?: CreateOptions,
  ): Promise<Created> {
    return this.#create(this.#creatable.payment, request, options);
  }

  /**
   * Reads a payment. A payment that failed is read like any other: look at its `paymentStatus`, or ask `isPaid`.
   *
   * @param id the gateway's id, a UUID; not the merchant's reference
   * @throws {InvalidRequestError} if the id is no UUID
   * @throws {PaymentNotFoundError} if the gateway has no such payment
   * @throws {ApiError} {@link ConnectionError} {@link ResponseError} after the client's `retries`
   * @example
   * const payment = await gateway.getPayment(id);
   * if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) await credit(payment.reference);
   */
  async getPayment(id: string, options?: CallOptions): Promise<Payment> {
    // An id that is none stays out of events: it may be anything.
    const call: Call = { operation: 'lookup', paymentId: isPaymentId(id) ? id : undefined };
    return reporting(call, this.#settings.onEvent, async () => {
      if (!isPaymentId(id)) throw new InvalidRequestError([NOT_AN_ID]);
      const { timeout, signal } = limitsOf(options, this.#settings.timeout);
      const exchange = { call, method: 'GET', url: `${this.#url}/${id}`, headers: this.#headers } as const;
      return readLookedUp(await this.#transport.send(exchange, deadlineIn(timeout), signal), call, id);
    });
  }

  /**
   * Looks at a payment again and again, ever less often, until it is final, or until `until` says so. Lookups that
   * fail in passing are repeated until the deadline.
   *
   * @throws {WaitTimeoutError} at the deadline, with the `lastPayment` seen
   * @throws {PaymentNotFoundError} and other errors of `getPayment` that time does not heal
   * @example
   * const payment = await gateway.waitForPayment(id, { timeout: 60_000, signal });
   */
  async waitForPayment(id: string, options?: WaitOptions): Promise<Payment> {
    const longest = this.#settings.timeout;
    return waitFor(
      id,
      limits => this.getPayment(id, { ...limits, timeout: Math.min(limits.timeout, longest) }),
      options,
    );
  }

  /**
   * Confirms a status callback: looks the payment up and compares what the callback claims of amount, currency, type
   * and reference. A record that lags behind the callback is looked up again, up to twice. For a whole endpoint, with
   * effects that happen once, take `createWebhookHandler`.
   *
   * @param rawBody the body as text or UTF-8 bytes, or already parsed
   * @returns `payment`, the gateway's own record to act on, and `claim`, what the callback said
   * @throws {WebhookError} `not_json`, `wrapped`, `invalid`; `unconfirmed` if the gateway says otherwise
   * @throws {WaitTimeoutError} if the record still lags: take the callback again later
   * @throws {ApiError} {@link ConnectionError} {@link ResponseError} if the lookup fails
   * @example
   * const { payment } = await gateway.confirmWebhook(await request.text());
   */
  async confirmWebhook(
    rawBody: string | Uint8Array | object,
    options?: CallOptions,
  ): Promise<ConfirmedWebhook> {
    const limits = limitsOf(options, this.#settings.timeout);
    return confirm(readClaim(rawBody), (id, limits) => this.getPayment(id, limits), limits);
  }

  /**
   * Tells the journal of a payment that a lookup has confirmed, so that a doubt of its reference is settled.
   * `createWebhookHandler` does so for every callback; without a journal it does nothing.
   *
   * @param payment the gateway's own record
   * @throws what the journal throws: take the callback again later
   */
  async reconcile(payment: Payment): Promise<void> {
    await this.#guard?.reconcile(this.#resultOf({ payment }));
  }

  /**
   * The creates of this client's scope of which nobody knows how they ended, the oldest first; those under way are
   * among them.
   *
   * @throws {ConfigurationError} without a journal
   * @throws what the journal throws
   * @example
   * for (const { reference, since } of await gateway.inDoubt()) console.log('ask the gateway about', reference, since);
   */
  async inDoubt(): Promise<Doubt[]> {
    if (!this.#guard) throw new ConfigurationError('inDoubt needs a client with a journal.');
    return this.#guard.inDoubt();
  }

  /**
   * An operator's word on a reference in doubt: the id of its payment, which is looked
   * up and compared; or that the gateway made none, which frees the reference.
   *
   * @throws {ConfigurationError} without a journal
   * @throws {InvalidRequestError} if the payment is not the one in doubt, or the journal knows nothing of the reference
   * @throws {PaymentInDoubtError} for `not_created` while the create may still be under way
   * @example
   * await gateway.settle('payout-77', '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10'); // or 'not_created'
   */
  async settle(reference: string, paymentId: string | 'not_created'): Promise<void> {
    if (!this.#guard) throw new ConfigurationError('settle needs a client with a journal.');
    const word =
      paymentId === 'not_created' ? paymentId : this.#resultOf({ payment: await this.#settling(paymentId) });
    const exists = (id: string) =>
      this.getPayment(id).then(
        () => true,
        error => {
          if (error instanceof PaymentNotFoundError) return false;
          throw error;
        },
      );
    await this.#guard.settle(reference, word, exists);
  }

  async #settling(paymentId: string): Promise<Payment> {
    if (!isPaymentId(paymentId)) throw new InvalidRequestError([NEITHER]);
    return this.getPayment(paymentId);
  }

  /** Check, serialise, send: at most once, if there is a journal and a reference. */
  async #create(
    schema: CreationSchema,
    request: unknown,
    options?: CreateOptions,
    paymentType?: 'DEPOSIT' | 'WITHDRAWAL',
  ): Promise<Created> {
    const call: Call = { operation: 'create' };
    return reporting(call, this.#settings.onEvent, async () => {
      const limits = creationLimitsOf(options, this.#settings.timeout);
      const creation = check(schema, request, paymentType);
      call.reference = creation.reference ?? undefined;
      const body = bodyOf(creation, options?.extra);
      const send = (deadline: Deadline) => this.#send(call, body, deadline, limits.signal);
      if (!this.#guard) return { ...(await send(deadlineIn(limits.timeout))), replayed: false };
      const lookUp = async (id: string, timeout: number) =>
        this.#resultOf({ payment: await this.getPayment(id, { ...limits, timeout }) });
      return this.#guard.create(creation, body, { ...limits, send, lookUp });
    });
  }

  /** Sign, send, unwrap and check again, next action. */
  async #send(call: Call, body: Uint8Array, deadline: Deadline, signal: AbortSignal | undefined) {
    const { signKey, signatureEncoding } = this.#settings;
    const signature = signBody(body, signKey, signatureEncoding);
    const headers = { ...this.#headers, 'content-type': 'application/json', signature };
    const exchange = { call, method: 'POST', url: this.#url, headers, body } as const;
    return this.#resultOf(readCreated(await this.#transport.send(exchange, deadline, signal), call), call);
  }

  #resultOf(envelope: Envelope, call?: Call): { payment: Payment; nextAction: NextAction } {
    const { payment } = envelope;
    const nextAction = nextActionOf(envelope, message => {
      const warned = { ...call, operation: call?.operation ?? 'lookup', paymentId: payment.id };
      observe(this.#settings.onEvent, { ...warned, type: 'warning', code: 'unusable_redirect_url', message });
    });
    return { payment, nextAction };
  }
}

const NEITHER = {
  path: 'paymentId',
  message: "must be the gateway's id of the payment, a UUID, or 'not_created'",
};

const NOT_AN_ID = {
  path: 'id',
  message: "must be the gateway's id of the payment, a UUID, and not your reference",
};
