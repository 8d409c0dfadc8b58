// The faults that hurt in production: what each does, and the list of those that are armed.
import type { Feed } from './events.ts';

/** What befalls a create, or a lookup. */
export const CALL_FAULTS = {
  drop: 'The connection breaks before the gateway takes the call.',
  'reject-401': 'The gateway refuses the credentials.',
  'reject-422': 'The gateway refuses the request.',
  'reject-429': 'The gateway is busy, and says when to come again: `Retry-After: 1`.',
  'commit-then-drop': 'The gateway takes the call; the connection breaks before any answer.',
  'commit-then-cut': 'The gateway takes the call; the connection breaks in the middle of the answer.',
  'commit-then-502': 'The gateway takes the call; a proxy answers 502 with an HTML page.',
  'commit-then-truncate': 'The gateway takes the call; its answer is whole, and its JSON ends in the middle.',
  'commit-then-drift': 'The gateway takes the call; in its answer `amount` has become an object.',
  'unknown-status':
    'The gateway takes the call; its answer has a `paymentStatus` that the document does not name.',
  slow: 'The gateway takes the call; its answer comes after 35 s, or `ms`.',
} as const;

/** What befalls the next callback of any payment. */
export const CALLBACK_FAULTS = {
  'callback-duplicate': 'The callback is posted twice.',
  'callback-reorder': 'The callback is held back until the next one of its payment has been posted.',
  'callback-delay': 'The callback is posted after 5 s, or `ms`.',
  'callback-lose': 'The callback is never posted.',
  'callback-forge':
    'Before the callback somebody else posts a forged one: completed, and of ten times the amount.',
} as const;

export const FAULTS = { ...CALL_FAULTS, ...CALLBACK_FAULTS };

export type CallFault = keyof typeof CALL_FAULTS;
export type CallbackFault = keyof typeof CALLBACK_FAULTS;
export type Fault = CallFault | CallbackFault;

/** What a fault of calls befalls. */
export type Operation = 'create' | 'lookup';

export interface FaultOptions {
  /**
   * Which call a fault of calls befalls.
   * @default 'create'
   */
  on?: Operation | undefined;
  /** Milliseconds, for `slow` and `callback-delay`. */
  ms?: number | undefined;
}

export interface Armed<F extends Fault = Fault> {
  fault: F;
  on: Operation | 'callback';
  ms?: number | undefined;
}

const isFault = (name: unknown): name is Fault => typeof name === 'string' && Object.hasOwn(FAULTS, name);
const isCallbackFault = (fault: Fault): fault is CallbackFault => Object.hasOwn(CALLBACK_FAULTS, fault);

export class Faults {
  #armed: Armed[] = [];
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
    const { on = 'create', ms } = options;
    if (!isFault(fault)) throw new TypeError(`No fault is called ${JSON.stringify(fault)}. ${THERE_ARE}`);
    if (on !== 'create' && on !== 'lookup') throw new TypeError("on must be 'create' or 'lookup'.");
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) {
      throw new TypeError('ms must be a number of milliseconds, 0 or more.');
    }
    this.#armed.push({ fault, on: isCallbackFault(fault) ? 'callback' : on, ms });
    this.#feed.emit({ type: 'fault', fault });
  }

  /** Disarms whatever has not befallen anything yet. */
  clear(): void {
    this.#armed = [];
    this.#feed.emit({ type: 'fault' });
  }

  /** @internal */
  take(on: Operation): Armed<CallFault> | undefined;
  take(on: 'callback'): Armed<CallbackFault> | undefined;
  take(on: Armed['on']): Armed | undefined {
    const index = this.#armed.findIndex(armed => armed.on === on);
    return index < 0 ? undefined : this.#armed.splice(index, 1)[0];
  }

  /** @internal For a fault that found nothing to spoil: it waits for the next. */
  putBack(armed: Armed): void {
    this.#armed.unshift(armed);
  }
}

const THERE_ARE = `There are: ${Object.keys(FAULTS).join(', ')}.`;
