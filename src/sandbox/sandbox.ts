// A stateful gateway in a box: takes payments, moves them between states, and posts their callbacks.
import type * as z from 'zod';
import { ConfigurationError, listOf } from '../errors.ts';
import { issuesOf } from '../issues.ts';
import type { PaymentStatus, Terminal } from '../schemas/methods.ts';
import { type CallbackFetch, Callbacks, type Delivery } from './callbacks.ts';
import { Faults } from './faults.ts';
import { createGateway, type TerminalOptions, terminalSchema } from './gateway.ts';
import { errorMessageOf, type FailureReason, Ledger, type PaymentRecord } from './ledger.ts';
import { type Listening, type ListenOptions, listen } from './server.ts';

export type SandboxOptions<T extends Terminal = Terminal> = Omit<
  z.input<typeof terminalSchema>,
  'terminal'
> & {
  /**
   * Which methods deposits may use.
   * @default 'standard'
   */
  terminal?: T | undefined;
  /**
   * Posts the callbacks.
   * @default the global fetch, to loopback addresses only; pass it to post anywhere
   */
  fetch?: CallbackFetch | undefined;
  /**
   * Milliseconds since 1970, for `created`.
   * @default Date.now
   */
  now?: (() => number) | undefined;
};

export interface MoveOptions {
  /** Move the payment even out of a final state. */
  force?: boolean | undefined;
}

/**
 * The gateway of the document, embedded: no account, no network. Pass `sandbox.fetch` to a client, hand it to msw,
 * or let it `listen` for real HTTP. For development and tests only.
 *
 * @example
 * const sandbox = new Sandbox();
 * const gateway = new GatewayClient(sandbox.clientOptions);
 * const { payment } = await gateway.createDeposit({ paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl });
 * await sandbox.complete(payment.id); // its callback is on the way
 */
export class Sandbox<const T extends Terminal = 'standard'> {
  /** Faults to arm: `sandbox.faults.next('commit-then-drop')`. */
  readonly faults = new Faults();
  readonly #terminal: TerminalOptions;
  readonly #ledger: Ledger;
  readonly #callbacks: Callbacks;
  readonly #gateway: ReturnType<typeof createGateway>;

  /** @throws {ConfigurationError} for a refused option, and under `NODE_ENV=production` */
  constructor(options: SandboxOptions<T> = {}) {
    const { fetch, now = Date.now, ...terminal } = options ?? {};
    if (process.env.NODE_ENV === 'production') {
      throw new ConfigurationError(
        'The sandbox does not start under NODE_ENV=production: it moves no money.',
      );
    }
    const { success, data, error } = terminalSchema.safeParse(terminal);
    if (!success) throw new ConfigurationError(`Sandbox: ${listOf(issuesOf(error))}.`);
    for (const [name, value] of Object.entries({ fetch, now })) {
      if (value !== undefined && typeof value !== 'function') {
        throw new ConfigurationError(`Sandbox: ${name} must be a function.`);
      }
    }
    this.#terminal = data;
    this.#ledger = new Ledger(now);
    this.#callbacks = new Callbacks(fetch);
    this.#gateway = createGateway(data, this.#ledger, this.faults);
  }

  /** Options of a client that talks to this sandbox in process. Over HTTP, set `baseUrl` and drop `fetch`. */
  get clientOptions() {
    const { apiKey, signKey, signatureEncoding, terminal } = this.#terminal;
    const baseUrl = 'http://sandbox.localhost';
    return { baseUrl, apiKey, signKey, signatureEncoding, terminal: terminal as T, fetch: this.fetch };
  }

  /** The whole gateway as one function: `fetch(request)`, or `fetch(url, init)` as a client calls it. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    return this.#gateway.fetch(request);
  };

  /** Serves the sandbox over real HTTP on 127.0.0.1. */
  listen(options: ListenOptions = {}): Promise<Listening> {
    return listen(this.fetch, options);
  }

  /** Every payment, as a lookup would show it, in the order of creation. */
  get payments(): PaymentRecord[] {
    return this.#ledger.records;
  }

  /** The payment is paid. Resolves once that is recorded; its callback is then on the way. */
  async complete(id: string, options: MoveOptions = {}): Promise<PaymentRecord> {
    return this.#move(id, 'COMPLETED', this.#ledger.settlementOf(id), options);
  }

  /** The payment is authorised, but not captured. */
  async authorize(id: string, options: MoveOptions = {}): Promise<PaymentRecord> {
    return this.#move(id, 'AUTHORIZED', {}, options);
  }

  async cancel(id: string, options: MoveOptions = {}): Promise<PaymentRecord> {
    return this.#move(id, 'CANCELED', {}, options);
  }

  /**
   * The payment fails. A processor's `code` is stored as words (4001, 4004 and 4018 as the document translates
   * them), a `reason` as it stands; with neither, `errorMessage` is absent.
   */
  async fail(id: string, options: FailureReason & MoveOptions = {}): Promise<PaymentRecord> {
    if (typeof options !== 'object') throw new TypeError('sandbox.fail takes { code } or { reason }.');
    const { force, ...reason } = options;
    return this.#move(id, 'FAILED', errorMessageOf(reason), { force });
  }

  /** Every callback posted so far, and those under way. */
  get deliveries(): Delivery[] {
    return this.#callbacks.deliveries;
  }

  /** Posts a past callback again, byte for byte. */
  redeliver(deliveryId: number): Promise<Delivery> {
    return this.#callbacks.redeliver(deliveryId);
  }

  /** Resolves when no callback is under way any more. */
  idle(): Promise<void> {
    return this.#callbacks.idle();
  }

  #move(
    id: string,
    status: PaymentStatus,
    changes: Partial<PaymentRecord>,
    { force }: MoveOptions,
  ): PaymentRecord {
    const before = this.#ledger.find(id)?.paymentStatus;
    const record = this.#ledger.move(id, status, changes, force);
    if (record.paymentStatus !== before) this.#callbacks.send(record, this.#ledger.callbackUrlOf(id));
    return record;
  }
}
