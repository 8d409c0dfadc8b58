// The list of armed faults: each waits for the next call, or the next callback.
import { checkOptionNames } from '../option-names.ts';
import { nearest } from '../schemas/hints.ts';
import type { Feed } from './events.ts';
import {
  CALLBACK_FAULTS,
  type CallbackFault,
  type CallFault,
  FAULTS,
  type Fault,
  LONGEST_TIMER,
  type Operation,
} from './fault-kinds.ts';

/** How a fault is armed. */
export interface FaultOptions {
  /**
   * Which call a fault of calls befalls.
   * @default 'create'
   */
  on?: Operation | undefined;
  /** Milliseconds, for `slow` and `callback-delay`. */
  ms?: number | undefined;
}

/** A fault that waits. */
export interface Armed<F extends Fault = Fault> {
  fault: F;
  on: Operation | 'callback';
  ms?: number | undefined;
}

const isFault = (name: unknown): name is Fault => typeof name === 'string' && Object.hasOwn(FAULTS, name);
const isCallbackFault = (fault: Fault): fault is CallbackFault => Object.hasOwn(CALLBACK_FAULTS, fault);

/** The faults of a sandbox: armed one by one, and used up in that order. */
export class Faults {
  #armed: Armed[] = [];
  readonly #forPayment = new Map<string, CallbackFault>();
  readonly #feed: Feed;

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  /** Those that have not befallen anything yet, in the order in which they will. */
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
   * @throws TypeError for a name that is none
   */
  next(fault: Fault, options: FaultOptions = {}): void {
    checkOptionNames('faults.next', options, ['on', 'ms']);
    const { on = 'create', ms } = options;
    if (!isFault(fault)) {
      const near = nearest(String(fault), Object.keys(FAULTS));
      throw new TypeError(
        `No fault is called ${JSON.stringify(fault)}. ${near ? `Did you mean ${near}?` : THERE_ARE}`,
      );
    }
    if (on !== 'create' && on !== 'lookup') throw new TypeError("on must be 'create' or 'lookup'.");
    if (ms !== undefined && !(ms >= 0 && ms <= LONGEST_TIMER)) {
      throw new TypeError('ms must be a number of milliseconds, 0 or more, and at most 24 days.');
    }
    this.#armed.push({ fault, on: isCallbackFault(fault) ? 'callback' : on, ms });
    this.#feed.emit({ type: 'fault', fault });
  }

  /** Disarms whatever has not befallen anything yet. */
  clear(): void {
    this.#armed = [];
    this.#forPayment.clear();
    this.#feed.emit({ type: 'fault' });
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

  /** @internal For a fault that found nothing to spoil: it waits for the next. */
  putBack(armed: Armed): void {
    this.#armed.unshift(armed);
  }
}

const THERE_ARE = `There are: ${Object.keys(FAULTS).join(', ')}.`;
