// The sandbox: takes payments, moves them between states, and posts their callbacks.
import { Hono } from 'hono/tiny';
import type { Terminal } from '../schemas/methods.ts';
import { addApi } from './api/routes.ts';
import { type Listening, type ListenOptions, listen } from './api/server.ts';
import { Callbacks, type RedeliverOptions } from './callbacks/callbacks.ts';
import type { Delivery } from './callbacks/delivery.ts';
import { Clock } from './clock.ts';
import { addRoutes } from './control/define.ts';
import { ROUTES } from './control/routes.ts';
import { type WaitFor, waitFor } from './control/wait-for.ts';
import { Faults } from './faults/faults.ts';
import { randomOf } from './ledger/ids.ts';
import { Ledger } from './ledger/ledger.ts';
import { move } from './ledger/moves.ts';
import type { CompleteOptions, FailureReason, MoveOptions, PaymentRecord } from './ledger/record.ts';
import type { Call, SandboxEvent } from './log/events.ts';
import { Log } from './log/log.ts';
import { addPages } from './pages/routes.ts';
import type { Parts } from './parts.ts';
import { readSandboxOptions, type SandboxOptions } from './sandbox-options.ts';
import { restore, save } from './save.ts';
import type { SavedSandbox } from './saved.ts';
import type { Scenario } from './scenarios/format.ts';
import type { ScenarioName } from './scenarios/library.ts';
import { type Played, type PlayOptions, play } from './scenarios/play.ts';

/** A sandbox that serves HTTP. */
export interface ListeningSandbox<T extends Terminal = Terminal> extends Listening {
  /** The options of a client on this machine that calls the sandbox over real HTTP. */
  clientOptions: Omit<Sandbox<T>['clientOptions'], 'fetch'>;
}

/**
 * The documented gateway, embedded: no account, no network. Pass `sandbox.fetch` to a client or msw, or call `listen` to
 * serve real HTTP. For development and tests only.
 *
 * @example
 * const sandbox = new Sandbox();
 * const gateway = new GatewayClient(sandbox.clientOptions);
 * const { payment } = await gateway.createDeposit({ paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl });
 * await sandbox.complete(payment.id); // its callback is on the way
 */
export class Sandbox<const T extends Terminal = 'standard'> {
  /** Faults to inject: `sandbox.faults.next('commit-then-drop')`. */
  readonly faults: Faults;
  /** The clock, which tests can move: `sandbox.clock.advance(60_000)`. */
  readonly clock: Clock;
  readonly #parts: Parts;
  readonly #app = new Hono();

