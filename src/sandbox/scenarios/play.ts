// Plays a scenario as a merchant and a gateway would: a signed create, then one step after another.
import { optionsReader } from '../../option-reader.ts';
import { httpUrl } from '../../schemas/url.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { Armed, FaultOptions } from '../faults/faults.ts';
import { type Fault, isCallbackFault } from '../faults/kinds.ts';
import { move } from '../ledger/moves.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';
import { durationOf } from '../text/duration.ts';
import { create } from './create.ts';
import { actionsIn, type Expected, type FaultStep, type Scenario, type Step } from './format.ts';
import { judgeCallbacks, type Witnessed, witnessed } from './judge.ts';
import { scenarioOf } from './library.ts';
import { checkScenario, readScenario } from './read.ts';

/** The result of a scenario. */
export interface Played {
  /** The payment at the end of the scenario. */
  payment: PaymentRecord;
  /** Every post of its callbacks, in order. */
  deliveries: Delivery[];
  /** A sentence for each unmet expectation. Empty if all were met. */
  problems: string[];
  /** A check that could not be made, with the next step. */
  note?: string | undefined;
}

/** The options of a played scenario. */
export interface PlayOptions {
  /** The address for the callbacks, instead of the sandbox's `forwardTo`. */
  to?: string | undefined;
}

const readPlayOptions = optionsReader<PlayOptions>()('sandbox.play', { to: httpUrl.optional() });

/** A host that never exists, so callbacks cannot reach it. */
const NOWHERE = 'http://nowhere.invalid/';
const NOT_HEARD =
  'No callback was posted, so your server was not checked. Pass its callback address with --to (in code, { to }), or start the sandbox with --forward-to.';

/**
 * @param scenario the name of a built-in one, or an unchecked value
 * @param origin of the sandbox, as the caller knows it
 * @throws {SandboxError} `refused` if the gateway refuses the create
 */
export async function play(parts: Parts, scenario: unknown, options: PlayOptions, origin: string): Promise<Played> {
  const { to } = readPlayOptions(options);
  const [name, checked] =
    typeof scenario === 'string'
      ? [scenario, await readScenario(scenarioOf(scenario).text)]
      : ['scenario', checkScenario(scenario)];
  const played = await new Play(parts, checked).run(name, origin, to);
  const { payment, problems } = played;
  parts.log.emit({ type: 'scenario', paymentId: payment.id, name, problems });
  return played;
}

class Play {
  readonly #parts: Parts;
  readonly #scenario: Scenario;
  readonly #problems: string[] = [];
  /** The faults of the scenario as they were armed, each with its part of the scenario. */
  readonly #armed: (Armed & { where: string })[] = [];
  #judged = 0;
  #id = '';
  /** Whether a server receives the callbacks. */
  #isHeard = true;

  constructor(parts: Parts, scenario: Scenario) {
    this.#parts = parts;
    this.#scenario = scenario;
  }

  /** @param name the start of a generated reference */
  async run(name: string, origin: string, to?: string): Promise<Played> {
    const { settings, ledger, faults } = this.#parts;
    const { create: asked, createFault, steps = [], expect } = this.#scenario;
    const { webhookUrl, callbackUrl, reference = `${name}-${crypto.randomUUID().slice(0, 8)}`, ...fields } = asked;
    const address = to ?? settings.forwardTo ?? webhookUrl ?? callbackUrl;
    this.#isHeard = (address ?? settings.fetch) !== undefined;
    try {
      if (createFault) this.#arm('createFault', createFault, { reference });
      this.#id = await create(this.#parts, { ...fields, reference, webhookUrl: address ?? NOWHERE }, origin);
      // From here on the recorded reference, because a fault may have changed it.
      const recorded = ledger.get(this.#id).reference ?? undefined;
      this.#judge('create');
      for (const [index, step] of steps.entries()) {
        const [action = 'move'] = actionsIn(step);
        const where = `steps[${index}] (${action}: ${step[action as never]})`;
        if ('fault' in step) {
          const { fault, ...options } = step;
          const on = isCallbackFault(fault) ? undefined : 'lookup';
          this.#arm(where, fault, { on, reference: recorded, ...options });
        } else await this.#take(step, where);
      }
      this.#judge('expect', expect, expect?.callbacks ? this.#callbacks : []);
      this.#judgeEnd();
      const deliveries = this.#callbacks.map(({ delivery }) => delivery);
      const note = this.#isHeard ? undefined : NOT_HEARD;
      return { payment: ledger.get(this.#id), deliveries, problems: this.#problems, note };
    } finally {
      for (const { id } of faults.armed) if (this.#armed.some(one => one.id === id)) faults.disarm(id);
    }
  }

  async #take(step: Exclude<Step, FaultStep>, where: string): Promise<void> {
    const { clock, callbacks, log } = this.#parts;
    const { signal: life } = log.life;
    if ('move' in step) {
      const { move: name, expect, ...options } = step;
      move(this.#parts, this.#id, name, options);
    } else if ('advance' in step) {
      clock.advance(durationOf(step.advance) ?? 0);
    } else {
      const all = this.#callbacks;
      const past = all[step.redeliver - 1];
      if (past) await callbacks.redeliver(past.delivery.id, { body: step.body });
      else this.#problems.push(`${where}: there are ${all.length} callbacks so far, and the first is 1.`);
    }
    await callbacks.delivered(this.#id);
    if (life.aborted) throw new SandboxError('refused', 'The sandbox was reset while the scenario was played.');
    this.#judge(where, step.expect);
  }

  #arm(where: string, fault: Fault, options: FaultOptions): void {
    this.#armed.push({ where, ...this.#parts.faults.next(fault, options) });
  }

  get #callbacks(): Witnessed[] {
    return witnessed(this.#parts.log.history(this.#id));
  }

  /** Judges the callbacks since the last step, or others. A list for the whole scenario replaces the usual expectations. */
  #judge(where: string, expected?: Expected, callbacks = this.#callbacks.slice(this.#judged)): void {
    const isListed = this.#scenario.expect?.callbacks !== undefined && expected?.callbacks === undefined;
    if (this.#isHeard && !isListed) this.#problems.push(...judgeCallbacks(where, expected, callbacks));
    this.#judged += callbacks.length;
    const { paymentStatus } = this.#parts.ledger.get(this.#id);
    const wanted = expected?.paymentStatus ?? paymentStatus;
    if (wanted !== paymentStatus)
      this.#problems.push(`${where}: expected the payment to be ${wanted}, and it is ${paymentStatus}.`);
  }

  /** Finds faults and callbacks that the scenario has left. */
  #judgeEnd(): void {
    const { faults, callbacks } = this.#parts;
    const left = faults.armed;
    for (const { where, fault, id, count } of this.#armed) {
      if (!left.some(one => one.id === id && one.count === count)) continue;
      if (isCallbackFault(fault)) this.#problems.push(`${where}: no callback was posted after it. ${BEFORE}`);
      else if (this.#isHeard && where !== 'createFault')
        this.#problems.push(`${where}: your server has not looked the payment up. ${LOOK}`);
    }
    for (const { callback, due } of callbacks.waiting) {
      if (callback.paymentId !== this.#id || callback.repeats !== undefined) continue;
      const step = due === undefined ? 'another move' : 'advance: with the time of its delay';
      this.#problems.push(`The callback of ${callback.paymentStatus} still waits at the end. Add a step: ${step}.`);
    }
  }
}

const BEFORE = 'Write a fault before the move whose callback is to meet it.';
const LOOK = 'It must, before it acts on a callback: createWebhookHandler does.';
