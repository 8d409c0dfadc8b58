// The built-in scenarios, as the text of their files.
import { unknownNames } from '../../schemas/hints.ts';
import { SandboxError } from '../sandbox-error.ts';

const CARD = '{ paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }';
const PAYID = '{ paymentType: DEPOSIT, paymentMethod: PAYID, amount: 80, currency: AUD }';
const ONRAMP = '{ paymentType: DEPOSIT, paymentMethod: ONRAMP, amount: 540, currency: BRL }';
const SEPA = '{ paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 120, currency: EUR }';

/** Moves, each with a callback that is taken. A field of a move follows its comma. */
const moved = (does: string, create: string, paymentStatus: string, ...moves: string[]) => `does: ${does}
create: ${create}
steps:
${moves.map(move => `  - move: ${move.replace(', ', '\n    ')}\n`).join('')}expect: { paymentStatus: ${paymentStatus}, callbacks: [${moves.map(() => 'taken').join(', ')}] }
`;
const completed = (does: string, create: string, ...moves: string[]) => moved(does, create, 'COMPLETED', ...moves);
const failed = (does: string, create: string, ...moves: string[]) => moved(does, create, 'FAILED', ...moves);

/** A story of a card deposit: a sentence, then the rest of its file. */
const onCard = (story: string) => `does: ${story.replace('\n', `\ncreate: ${CARD}\n`)}`;

const ALL = {
  'deposit-completed': completed('A card deposit is paid.', CARD, 'complete'),
  'deposit-authorized': completed(
    'A Google Pay deposit is authorised, then captured.',
    CARD.replace('CARD', 'GOOGLEPAY'),
    'authorize',
    'complete',
  ),
  'deposit-underpaid': completed('A card deposit is paid with less than requested.', CARD, 'complete, amount: 20'),
  'deposit-declined': failed('A card deposit fails because the balance is insufficient.', CARD, 'fail, code: 4004'),
  'deposit-failed': failed('A card deposit fails without a reason.', CARD, 'fail'),
  'deposit-canceled': moved('An iDEAL deposit is canceled.', CARD.replace('CARD', 'IDEAL'), 'CANCELED', 'cancel'),
  'deposit-authorized-failed': failed(
    'A card deposit is authorised, and fails before it is captured.',
    CARD,
    'authorize',
    'fail, reason: Payment not funded',
  ),
  'payid-completed': completed('A PayID transfer arrives.', PAYID, 'complete'),
  'onramp-completed': completed('An on-ramp deposit is settled in crypto.', ONRAMP, 'complete'),
  'withdrawal-completed': completed('A SEPA withdrawal is paid out.', SEPA, 'complete'),
  'withdrawal-failed': failed(
    'A SEPA withdrawal fails because the account is closed.',
    SEPA,
    'fail, reason: Account closed',
  ),
  'callback-duplicated': onCard(`A card deposit is paid, and its callback comes twice.
steps:
  - fault: callback-duplicate
  - move: complete
    expect: { callbacks: [taken, taken] }
`),
  'callback-reordered': onCard(`A card deposit is authorised and paid, and the callbacks come in the wrong order.
steps:
  - fault: callback-reorder # held back until the next callback of the payment
  - move: authorize
    expect: { callbacks: [] }
  - move: complete
    expect: { callbacks: [taken, taken] }
`),
  'callback-delayed': onCard(`A card deposit is paid, and its callback comes a minute later.
steps:
  - fault: callback-delay
    ms: 1m
  - move: complete
    expect: { callbacks: [] }
  - advance: 1m # the sandbox's clock: nobody waits
    expect: { callbacks: [taken] }
`),
  'callback-lost': onCard(`A card deposit is paid, its callback is lost, and is posted again by hand.
steps:
  - fault: callback-lose
  - move: complete
    expect: { callbacks: [lost] }
  - redeliver: 1
    expect: { callbacks: [taken] }
`),
  'callback-first': onCard(`A card deposit is paid, and its callback comes before the create is answered.
createFault: callback-first
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`),
  'callback-forged': onCard(`A card deposit is authorised, and an attacker forges a callback of ten times its amount.
steps:
  - fault: callback-forge
  - move: authorize
    expect: { callbacks: [not-believed, taken] } # the forged one is posted first
expect: { paymentStatus: AUTHORIZED }
`),
  'callback-not-json': onCard(`A card deposit is paid, and a body that is not JSON is posted to its callback address.
steps:
  - move: complete
  - redeliver: 1
    body: paymentStatus=COMPLETED
    expect: { callbacks: [refused] }
`),
  'lookup-fails': onCard(`A card deposit is paid, and the lookup that confirms its callback fails once.
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

/** The scenarios, each with the sentence with which its file begins. */
export const SCENARIOS = Object.entries(ALL).map(([name, text]) => ({
  name: name as ScenarioName,
  does: /^does: (.+)/.exec(text)?.[1] ?? '',
  text,
}));

/** @throws {SandboxError} `unknown_scenario` */
export function scenarioOf(name: string) {
  const scenario = SCENARIOS.find(one => one.name === name);
  if (scenario) return scenario;
  throw new SandboxError('unknown_scenario', `${unknownNames('scenario', [String(name)], Object.keys(ALL))}.`);
}
