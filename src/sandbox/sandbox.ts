// A stateful gateway in a box: takes payments, moves them between states, and posts their callbacks.
import { Hono } from 'hono/tiny';
import type { Terminal } from '../schemas/methods.ts';
import { Callbacks } from './callbacks.ts';
import { Calls } from './calls.ts';
import type { Delivery } from './delivery.ts';
import { Feed } from './events.ts';
import { Faults } from './faults.ts';
import { addGateway } from './gateway.ts';
import { type FailureReason, Ledger, type PaymentRecord } from './ledger.ts';
import { type MoveOptions, Moves } from './moves.ts';
import { resolveOptions, type SandboxOptions, type TerminalOptions } from './options.ts';
import { addPages } from './pages/routes.ts';
import { type Listening, type ListenOptions, listen } from './server.ts';

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
  readonly faults: Faults;
  readonly #terminal: TerminalOptions;
  readonly #ledger: Ledger;
  readonly #callbacks: Callbacks;
  readonly #calls: Calls;
  readonly #moves: Moves;
  readonly #feed = new Feed();
  readonly #app = new Hono();

  /** @throws {ConfigurationError} for a refused option, and under `NODE_ENV=production` */
  constructor(options: SandboxOptions<T> = {}) {
    const { terminal, fetch, forwardTo, now, seed, onEvent } = resolveOptions(options);
    if (onEvent) this.#feed.subscribe(onEvent);
    this.#terminal = terminal;
    this.faults = new Faults(this.#feed);
    this.#ledger = new Ledger(now, seed);
    this.#callbacks = new Callbacks({ fetch, forwardTo }, this.faults, this.#feed);
    this.#calls = new Calls(this.#feed, now);
    this.#moves = new Moves(this.#ledger, this.#callbacks, this.#feed);
    const unspoilt = new WeakSet<Request>();
    const send = async (request: Request) => {
      unspoilt.add(request);
      return this.#app.fetch(request);
    };
    const rooms = {
      terminal,
      ledger: this.#ledger,
      callbacks: this.#callbacks,
      calls: this.#calls,
      moves: this.#moves,
      faults: this.faults,
      feed: this.#feed,
      unspoilt,
    };
    addGateway(this.#app, rooms);
    addPages(this.#app, { ...rooms, forwardTo, reset: () => this.reset(), send });
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
    return this.#app.fetch(request);
  };

  /** Serves the sandbox over real HTTP on 127.0.0.1. */
  listen(options: ListenOptions = {}): Promise<Listening> {
    return listen(this.fetch, options);
  }

  /** Every payment, as a lookup would show it, in the order of creation. */
  get payments(): PaymentRecord[] {
    return this.#ledger.records;
  }

  /**
   * The payment is paid. Resolves once that is recorded; its callback is then on the way.
   *
   * @throws {SandboxError} `unknown_payment`; `final_state` without `force`. So do the other moves
   */
  async complete(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return this.#moves.complete(id, options);
  }

  /** The payment is authorised, but not captured. */
  async authorize(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return this.#moves.authorize(id, options);
  }

  /** The payment is canceled. */
  async cancel(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return this.#moves.cancel(id, options);
  }

  /**
   * The payment fails. A processor's `code` is stored as words (4001, 4004 and 4018 as the document translates
   * them), a `reason` as it stands; with neither, `errorMessage` is absent.
   */
  async fail(id: string, options?: FailureReason & MoveOptions): Promise<PaymentRecord> {
    return this.#moves.fail(id, options);
  }

  /** Every callback posted so far, and those under way. */
  get deliveries(): Delivery[] {
    return this.#callbacks.deliveries;
  }

  /**
   * Posts a past callback again, byte for byte.
   *
   * @throws {SandboxError} `unknown_delivery`
   */
  redeliver(deliveryId: number): Promise<Delivery> {
    return this.#callbacks.redeliver(deliveryId);
  }

  /** Resolves when no callback is under way any more. */
  idle(): Promise<void> {
    return this.#callbacks.idle();
  }

  /** Forgets every payment, delivery and armed fault, and stops what is under way: a fresh sandbox for the next test. */
  reset(): void {
    this.faults.clear();
    this.#callbacks.clear();
    this.#calls.clear();
    this.#ledger.clear();
    this.#feed.emit({ type: 'reset' });
  }
}
