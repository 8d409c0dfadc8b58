// Processes a callback at its payment's turn: look the payment up → apply its status → answer all waiting callbacks.
import { delay, type Left, within, withTimeout } from '../deadline.ts';
import { ConnectionError, isGatewayError, WaitTimeoutError } from '../errors.ts';
import { LAG_PAUSES, type LookUp } from '../payments/lookup.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { CLIENT, type ClientLink, type HandlerLink, type ProcessResult } from '../store/link.ts';
import { type ClaimDigest, isBehind, isHandled, mismatchesOf } from './claim.ts';
import { createEffect, type EffectSettings } from './effect.ts';
import { unhandled } from './reply.ts';
import { type Lane, takeTurns } from './turns.ts';

/** The part of a `GatewayClient` that a handler needs. */
export interface WebhookGateway<Tx = unknown> {
  getPayment: LookUp;
  readonly [CLIENT]?: ClientLink<Tx> | undefined;
}

/** A callback that was read, or a sweep, which has no claim. */
interface Callback {
  claim?: ClaimDigest | undefined;
  /** A valid token, possibly of another payment. */
  token?: string | undefined;
  callId: string;
}

interface Waiter extends Callback {
  resolve(processed: ProcessResult): void;
  reject(error: unknown): void;
}

interface Settings<Tx> extends EffectSettings<Tx> {
  gateway: WebhookGateway<Tx>;
  unsigned: 'limit' | 'refuse';
}

/** Milliseconds: a lookup that takes longer would block its place for others. */
const LONGEST_LOOKUP = 10_000;

export function createProcess<Tx>(settings: Settings<Tx>) {
  const { gateway, link, unsigned, reports } = settings;
  const { takeEffect, handledStatuses, reviewRefused } = createEffect(settings);

  const lookUp = (paymentId: string): Promise<Payment> => {
    const giveUp = new AbortController();
    return withTimeout(gateway.getPayment(paymentId, { signal: giveUp.signal }), LONGEST_LOOKUP, () => {
      giveUp.abort();
      throw new ConnectionError(`The lookup of payment ${paymentId} took more than ${LONGEST_LOOKUP} ms.`, 'timeout');
    });
  };

  /** Reports differences from the record, and refuses tokens of other payments with `unsigned: 'refuse'`. */
  const admit = (waiters: readonly Waiter[], payment: Payment): Waiter[] =>
    waiters.filter(({ callId, claim, token, reject }) => {
      if (!claim) return true;
      const isOwn = token === undefined || link?.tokens.isOf(token, payment) !== false;
      const mismatches = [...mismatchesOf(claim, payment), ...(isOwn ? [] : ['the token of its address'])];
      if (mismatches.length > 0) {
        const message = `A callback of payment ${payment.id} differs from the gateway's record, which counts: ${mismatches.join(', ')}.`;
        reports.warn({ paymentId: claim.paymentId, callId }, 'callback_mismatch', message);
      }
      if (isOwn || unsigned === 'limit') return true;
      reject(unsignedCallback(payment.id));
      return false;
    });

  /** Answers the waiters whose claim the record shows. @returns the others */
  const takeEffectFor = async (waiters: readonly Waiter[], payment: Payment): Promise<readonly Waiter[]> => {
    const isAhead = waiters.some(({ claim }) => claim && isBehind(payment, claim));
    const handled = isAhead ? await handledStatuses(payment.id) : [];
    const isShown = (record: Payment, { claim }: Waiter) =>
      !claim || !isBehind(record, claim) || isHandled(claim, handled);
    const [first] = waiters;
    if (!first || !(isFinal(payment) || waiters.some(waiter => isShown(payment, waiter)))) return waiters;

    const processed = await takeEffect(payment, first.callId, () => lookUp(payment.id));
    // After a conflict, another record took effect.
    const isAnswered = (waiter: Waiter) => processed.result === 'busy' || isShown(processed.payment, waiter);
    for (const waiter of waiters) if (isAnswered(waiter)) waiter.resolve(processed);
    return waiters.filter(waiter => !isAnswered(waiter));
  };

  /** Runs a whole turn. While a claim is ahead of the record, it looks the payment up again. */
  const runTurn = async (paymentId: string, all: readonly Waiter[]): Promise<void> => {
    let waiters = all;
    let isAdmitted = false;
    try {
      for (const pause of [...LAG_PAUSES, undefined]) {
        const payment = await lookUp(paymentId).catch(error => {
          waiters = unlessUnknown(waiters, error, paymentId);
          return undefined;
        });
        if (payment && !isAdmitted) waiters = admit(waiters, payment);
        isAdmitted ||= payment !== undefined;
        if (payment) waiters = await takeEffectFor(waiters, payment);
        if (waiters.length === 0) return;
        if (pause === undefined) throw payment ? lagging(payment) : unknownPayment(paymentId);
        await delay(pause);
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    }
  };

  const take = takeTurns<Callback, ProcessResult>(runTurn);

  return {
    reviewRefused,

    /**
     * @param signal ends the wait for a place
     * @throws {WebhookError} `unknown_payment`, and other errors that allow a retry of the callback
     * @throws any error of the lookup, the store or the merchant's functions
     */
    callback: (callback: Callback & { claim: ClaimDigest }, lane: Lane, signal: AbortSignal): Promise<ProcessResult> =>
      take(callback.claim.paymentId, callback, lane, signal),

    /**
     * Processes a payment without a callback. Work that has begun continues after the timeout and the signal.
     *
     * @throws {WaitTimeoutError} after `timeout`
     * @throws any error of the lookup, the store or the merchant's functions
     */
    async sweep(
      paymentId: string,
      callId: string,
      { signal, timeout }: Parameters<HandlerLink['process']>[1],
    ): Promise<ProcessResult> {
      const giveUp = (left: Left) => {
        if (left === 'aborted') throw stopped(paymentId);
        const message = `Payment ${paymentId} was not processed within ${timeout} ms. Work that has started continues.`;
        throw new WaitTimeoutError(message, undefined, { paymentId });
      };
      if (signal?.aborted) return giveUp('aborted');
      const leave = new AbortController();
      try {
        return await within(take(paymentId, { callId }, 'sweep', leave.signal), { ms: timeout, signal }, giveUp);
      } finally {
        leave.abort();
      }
    },
  };
}

/** @returns the waiters left after a failed lookup: a valid token proves that the payment exists, or soon will */
function unlessUnknown(waiters: readonly Waiter[], error: unknown, paymentId: string): Waiter[] {
  const isUnknown = isGatewayError(error) && error.name === 'PaymentNotFoundError';
  return waiters.filter(({ claim, token, reject }) => {
    if (isUnknown && token !== undefined) return true;
    reject(isUnknown && claim ? unknownPayment(paymentId) : error);
    return false;
  });
}

const stopped = (paymentId: string) => {
  const message = `The processing of payment ${paymentId} was stopped. Work that has started continues.`;
  return new ConnectionError(message, 'aborted', { paymentId });
};

const unknownPayment = (paymentId: string) =>
  unhandled(
    'unknown_payment',
    `The gateway does not know payment ${paymentId} of a callback, or not yet. The callback may be forged. A later one can succeed.`,
    paymentId,
  );

const lagging = ({ id, paymentStatus }: Payment) =>
  unhandled(
    'lagging',
    `A callback claims a newer status of payment ${id}, but the gateway's record is still ${paymentStatus}. A later callback or upkeep retries.`,
    id,
  );

export const unsignedCallback = (paymentId?: string) =>
  unhandled(
    'unsigned',
    'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.',
    paymentId,
  );
