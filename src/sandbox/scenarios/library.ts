// The built-in scenarios, as the text of their files.
import { unknownNames } from '../../schemas/hints.ts';
import { SandboxError } from '../sandbox-error.ts';

const deposit = (paymentMethod: string, amount = 25.5, currency = 'EUR') =>
  `{ paymentType: DEPOSIT, paymentMethod: ${paymentMethod}, amount: ${amount}, currency: ${currency} }`;

const CARD = deposit('CARD');
const SEPA = '{ paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 120, currency: EUR }';

/** Inserts the create behind the first line of a story, its sentence. */
const story = (text: string, create = CARD) => `does: ${text.replace('\n', `\ncreate: ${create}\n`)}`;

/** Moves, each with a callback that is taken. */
const moved = (does: string, create: string, paymentStatus: string, ...moves: string[]) => {
  const steps = moves.map(move => `  - move: ${move}\n`).join('');
  const callbacks = moves.map(() => 'taken').join(', ');
  return story(
    `${does}\nsteps:\n${steps}expect: { paymentStatus: ${paymentStatus}, callbacks: [${callbacks}] }\n`,
    create,
  );
};

const ALL = {
  'deposit-completed': moved('A card deposit is paid.', CARD, 'COMPLETED', 'complete'),
  'deposit-authorized': moved(
    'A Google Pay deposit is authorised, then captured.',
    deposit('GOOGLEPAY'),
    'COMPLETED',
    'authorize',
    'complete',
  ),
  'deposit-underpaid': moved(
    'A card deposit is paid with less than requested.',
    CARD,
    'COMPLETED',
    'complete\n    amount: 20',
  ),
  'deposit-declined': moved(
    'A card deposit fails because the balance is insufficient.',
    CARD,
    'FAILED',
    'fail\n    code: 4004',
  ),
  'deposit-failed': moved('A card deposit fails without a reason.', CARD, 'FAILED', 'fail'),
  'deposit-canceled': moved('An iDEAL deposit is canceled.', deposit('IDEAL'), 'CANCELED', 'cancel'),
  'deposit-authorized-failed': moved(
    'A card deposit is authorised, and fails before it is captured.',
    CARD,
    'FAILED',
    'authorize',
    'fail\n    reason: Payment not funded',
  ),
  'payid-completed': moved('A PayID transfer arrives.', deposit('PAYID', 80, 'AUD'), 'COMPLETED', 'complete'),
  'onramp-completed': moved(
    'An on-ramp deposit is settled in crypto.',
    deposit('ONRAMP', 540, 'BRL'),
    'COMPLETED',
    'complete',
  ),
  'withdrawal-completed': moved('A SEPA withdrawal is paid out.', SEPA, 'COMPLETED', 'complete'),
  'withdrawal-failed': moved(
    'A SEPA withdrawal fails because the account is closed.',
    SEPA,
    'FAILED',
    'fail\n    reason: Account closed',
  ),
  'callback-duplicated': story(`A card deposit is paid, and its callback comes twice.
steps:
  - fault: callback-duplicate
  - move: complete
    expect: { callbacks: [taken, taken] }
`),
  'callback-reordered': story(`A card deposit is authorised and paid, and the callbacks come in the wrong order.
steps:
  - fault: callback-reorder # held back until the next callback of the payment
  - move: authorize
    expect: { callbacks: [] }
  - move: complete
    expect: { callbacks: [taken, taken] }
`),
  'callback-delayed': story(`A card deposit is paid, and its callback comes a minute later.
steps:
  - fault: callback-delay
    ms: 1m
  - move: complete
    expect: { callbacks: [] }
  - advance: 1m # the sandbox's clock: nobody waits
    expect: { callbacks: [taken] }
`),
  'callback-lost': story(`A card deposit is paid, its callback is lost, and is posted again by hand.
steps:
  - fault: callback-lose
  - move: complete
    expect: { callbacks: [lost] }
  - redeliver: 1
    expect: { callbacks: [taken] }
`),
  'callback-first': story(`A card deposit is paid, and its callback comes before the create is answered.
createFault: callback-first
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`),
  'callback-forged': story(`A card deposit is authorised, and an attacker forges a callback of ten times its amount.
steps:
  - fault: callback-forge
  - move: authorize
    expect: { callbacks: [not-believed, taken] } # the forged one is posted first
expect: { paymentStatus: AUTHORIZED }
`),
  'callback-not-json': story(`A card deposit is paid, and a body that is not JSON is posted to its callback address.
steps:
  - move: complete
  - redeliver: 1
    body: paymentStatus=COMPLETED
    expect: { callbacks: [refused] }
`),
  'lookup-fails': story(`A card deposit is paid, and the lookup that confirms its callback fails once.
steps:
  - fault: commit-then-502 # your server looks it up again, or refuses the callback
  - move: complete
    expect: { callbacks: [answered] }
  - redeliver: 1
    expect: { callbacks: [taken] }
expect: { paymentStatus: COMPLETED }
`),
};

/** The name of a built-in scenario. */
export type ScenarioName = keyof typeof ALL;

/** `does` is the first line of the file. */
export const SCENARIOS = Object.entries(ALL).map(([name, text]) => ({
  name: name as ScenarioName,
  does: /^does: (.+)/.exec(text)?.[1] ?? '',
  text,
}));

/** @throws {SandboxError} `unknown_scenario` */
export function scenarioOf(name: string) {
  const scenario = SCENARIOS.find(one => one.name === name);
  if (scenario) return scenario;
  throw new SandboxError('unknown_scenario', `${unknownNames('scenario', [name], Object.keys(ALL))}.`);
}