  /** @throws {ConfigurationError} for a refused option, and under `NODE_ENV=production` */
  constructor(options: SandboxOptions<T> = {}) {
    const settings = readSandboxOptions(options);
    const { seed, maxDeliveries, onEvent, saved } = settings;
    const clock: Clock = new Clock(settings.now, offset => {
      callbacks.wake();
      log.emit({ type: 'clock', offset });
    });
    const now = () => clock.now();
    const log = new Log(maxDeliveries, now);
    if (onEvent) log.subscribe(onEvent);
    const faults = new Faults(log, randomOf(seed));
    const callbacks = new Callbacks({ settings, faults, log, clock });
    const ledger = new Ledger(settings, now);
    this.faults = faults;
    this.clock = clock;
    this.#parts = { settings, clock, ledger, callbacks, faults, log, reset: () => this.reset() };
    addApi(this.#app, this.#parts);
    addRoutes(this.#app, ROUTES, this.#parts);
    addPages(this.#app, this.#parts);
    if (saved) restore(this.#parts, saved);
  }

  /** The options of a client in this process. For HTTP, use those that `listen` returns. */
  get clientOptions() {
    const { apiKey, signKey, signatureEncoding, terminal } = this.#parts.settings;
    const baseUrl = 'http://sandbox.localhost';
    return { baseUrl, apiKey, signKey, signatureEncoding, terminal: terminal as T, fetch: this.fetch };
  }

  /** Answers a request in process, like the global `fetch`: pass a `Request`, or a URL with `init`. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    return this.#app.fetch(request);
  };

  /**
   * Serves the sandbox over real HTTP, on 127.0.0.1 by default.
   *
   * @example
   * const server = await sandbox.listen();
   * const gateway = new GatewayClient(server.clientOptions);
   */
  async listen(options: ListenOptions = {}): Promise<ListeningSandbox<T>> {
    const listening = await listen(this.fetch, options, this.#parts.settings.publicUrl);
    const { fetch: _, ...clientOptions } = this.clientOptions;
    return { ...listening, clientOptions: { ...clientOptions, baseUrl: listening.url } };
  }

  /** Every payment as a lookup shows it, in order of creation. */
  get payments(): PaymentRecord[] {
    return structuredClone(this.#parts.ledger.entries.map(({ record }) => record));
  }

  /**
   * Completes a payment, as if the customer had paid the requested amount or another `amount`. Resolves once that is
   * recorded. Its callback follows.
   *
   * @throws {SandboxError} `unknown_payment`; `final_state` without `force`, like the other moves
   */
  async complete(id: string, options?: CompleteOptions): Promise<PaymentRecord> {
    return move(this.#parts, id, 'complete', options);
  }

  /** Authorises a payment without capturing it. */
  async authorize(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return move(this.#parts, id, 'authorize', options);
  }

  /** Cancels a payment. */
  async cancel(id: string, options?: MoveOptions): Promise<PaymentRecord> {
    return move(this.#parts, id, 'cancel', options);
  }

  /**
   * Fails a payment. Its `errorMessage` is the `reason` unchanged, the text of a processor's `code`, or absent. The
   * sandbox translates 4001, 4004 and 4018 as the document does.
   */
  async fail(id: string, options?: FailureReason & MoveOptions): Promise<PaymentRecord> {
    return move(this.#parts, id, 'fail', options);
  }

  /** The kept callback deliveries, including running posts. */
  get deliveries(): Delivery[] {
    return this.#parts.log.deliveries.map(delivery => ({ ...delivery }));
  }

  /** The latest calls, the oldest first: request, answer, and the problem of a wrong signature. */
  get calls(): Call[] {
    return [...this.#parts.log.calls];
  }

  /** Returns the calls, moves and callbacks of a payment, in order of time. @throws {SandboxError} `unknown_payment` */
  timeline(id: string): SandboxEvent[] {
    const { ledger, log } = this.#parts;
    return structuredClone(log.timeline(ledger.get(id).id));
  }

  /** Posts a past callback again, byte for byte or with another `body`. @throws {SandboxError} `unknown_delivery` */
  redeliver(deliveryId: number, options?: RedeliverOptions): Promise<Delivery> {
    return this.#parts.callbacks.redeliver(deliveryId, options);
  }

  /**
   * Waits for a payment, and optionally for its state and its answered callback.
   *
   * @example
   * await sandbox.waitFor({ reference: 'order-1042', paymentStatus: 'COMPLETED', isAnswered: true });
   * @throws {SandboxError} `timeout`
   */
  async waitFor(what: WaitFor): Promise<PaymentRecord> {
    return structuredClone(await waitFor(this.#parts, what));
  }

  /**
   * Plays a scenario at a merchant's callback address: a built-in one by name, or your own.
   *
   * @example
   * const { problems } = await sandbox.play('callback-forged', { to: 'http://localhost:3000/callbacks' });
   * expect(problems).toEqual([]);
   * @throws {ConfigurationError} for a mistake in the scenario
   * @throws {SandboxError} `unknown_scenario`; `refused` if the gateway refuses its create, or a reset ends it;
   * `final_state` for a move without `force`
   */
  async play(scenario: ScenarioName | Scenario, options: PlayOptions = {}): Promise<Played> {
    return structuredClone(await play(this.#parts, scenario, options, this.clientOptions.baseUrl));
  }

  /** Returns all state as plain JSON, for the option `saved` of another sandbox. */
  save(): SavedSandbox {
    return save(this.#parts);
  }

  /** Resolves once all running and scheduled callbacks are posted. */
  idle(): Promise<void> {
    return this.#parts.callbacks.idle();
  }

  /**
   * Forgets every payment, call, delivery and armed fault, stops running work, and resets the clock. Call it between
   * tests.
   */
  reset(): void {
    const { faults, callbacks, log, ledger, clock } = this.#parts;
    for (const part of [faults, callbacks, ledger, log]) part.clear();
    clock.shift(0);
    log.emit({ type: 'reset' });
  }
}
