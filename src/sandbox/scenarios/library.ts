// The built-in scenarios, as the text of their files.
import { hintAt } from '../../schemas/hints.ts';
import { SandboxError } from '../sandbox-error.ts';

const ALL = {
  'deposit-completed': `does: A card deposit is paid.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: complete
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`,
  'deposit-authorized': `does: A Google Pay deposit is authorised, then captured.
create: { paymentType: DEPOSIT, paymentMethod: GOOGLEPAY, amount: 25.5, currency: EUR }
steps:
  - move: authorize
  - move: complete
expect: { paymentStatus: COMPLETED, callbacks: [taken, taken] }
`,
  'deposit-underpaid': `does: A card deposit is paid with less than requested.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: complete
    amount: 20
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`,
  'deposit-declined': `does: A card deposit fails because the balance is insufficient.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: fail
    code: 4004
expect: { paymentStatus: FAILED, callbacks: [taken] }
`,
  'deposit-failed': `does: A card deposit fails without a reason.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: fail
expect: { paymentStatus: FAILED, callbacks: [taken] }
`,
  'deposit-canceled': `does: An iDEAL deposit is canceled.
create: { paymentType: DEPOSIT, paymentMethod: IDEAL, amount: 25.5, currency: EUR }
steps:
  - move: cancel
expect: { paymentStatus: CANCELED, callbacks: [taken] }
`,
  'deposit-authorized-failed': `does: A card deposit is authorised, and fails before it is captured.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: authorize
  - move: fail
    reason: Payment not funded
expect: { paymentStatus: FAILED, callbacks: [taken, taken] }
`,
  'payid-completed': `does: A PayID transfer arrives.
create: { paymentType: DEPOSIT, paymentMethod: PAYID, amount: 80, currency: AUD }
steps:
  - move: complete
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`,
  'onramp-completed': `does: An on-ramp deposit is settled in crypto.
create: { paymentType: DEPOSIT, paymentMethod: ONRAMP, amount: 540, currency: BRL }
steps:
  - move: complete
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`,
  'withdrawal-completed': `does: A SEPA withdrawal is paid out.
create: { paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 120, currency: EUR }
steps:
  - move: complete
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`,
  'withdrawal-failed': `does: A SEPA withdrawal fails because the account is closed.
create: { paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 120, currency: EUR }
steps:
  - move: fail
    reason: Account closed
expect: { paymentStatus: FAILED, callbacks: [taken] }
`,
  'callback-duplicated': `does: A card deposit is paid, and its callback comes twice.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - fault: callback-duplicate
  - move: complete
    expect: { callbacks: [taken, taken] }
`,
  'callback-reordered': `does: A card deposit is authorised and paid, and the callbacks come in the wrong order.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - fault: callback-reorder # held back until the next callback of the payment
  - move: authorize
    expect: { callbacks: [] }
  - move: complete
    expect: { callbacks: [taken, taken] }
`,
  'callback-delayed': `does: A card deposit is paid, and its callback comes a minute later.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - fault: callback-delay
    ms: 1m
  - move: complete
    expect: { callbacks: [] }
  - advance: 1m # the sandbox's clock: nobody waits
    expect: { callbacks: [taken] }
`,
  'callback-lost': `does: A card deposit is paid, its callback is lost, and is posted again by hand.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - fault: callback-lose
  - move: complete
    expect: { callbacks: [lost] }
  - redeliver: 1
    expect: { callbacks: [taken] }
`,
  'callback-first': `does: A card deposit is paid, and its callback comes before the create is answered.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
createFault: callback-first
expect: { paymentStatus: COMPLETED, callbacks: [taken] }
`,
  'callback-forged': `does: A card deposit is authorised, and somebody forges a callback of ten times its amount.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - fault: callback-forge
  - move: authorize
    expect: { callbacks: [not-believed, taken] } # the forged one is posted first
expect: { paymentStatus: AUTHORIZED }
`,
  'callback-not-json': `does: A card deposit is paid, and somebody posts what is no JSON to the address of its callback.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: complete
  - redeliver: 1
    body: paymentStatus=COMPLETED
    expect: { callbacks: [refused] }
`,
  'lookup-fails': `does: A card deposit is paid, and the lookup that confirms its callback fails once.
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - fault: commit-then-502 # your server looks it up again, or refuses the callback
  - move: complete
    expect: { callbacks: [answered] }
  - redeliver: 1
    expect: { callbacks: [taken] }
expect: { paymentStatus: COMPLETED }
`,
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
export function textOf(name: string): string {
  if (Object.hasOwn(ALL, name)) return ALL[name as ScenarioName];
  const hint = hintAt(name, Object.keys(ALL));
  throw new SandboxError('unknown_scenario', `No scenario is called ${JSON.stringify(name)}. ${hint}`);
}
