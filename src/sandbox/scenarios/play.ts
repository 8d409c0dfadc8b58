// Plays a scenario as a merchant and a gateway would: a signed create, then one step after another.
import { optionsReader } from '../../option-reader.ts';
import { httpUrl } from '../../schemas/url.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { Armed } from '../faults/faults.ts';
import { isCallbackFault } from '../faults/kinds.ts';
import { move } from '../ledger/moves.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';
import { durationOf } from '../text/duration.ts';
import { create } from './create.ts';
import { actionsIn, type Expected, type Scenario } from './format.ts';
import { judgeCallbacks, witnessed } from './judge.ts';
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

const NOWHERE = 'http://nowhere.invalid/';
const NOT_HEARD =
  'No callback was posted, so your server was not checked. Pass its callback address with --to (in code, { to }), or start the sandbox with --forward-to.';

type ArmedBy = Armed & { where: string };

/** @param scenario the name of a built-in one, or an unchecked value */
export async function play(parts: Parts, scenario: unknown, options: PlayOptions, origin: string): Promise<Played> {
  const { settings, ledger, faults, log } = parts;
  const { to } = readPlayOptions(options);
  const [name, checked] =
    typeof scenario === 'string'
      ? [scenario, await readScenario(scenarioOf(scenario).text)]
      : ['scenario', checkScenario(scenario)];
  const { create: asked, createFault } = checked;
  const { webhookUrl, callbackUrl, reference = `${name}-${crypto.randomUUID().slice(0, 8)}`, ...fields } = asked;
  const address = to ?? settings.forwardTo ?? webhookUrl ?? callbackUrl;
  const isHeard = (address ?? settings.fetch) !== undefined;
  const armed: ArmedBy[] = [];
  let paymentId: string;
  let problems: string[];
  try {
    if (createFault) armed.push({ where: 'createFault', ...faults.next(createFault, { reference }) });
    paymentId = await create(parts, { ...fields, reference, webhookUrl: address ?? NOWHERE }, origin);
    problems = await follow(parts, paymentId, checked, armed, isHeard);
  } finally {
    for (const { id } of faults.armed) if (armed.some(one => one.id === id)) faults.disarm(id);
  }
  const payment = ledger.get(paymentId);
  const deliveries = witnessed(log.history(paymentId)).map(({ delivery }) => delivery);
  log.emit({ type: 'scenario', paymentId, name, problems });
  return { payment, deliveries, problems, note: isHeard ? undefined : NOT_HEARD };
}

/** Takes the steps of a created payment. @returns the problems */
async function follow(parts: Parts, id: string, { steps = [], expect }: Scenario, armed: ArmedBy[], isHeard: boolean) {
  const { ledger, faults, callbacks, clock, log } = parts;
  const { signal: life } = log.life;
  // The fault of the create may have changed it.
  const reference = ledger.get(id).reference ?? undefined;
  const problems: string[] = [];
  const posted = () => witnessed(log.history(id));
  let judged = 0;
  /** A list for the whole scenario replaces the usual expectations. */
  const judge = (where: string, expected?: Expected, callbacks = posted().slice(judged)) => {
    const isListed = expect?.callbacks && !expected?.callbacks;
    if (isHeard && !isListed) problems.push(...judgeCallbacks(where, expected?.callbacks, callbacks));
    judged += callbacks.length;
    const { paymentStatus } = ledger.get(id);
    const wanted = expected?.paymentStatus ?? paymentStatus;
    if (wanted !== paymentStatus)
      problems.push(`${where}: expected the payment to be ${wanted}, and it is ${paymentStatus}.`);
  };

  judge('create');
  for (const [index, step] of steps.entries()) {
    const [action = 'move'] = actionsIn(step);
    const where = `steps[${index}] (${action}: ${step[action as never]})`;
    if ('fault' in step) {
      const { fault, ...options } = step;
      const on = isCallbackFault(fault) ? undefined : 'lookup';
      armed.push({ where, ...faults.next(fault, { on, reference, ...options }) });
      continue;
    }
    if ('move' in step) {
      const { move: name, expect, ...options } = step;
      move(parts, id, name, options);
    } else if ('advance' in step) {
      clock.advance(durationOf(step.advance) ?? 0);
    } else {
      const all = posted();
      const past = all[step.redeliver - 1];
      if (past) await callbacks.redeliver(past.delivery.id, step);
      else problems.push(`${where}: there are ${all.length} callbacks so far, and the first is 1.`);
    }
    await callbacks.delivered(id);
    if (life.aborted) throw new SandboxError('refused', 'The sandbox was reset while the scenario was played.');
    judge(where, step.expect);
  }
  judge('expect', expect, expect?.callbacks ? posted() : []);
  return [...problems, ...leftovers(parts, id, armed, isHeard)];
}

/** Describes faults that were not used, and callbacks that still wait. */
function leftovers({ faults, callbacks }: Parts, paymentId: string, armed: readonly ArmedBy[], isHeard: boolean) {
  const problems: string[] = [];
  const left = faults.armed;
  for (const { where, on, id, count } of armed) {
    if (!left.some(one => one.id === id && one.count === count)) continue;
    if (on === 'callback') problems.push(`${where}: ${NO_CALLBACK}`);
    if (on === 'lookup' && isHeard) problems.push(`${where}: ${NO_LOOKUP}`);
  }
  for (const { callback, due } of callbacks.waiting) {
    if (callback.paymentId !== paymentId || callback.repeats !== undefined) continue;
    const step = due === undefined ? 'another move' : 'advance: with the time of its delay';
    problems.push(`The callback of ${callback.paymentStatus} still waits at the end. Add a step: ${step}.`);
  }
  return problems;
}

const NO_CALLBACK = 'no callback was posted after it. Write a fault before the move whose callback is to meet it.';
const NO_LOOKUP =
  'your server has not looked the payment up. It must, before it acts on a callback: createWebhookHandler does.';
