// Processes a callback at its turn: look the payment up → compare it with each claim → apply its status.
import { delay } from '../deadline.ts';
import { LAG_PAUSES } from '../payments/lookup.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { isFinal, rawStatusOf } from '../schemas/records/payment-status.ts';
import { withinCall } from '../store/creates/change.ts';
import { isMissing } from '../store/creates/doubts.ts';
import { paymentDataOf } from '../store/rules/payment-row.ts';
import { isOfMerchant } from '../store/thrown.ts';
import type { HandlerLink, ProcessResult } from '../store/upkeep/handler-link.ts';
import { Call } from '../telemetry/call.ts';
import { type Claim, isBehind, isHandled, mismatchesOf } from './claim.ts';
import { lookUpInTime } from './client-link.ts';
import { takeEffect } from './effect.ts';
import type { Endpoint } from './endpoint.ts';
import { endOf, reportStep, reportWarning, unhandled } from './reply.ts';
import type { Callback, Turn } from './turns.ts';

type SweepLimits = Parameters<HandlerLink['process']>[1];

export const UNSIGNED =
  'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.';

/**
 * Waits for a record that shows the claim.
 *
 * @throws {WebhookError} `unknown_payment`, and other errors that allow a retry of the callback
 * @throws any error of the lookup, the store or the merchant's functions
 */
export async function processCallback(endpoint: Endpoint, callback: Callback): Promise<ProcessResult> {
  const { paymentId, claim, token } = callback;
  for (let looks = 0; ; looks++) {
    const turn = await takeTurn(endpoint, callback).catch((error): undefined => {
      if (isOfMerchant(error) || !isMissing(error)) throw error;
    });
    if (turn) {
      const { payment, result } = turn;
      if (!isAccepted(endpoint, callback, payment)) throw unhandled('unsigned', UNSIGNED, paymentId);
      if (result === 'busy') throw unhandled('busy', busy(payment), payment.id);
      if (result && isShown(turn, claim)) return { result, payment };
    }
    // A valid token proves that the payment exists, or soon will.
    const pause = turn || token !== undefined ? LAG_PAUSES[looks] : undefined;
    if (pause !== undefined) await delay(pause);
    else if (turn) throw unhandled('lagging', lagging(turn.payment), turn.payment.id);
    else throw unhandled('unknown_payment', unknownPayment(paymentId), paymentId);
  }
}

/**
 * Processes a payment without a callback. Work that has begun continues after the timeout and the signal.
 *
 * @throws {ConnectionError} `timeout`, `aborted`
 * @throws any error of the lookup, the store or the merchant's functions
 */
export async function sweepPayment(endpoint: Endpoint, paymentId: string, limits: SweepLimits): Promise<ProcessResult> {
  const call = Object.assign(new Call('callback', {}), { lane: 'sweep', paymentId } as const);
  const leave = new AbortController();
  const { callId, lane } = call;
  const wait = () => takeTurn(endpoint, { paymentId, callId, lane, signal: leave.signal });
  return call.traced(async () => {
    try {
      // Without a claim, every record takes effect.
      const processed = (await withinCall(wait, limits)) as ProcessResult;
      reportStep(endpoint, call, { result: processed.result, paymentStatus: rawStatusOf(processed.payment) });
      return processed;
    } catch (error) {
      leave.abort();
      reportStep(endpoint, call, endOf(error).step);
      throw error;
    }
  });
}

const takeTurn = (endpoint: Endpoint, callback: Callback): Promise<Turn> =>
  endpoint.turns.take(callback, callbacks => runTurn(endpoint, callback.paymentId, callbacks));

/** Looks the payment up once. Its status takes effect if it is final, or if a callback claims nothing newer. */
async function runTurn(endpoint: Endpoint, paymentId: string, callbacks: readonly Callback[]): Promise<Turn> {
  const payment = await lookUpInTime(endpoint.gateway, paymentId);
  for (const callback of callbacks) compare(endpoint, callback, payment);
  const taken = callbacks.filter(callback => isAccepted(endpoint, callback, payment));
  const isAhead = taken.some(({ claim }) => claim && isBehind(payment, claim));
  const handled = isAhead ? await handledStatuses(endpoint, payment.id) : [];
  const [first] = taken;
  const hasEffect = isFinal(payment) || taken.some(({ claim }) => isShown({ payment, handled }, claim));
  return { ...(first && hasEffect ? await takeEffect(endpoint, payment, first.callId) : { payment }), handled };
}

/** Whether the callback has no token of another payment. */
const fitsToken = ({ link }: Endpoint, { token }: Callback, payment: Payment): boolean =>
  token === undefined || link?.tokens.isOf(token, payment) !== false;

const isAccepted = (endpoint: Endpoint, callback: Callback, payment: Payment): boolean =>
  endpoint.unsigned === 'limit' || fitsToken(endpoint, callback, payment);

const warned = new WeakSet<Callback>();

/** Reports differences from the record, once for a callback. */
function compare(endpoint: Endpoint, callback: Callback, payment: Payment): void {
  const { claim, paymentId, callId } = callback;
  if (!claim || warned.has(callback)) return;
  const mismatches = mismatchesOf(claim, payment);
  if (!fitsToken(endpoint, callback, payment)) mismatches.push('the token of its address');
  if (mismatches.length === 0) return;
  warned.add(callback);
  const message = `A callback of payment ${payment.id} differs from the gateway's record, which counts: ${mismatches.join(', ')}.`;
  reportWarning(endpoint, { paymentId, callId }, 'callback_mismatch', message);
}

/** Returns every status of a payment that has taken effect. */
async function handledStatuses({ store }: Endpoint, paymentId: string): Promise<readonly string[]> {
  const { row } = await store.read({ kind: 'payment', id: paymentId.toLowerCase() });
  return paymentDataOf(row).statuses;
}

/** Whether a turn has shown the claim, or its status was handled before. */
const isShown = ({ payment, handled }: Turn, claim: Claim | undefined): boolean =>
  !claim || !isBehind(payment, claim) || isHandled(claim, handled);

const unknownPayment = (paymentId: string) =>
  `The gateway does not know payment ${paymentId} of a callback, or not yet. The callback may be forged. A later one can succeed.`;

const lagging = ({ id, paymentStatus }: Payment) =>
  `A callback claims a newer status of payment ${id}, but the gateway's record is still ${paymentStatus}. A later callback or upkeep retries.`;

const busy = ({ id }: Payment) => `Another worker is processing payment ${id}. A later callback or upkeep retries.`;
