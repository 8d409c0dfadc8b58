// Whole stories of a payment to play at a merchant's callback address: created, moved, and called back.
import { signBody } from '../payments/sign.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { CallbackFault } from './faults/kinds.ts';
import type { PaymentRecord } from './ledger/ledger.ts';
import type { Moves } from './ledger/moves.ts';
import type { Parts } from './parts.ts';
import { SandboxError } from './sandbox-error.ts';

type Move = (moves: Moves, id: string) => PaymentRecord;

const complete: Move = (moves, id) => moves.complete(id);
const authorize: Move = (moves, id) => moves.authorize(id);
const cancel: Move = (moves, id) => moves.cancel(id);
const fail =
  (reason: { code?: number; reason?: string }): Move =>
  (moves, id) =>
    moves.fail(id, reason);

interface Scenario {
  does: string;
  request: { paymentType: 'DEPOSIT' | 'WITHDRAWAL'; paymentMethod: string; amount: number; currency: string };
  moves: Move[];
  fault?: CallbackFault;
}

const CARD = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' } as const;
const SEPA = { paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', amount: 120, currency: 'EUR' } as const;

const ALL = {
  'deposit-completed': { does: 'A card deposit is paid.', request: CARD, moves: [complete] },
  'deposit-authorized': {
    does: 'A Google Pay deposit is authorised, then captured.',
    request: { ...CARD, paymentMethod: 'GOOGLEPAY' },
    moves: [authorize, complete],
  },
  'deposit-declined': {
    does: 'A card deposit fails: insufficient balance.',
    request: CARD,
    moves: [fail({ code: 4004 })],
  },
  'deposit-failed': { does: 'A card deposit fails without a reason.', request: CARD, moves: [fail({})] },
  'deposit-canceled': {
    does: 'An iDEAL deposit is canceled.',
    request: { ...CARD, paymentMethod: 'IDEAL' },
    moves: [cancel],
  },
  'payid-completed': {
    does: 'A PayID transfer arrives.',
    request: { ...CARD, paymentMethod: 'PAYID', amount: 80, currency: 'AUD' },
    moves: [complete],
  },
  'onramp-completed': {
    does: 'An on-ramp deposit is settled in crypto.',
    request: { ...CARD, paymentMethod: 'ONRAMP', amount: 540, currency: 'BRL' },
    moves: [complete],
  },
  'withdrawal-completed': { does: 'A SEPA withdrawal is paid out.', request: SEPA, moves: [complete] },
  'withdrawal-failed': {
    does: 'A SEPA withdrawal fails: the account is closed.',
    request: SEPA,
    moves: [fail({ reason: 'Account closed' })],
  },
  'callback-duplicated': {
    does: 'A card deposit is paid, and its callback comes twice.',
    request: CARD,
    moves: [complete],
    fault: 'callback-duplicate',
  },
  'callback-reordered': {
    does: 'A card deposit is authorised and paid, and the callbacks come in the wrong order.',
    request: CARD,
    moves: [authorize, complete],
    fault: 'callback-reorder',
  },
  'callback-forged': {
    does: 'A card deposit is authorised, and somebody forges a callback of ten times its amount.',
    request: CARD,
    moves: [authorize],
    fault: 'callback-forge',
  },
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof ALL;
export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = ALL;

export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(ALL, name);

export interface Played {
  payment: PaymentRecord;
  deliveries: Delivery[];
}

/** Plays it as a merchant would: with a signed create, so that it is seen like any other. */
export async function play(
  { settings, moves, callbacks, faults, send }: Parts,
  name: ScenarioName,
  origin: string,
  webhookUrl: string,
): Promise<Played> {
  const scenario = SCENARIOS[name];
  const reference = `${name}-${crypto.randomUUID().slice(0, 8)}`;
  const body = JSON.stringify({ ...scenario.request, reference, webhookUrl });
  const request = new Request(`${origin}/api/v1/payments`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${settings.apiKey}`,
      signature: signBody(body, settings.signKey, settings.signatureEncoding),
      'content-type': 'application/json',
    },
    body,
  });
  const response = await send(request);
  const { result, ...bare } = JSON.parse(await response.text());
  if (!response.ok) throw new SandboxError('refused', `The create was refused: ${bare.message}`);
  let payment: PaymentRecord = result ?? bare;
  callbacks.keepAddress(payment.id);
  if (scenario.fault) faults.next(scenario.fault, { reference });
  for (const move of scenario.moves) {
    payment = move(moves, payment.id);
    await callbacks.delivered(payment.id);
  }
  return { payment, deliveries: callbacks.deliveries.filter(({ paymentId }) => paymentId === payment.id) };
}
