// The built-in scenarios: a sentence, then the rest of the file.
import { unknownNames } from '../../schemas/hints.ts';
import { SandboxError } from '../sandbox-error.ts';

const deposit = (paymentMethod: string, amount = 25.5, currency = 'EUR') =>
  `{ paymentType: DEPOSIT, paymentMethod: ${paymentMethod}, amount: ${amount}, currency: ${currency} }`;

const CARD = deposit('CARD');
const SEPA = '{ paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 120, currency: EUR }';
const PAID = 'expect: { paymentStatus: COMPLETED, callbacks: [taken] }';
const FAILED = 'expect: { paymentStatus: FAILED, callbacks: [taken] }';

const ALL = {
  'deposit-completed': `A card deposit is paid.
create: ${CARD}
steps:
  - move: complete
${PAID}`,
  'deposit-authorized': `A Google Pay deposit is authorised, then captured.
create: ${deposit('GOOGLEPAY')}
steps:
  - move: authorize
  - move: complete
expect: { paymentStatus: COMPLETED, callbacks: [taken, taken] }`,
  'deposit-underpaid': `A card deposit is paid with less than requested.
create: ${CARD}
steps:
  - move: complete
    amount: 20
${PAID}`,
  'deposit-declined': `A card deposit fails because the balance is insufficient.
create: ${CARD}
steps:
  - move: fail
    code: 4004
${FAILED}`,
  'deposit-failed': `A card deposit fails without a reason.
create: ${CARD}
steps:
  - move: fail
${FAILED}`,
  'deposit-canceled': `An iDEAL deposit is canceled.
create: ${deposit('IDEAL')}
steps:
  - move: cancel
expect: { paymentStatus: CANCELED, callbacks: [taken] }`,
  'deposit-authorized-failed': `A card deposit is authorised, and fails before it is captured.
create: ${CARD}
steps:
  - move: authorize
  - move: fail
    reason: Payment not funded
expect: { paymentStatus: FAILED, callbacks: [taken, taken] }`,
  'payid-completed': `A PayID transfer arrives.
create: ${deposit('PAYID', 80, 'AUD')}
steps:
  - move: complete
${PAID}`,
  'onramp-completed': `An on-ramp deposit is settled in crypto.
create: ${deposit('ONRAMP', 540, 'BRL')}
steps:
  - move: complete
${PAID}`,
  'withdrawal-completed': `A SEPA withdrawal is paid out.
create: ${SEPA}
steps:
  - move: complete
${PAID}`,
  'withdrawal-failed': `A SEPA withdrawal fails because the account is closed.
create: ${SEPA}
steps:
  - move: fail
    reason: Account closed
${FAILED}`,
  'callback-duplicated': `A card deposit is paid, and its callback comes twice.
create: ${CARD}
steps:
  - fault: callback-duplicate
  - move: complete
    expect: { callbacks: [taken, taken] }`,
  'callback-reordered': `A card deposit is authorised and paid, and the callbacks come in the wrong order.
create: ${CARD}
steps:
  - fault: callback-reorder # held back until the next callback of the payment
  - move: authorize
    expect: { callbacks: [] }
  - move: complete
    expect: { callbacks: [taken, taken] }`,
  'callback-delayed': `A card deposit is paid, and its callback comes a minute later.
create: ${CARD}
steps:
  - fault: callback-delay
    ms: 1m
  - move: complete
    expect: { callbacks: [] }
  - advance: 1m # the sandbox's clock: nobody waits
    expect: { callbacks: [taken] }`,
  'callback-lost': `A card deposit is paid, its callback is lost, and is posted again by hand.
create: ${CARD}
steps:
  - fault: callback-lose
  - move: complete
    expect: { callbacks: [lost] }
  - redeliver: 1
    expect: { callbacks: [taken] }`,
  'callback-first': `A card deposit is paid, and its callback comes before the create is answered.
create: ${CARD}
createFault: callback-first
${PAID}`,
  'callback-forged': `A card deposit is authorised, and an attacker forges a callback of ten times its amount.
create: ${CARD}
steps:
  - fault: callback-forge
  - move: authorize
    expect: { callbacks: [not-believed, taken] } # the forged one is posted first
expect: { paymentStatus: AUTHORIZED }`,
  'callback-not-json': `A card deposit is paid, and a body that is not JSON is posted to its callback address.
create: ${CARD}
steps:
  - move: complete
  - redeliver: 1
    body: paymentStatus=COMPLETED
    expect: { callbacks: [refused] }`,
  'lookup-fails': `A card deposit is paid, and the lookup that confirms its callback fails once.
create: ${CARD}
steps:
  - fault: commit-then-502 # your server looks it up again, or refuses the callback
  - move: complete
    expect: { callbacks: [answered] }
  - redeliver: 1
    expect: { callbacks: [taken] }
expect: { paymentStatus: COMPLETED }`,
};

/** The name of a built-in scenario. */
export type ScenarioName = keyof typeof ALL;

export const SCENARIOS = Object.entries(ALL).map(([name, text]) => ({
  name: name as ScenarioName,
  does: text.slice(0, text.indexOf('\n')),
  text: `does: ${text}\n`,
}));

/** @throws {SandboxError} `unknown_scenario` */
export function scenarioOf(name: string) {
  const scenario = SCENARIOS.find(one => one.name === name);
  if (scenario) return scenario;
  throw new SandboxError('unknown_scenario', `${unknownNames('scenario', [name], Object.keys(ALL))}.`);
}
