// Processes a callback at its turn: look the payment up → compare the record with the claims → apply its status.
import { delay } from '../deadline.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { isFinal, rawStatusOf } from '../schemas/records/payment-status.ts';
import { withinCall } from '../store/creates/change.ts';
import { unlessMissing } from '../store/creates/doubts.ts';
import { Call } from '../telemetry/call.ts';
import type { HandlerLink } from '../upkeep/handler-link.ts';
import { isShown } from './claim.ts';
import { takeEffect } from './effect.ts';
import type { Endpoint } from './endpoint.ts';
import { endOf, reportStep, unhandled } from './reply.ts';
import type { Callback, Turn } from './turns.ts';

/** Lookups until a record shows a claim, and milliseconds before the second, doubled before the third. */
const LOOKS = 3;
const PAUSE = 500;

/** Milliseconds: a longer lookup would keep its place from others. */
const LONGEST_LOOKUP = 10_000;

export const UNSIGNED =
  'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.';

/** Takes turns until a record shows the claim and has taken effect. */
export async function processCallback(endpoint: Endpoint, callback: Callback) {
  const { id: paymentId, token } = callback;
  for (let looks = 1; ; looks++) {
    const { payment, result } = await endpoint.turns.take(callback, shared => runTurn(endpoint, paymentId, shared));
    if (payment && !isAccepted(endpoint, callback, payment)) throw unhandled('unsigned', UNSIGNED, paymentId);
    if (payment && result && (result === 'busy' || isShown(payment, callback))) return { result, payment };
    // A valid token proves that the payment exists, or soon will.
    if (looks < LOOKS && (payment || token !== undefined)) await delay(PAUSE * looks);
    else {
      const message = payment
        ? `A callback claims a newer status of payment ${paymentId}, but the gateway's record is still ${payment.paymentStatus}. A later callback or upkeep retries.`
        : `The gateway does not know payment ${paymentId} of a callback, or not yet. The callback may be forged. A later one can succeed.`;
      throw unhandled(payment ? 'lagging' : 'unknown_payment', message, paymentId);
    }
  }
}

/** Processes a payment without a callback. Work that has begun continues after the limits. */
export function sweepPayment(endpoint: Endpoint, paymentId: string, limits: Parameters<HandlerLink['process']>[1]) {
  const call = Object.assign(new Call('callback'), { lane: 'sweep', paymentId } as const);
  const leave = new AbortController();
  const wait = () => processCallback(endpoint, { id: paymentId, paymentStatus: '', call, signal: leave.signal });
  return call.traced(async () => {
    const done = await withinCall(wait, limits).catch(error => {
      leave.abort();
      reportStep(endpoint, call, endOf(error).step);
      throw error;
    });
    reportStep(endpoint, call, { result: done.result, paymentStatus: rawStatusOf(done.payment) });
    return done;
  });
}

/** Looks the payment up. Its status takes effect if it is final, or if a callback claims nothing newer. */
async function runTurn(endpoint: Endpoint, id: string, callbacks: readonly Callback[], seen = 0): Promise<Turn> {
  // A test double may return no promise.
  const lookUp = async () => endpoint.gateway.getPayment(id, { timeout: LONGEST_LOOKUP });
  const payment = await lookUp().catch(unlessMissing);
  if (!payment) return {};
  const accepted = callbacks.filter(callback => isAccepted(endpoint, callback, payment));
  const cause = accepted.find(callback => isFinal(payment) || isShown(payment, callback));
  if (!cause) return { payment };
  const turn = await takeEffect(endpoint, payment, cause.call, seen);
  if (turn.seen === undefined || seen > 0) return turn;
  await delay(PAUSE);
  return runTurn(endpoint, id, callbacks, turn.seen);
}

/** Whether it has no token of another payment, if the handler refuses those. */
const isAccepted = ({ unsigned, link }: Endpoint, { token }: Callback, payment: Payment) =>
  unsigned === 'limit' || token === undefined || link?.tokens.isOf(token, payment) !== false;
