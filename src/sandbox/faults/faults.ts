// The armed faults: each waits for the next call, or the next callback.
import * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { nearest } from '../../schemas/hints.ts';
import { oneOf, optionsReader } from '../../schemas/read-options.ts';
import { LONGEST_TIMER } from '../../schemas/store-options.ts';
import type { EventBus } from '../event-bus.ts';
import { CALLBACK_FAULTS, type CallbackFault, type CallFault, FAULTS, type Fault, type Operation } from './kinds.ts';

/** How a fault is armed. */
export interface FaultOptions {
  /**
   * The call that a fault of calls is injected into.
   * @default 'create'
   */
  on?: Operation | undefined;
  /** Milliseconds, for `slow` and `callback-delay`. */
  ms?: number | undefined;
}

const MS = { error: 'must be a number of milliseconds, 0 or more, and at most 24 days' };

const readFields = optionsReader<FaultOptions>()('faults.next', {
  on: oneOf(['create', 'lookup']).default('create'),
  ms: z.number(MS).min(0, MS).max(LONGEST_TIMER, MS).optional(),
});

/** A fault that waits. */
export interface Armed<F extends Fault = Fault> {
  fault: F;
  on: Operation | 'callback';
  ms?: number | undefined;
}

const isFault = (name: unknown): name is Fault => typeof name === 'string' && Object.hasOwn(FAULTS, name);
const isCallbackFault = (fault: Fault): fault is CallbackFault => Object.hasOwn(CALLBACK_FAULTS, fault);

/** The faults of a sandbox: armed one by one, and injected in that order. */
export class Faults {
  #armed: Armed[] = [];
  readonly #forPayment = new Map<string, CallbackFault>();
  readonly #events: EventBus;

  constructor(events: EventBus) {
    this.#events = events;
  }

  /** Those that wait, in the order in which they will be injected. */
  get armed(): readonly Armed[] {
    return this.#armed.map(armed => ({ ...armed }));
  }

  /**
   * Arms a fault for the next call, or the next callback; several are used up in the order of arming.
   *
   * @example
   * sandbox.faults.next('commit-then-drop');
   * sandbox.faults.next('reject-429', { on: 'lookup' });
   * sandbox.faults.next('callback-delay', { ms: 500 });
   * @throws {ConfigurationError} for a name that is none, or a refused option
   */
  next(fault: Fault, options: FaultOptions = {}): void {
    if (!isFault(fault)) {
      const near = nearest(String(fault), Object.keys(FAULTS));
      const hint = near ? `Did you mean ${near}?` : `There are: ${Object.keys(FAULTS).join(', ')}.`;
      throw new ConfigurationError(`No fault is called ${JSON.stringify(fault)}. ${hint}`);
    }
    const { on, ms } = readFields(options);
    this.#armed.push({ fault, on: isCallbackFault(fault) ? 'callback' : on, ms });
    this.#events.emit({ type: 'fault', fault });
  }

  /** Disarms every fault that still waits. */
  clear(): void {
    this.#armed = [];
    this.#forPayment.clear();
    this.#events.emit({ type: 'fault' });
  }

  /** @internal */
  take(on: Operation): Armed<CallFault> | undefined;
  take(on: 'callback', paymentId: string): Armed<CallbackFault> | undefined;
  take(on: Armed['on'], paymentId?: string): Armed | undefined {
    const own = this.#forPayment.get(paymentId ?? '');
    if (own) {
      this.#forPayment.delete(paymentId ?? '');
      return { fault: own, on };
    }
    const index = this.#armed.findIndex(armed => armed.on === on);
    return index < 0 ? undefined : this.#armed.splice(index, 1)[0];
  }

  /** @internal For the next callback of one payment, ahead of those that are armed for any. */
  armFor(paymentId: string, fault: CallbackFault): void {
    this.#forPayment.set(paymentId, fault);
  }

  /** @internal For a fault that could not be injected: it waits for the next call. */
  putBack(armed: Armed): void {
    this.#armed.unshift(armed);
  }
}
