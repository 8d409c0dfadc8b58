// The armed faults. Each waits for a matching call or callback.
import * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { count, oneOf, optionsReader, text } from '../../option-reader.ts';
import { unknownNames } from '../../schemas/hints.ts';
import type { Log } from '../log/log.ts';
import { SandboxError } from '../sandbox-error.ts';
import { type Duration, duration, spanOf } from '../text/duration.ts';
import {
  type CallbackFault,
  type CallFault,
  FAULTS,
  type Fault,
  isCallbackFault,
  isCreateFault,
  type SandboxOperation,
  takesMs,
} from './kinds.ts';

/** The options of an armed fault. */
export interface FaultOptions {
  /** The call for a fault of calls. @default 'create' */
  on?: SandboxOperation | undefined;
  /** The time for `slow` and `callback-delay`. */
  ms?: Duration | undefined;
  /** Number of injections. @default 1 */
  count?: number | undefined;
  /**
   * Probability that a matching call or callback gets the fault: above 0, at most 1. With a `seed`, every run hits the
   * same ones.
   * @default 1
   */
  probability?: number | undefined;
  /** Limits the fault to payments with this reference. It then precedes faults for all payments. */
  reference?: string | undefined;
}

const PROBABILITY = { error: 'must be a number above 0, and at most 1' };

/** The options of a fault, also for the JSON API. */
export const faultFields = {
  on: oneOf(['create', 'lookup']).optional().describe('The call that a fault of calls is injected into.'),
  ms: duration.optional().describe('The time for `slow` and `callback-delay`: 500ms, 5s.'),
  count: count.optional().describe('The number of times that it is injected. Default: 1.'),
  probability: z
    .number(PROBABILITY)
    .positive(PROBABILITY)
    .max(1, PROBABILITY)
    .optional()
    .describe('The probability of injecting it into a matching call or callback. Default: 1.'),
  reference: text.optional().describe('Only payments with this reference meet it.'),
};

const readFields = optionsReader<FaultOptions>()('faults.next', faultFields);

/** An armed fault. */
export interface Armed<F extends Fault = Fault> {
  /** A number in order of arming, from 1. */
  id: number;
  fault: F;
  on: SandboxOperation | 'callback';
  ms?: number | undefined;
  /** How many times the fault will still be injected. */
  count: number;
  probability?: number | undefined;
  reference?: string | undefined;
}

/** The faults of a sandbox, injected in the order of arming. */
export class Faults {
  /** Used-up ones have the `count` 0. */
  #armed: Armed[] = [];
  #nextId = 1;
  readonly #log: Log;
  readonly #random: () => number;

  /** @internal */
  constructor(log: Log, random: () => number) {
    this.#log = log;
    this.#random = random;
  }

  /** The armed faults, in order of injection. */
  get armed(): readonly Armed[] {
    return this.#armed.filter(({ count }) => count > 0).map(armed => ({ ...armed }));
  }

  /**
   * Arms a fault for the next matching call or callback. Faults are injected in the order of arming.
   *
   * @example
   * sandbox.faults.next('commit-then-drop');
   * sandbox.faults.next('reject-429', { on: 'lookup', count: 3 });
   * sandbox.faults.next('callback-delay', { ms: 500, reference: 'order-1042' });
   * @throws {ConfigurationError} for an unknown fault or a refused option
   */
  next(fault: Fault, options: FaultOptions = {}): Armed {
    if (!Object.hasOwn(FAULTS, fault))
      throw new ConfigurationError(`faults.next: ${unknownNames('fault', [String(fault)], Object.keys(FAULTS))}.`);
    const given = readFields(options);
    refuseUnused(fault, given);
    const { on = 'create', count = 1, ...limits } = given;
    const hit = isCallbackFault(fault) ? 'callback' : on;
    const armed: Armed = { id: this.#nextId++, fault, on: hit, count, ...limits };
    this.#armed.push(armed);
    this.#log.emit({ type: 'fault', fault });
    return { ...armed };
  }

  /** Disarms one fault. @throws {SandboxError} `unknown_fault` */
  disarm(id: number): void {
    const armed = this.armed.find(one => one.id === id);
    if (!armed) throw new SandboxError('unknown_fault', `No fault ${id} is armed: it was used up, or never armed.`);
    this.#armed = this.#armed.filter(one => one.id !== id);
    this.#log.emit({ type: 'fault', fault: armed.fault, isDisarmed: true });
  }

  /** Disarms every fault. */
  clear(): void {
    this.#armed = [];
    this.#log.emit({ type: 'fault' });
  }

  /**
   * @internal Uses up one injection of the first fault for this call or callback. To give it back, increment `count`.
   *
   * @param isOwnOnly excludes faults for all payments, which the merchant's own calls must get
   */
  take<On extends Armed['on']>(on: On, reference: unknown, isOwnOnly = false) {
    const meant = this.#armed.filter(armed => armed.on === on && armed.count > 0);
    // A call without a reference gets only faults for all payments.
    const own = meant.filter(armed => armed.reference === (reference ?? null));
    const others = isOwnOnly ? [] : meant.filter(armed => armed.reference === undefined);
    const isHit = ({ probability = 1 }: Armed) => probability === 1 || this.#random() < probability;
    const armed = [...own, ...others].find(isHit);
    if (armed) armed.count -= 1;
    return armed as Armed<On extends 'callback' ? CallbackFault : CallFault> | undefined;
  }

  /** @internal Restores the faults of a saved sandbox. */
  restore(armed: readonly Armed[]): void {
    this.#armed = [...armed];
    this.#nextId = (armed.at(-1)?.id ?? 0) + 1;
  }
}

/** Describes the calls or callbacks that get the fault. */
export function sentenceOf({ fault, on, ms, count, probability, reference }: Armed): string {
  const which = count === 1 ? on : `${count} ${on}s`;
  const whose = reference === undefined ? '' : ` with reference ${reference}`;
  const length = ms === undefined ? '' : `, of ${spanOf(ms)}`;
  const chance = probability === undefined ? '' : `, with probability ${probability} each time`;
  return `The next ${which}${whose} ${count === 1 ? 'meets' : 'meet'} \`${fault}\`${length}${chance}.`;
}

/** Refuses an option without an effect. */
function refuseUnused(fault: Fault, { on, ms }: FaultOptions): void {
  const refuse = (problem: string) => new ConfigurationError(`${problem}.`);
  if (ms !== undefined && !takesMs(fault)) throw refuse(`ms is for slow and callback-delay, and not for ${fault}`);
  if (on && isCallbackFault(fault)) throw refuse(`on is for faults of calls, and ${fault} is one of callbacks`);
  if (on === 'lookup' && isCreateFault(fault)) throw refuse(`${fault} can only be injected into a create`);
}
