// A stateful gateway in a box: takes payments, moves them between states, and posts their callbacks.
import { Hono } from 'hono/tiny';
import type { Terminal } from '../schemas/methods.ts';
import { RequestLog } from './api/request-log.ts';
import { addApi } from './api/routes.ts';
import { type Listening, type ListenOptions, listen } from './api/server.ts';
import { Callbacks } from './callbacks/callbacks.ts';
import type { Delivery } from './callbacks/delivery.ts';
import { EventBus } from './event-bus.ts';
import { Faults } from './faults/faults.ts';
import { type FailureReason, Ledger, type PaymentRecord } from './ledger/ledger.ts';
import { type MoveOptions, Moves } from './ledger/moves.ts';
import { addPages } from './pages/routes.ts';
import type { Parts } from './parts.ts';
import { readSandboxOptions, type SandboxOptions } from './sandbox-options.ts';

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
  readonly #parts: Parts;
  readonly #app = new Hono();

  /** @throws {ConfigurationError} for a refused option, and under `NODE_ENV=production` */
  constructor(options: SandboxOptions<T> = {}) {
    const settings = readSandboxOptions(options);
    const { now, seed, onEvent } = settings;
    const events = new EventBus();
    if (onEvent) events.subscribe(onEvent);
    const faults = new Faults(events);
    const ledger = new Ledger(now, seed);
    const callbacks = new Callbacks(settings, faults, events);
    const exempt = new WeakSet<Request>();
    this.faults = faults;
    this.#parts = {
      settings,
      ledger,
      moves: new Moves(ledger, callbacks, events),
      callbacks,
      faults,
      requests: new RequestLog(events, now),
      events,
      reset: () => this.reset(),
      send: async request => {
        exempt.add(request);
        return this.#app.fetch(request);
      },
      isExempt: request => exempt.has(request),
    };
    addApi(this.#app, this.#parts);
    addPages(this.#app, this.#parts);
  }

  /** Options of a client that talks to this sandbox in process. Over HTTP, set `baseUrl` and drop `fetch`. */
  get clientOptions() {
    const { apiKey, signKey, signatureEncoding, terminal } = this.#parts.settings;
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
    return this.#parts.ledger.records;
  }

  /**
   * The payment is paid. Resolves once that is recorded; its callback is then on the way.
   *
   * @throws {SandboxError} `unknown_payment`; `final_state` without `force`. The other moves throw the same errors
   */
  async complete(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return this.#parts.moves.complete(id, options);
  }

  /** The payment is authorised, but not captured. */
  async authorize(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return this.#parts.moves.authorize(id, options);
  }

  /** The payment is canceled. */
  async cancel(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return this.#parts.moves.cancel(id, options);
  }

  /**
   * The payment fails. A processor's `code` is stored as a text (4001, 4004 and 4018 as the document translates
   * them), a `reason` as it is; with neither, `errorMessage` is absent.
   */
  async fail(id: string, options?: FailureReason & MoveOptions): Promise<PaymentRecord> {
    return this.#parts.moves.fail(id, options);
  }

  /** Every callback posted so far, and those under way. */
  get deliveries(): Delivery[] {
    return this.#parts.callbacks.deliveries;
  }

  /**
   * Posts a past callback again, byte for byte.
   *
   * @throws {SandboxError} `unknown_delivery`
   */
  redeliver(deliveryId: number): Promise<Delivery> {
    return this.#parts.callbacks.redeliver(deliveryId);
  }

  /** Resolves when no callback is under way any more. */
  idle(): Promise<void> {
    return this.#parts.callbacks.idle();
  }

  /** Forgets every payment, delivery and armed fault, and stops what is under way: a fresh sandbox for the next test. */
  reset(): void {
    const { faults, callbacks, requests, ledger, events } = this.#parts;
    for (const part of [faults, callbacks, requests, ledger]) part.clear();
    events.emit({ type: 'reset' });
  }
}
