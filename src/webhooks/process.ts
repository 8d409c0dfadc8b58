// Processes a callback at its payment's turn: look the payment up → apply its status → answer all waiting callbacks.
import { delay, type Left, within, withTimeout } from '../deadline.ts';
import { ConnectionError, InvalidRequestError, isGatewayError, WaitTimeoutError, WebhookError } from '../errors.ts';
import { LAG_PAUSES, type LookUp, NOT_AN_ID } from '../payments/lookup.ts';
import { isPaymentId } from '../schemas/id.ts';
import { isPaymentStatus } from '../schemas/methods.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { CLIENT, type ClientLink, type Processed } from '../store/link.ts';
import { type ClaimDigest, isBehind, lagging, mismatchesOf, unknownPayment } from './claim.ts';
import { createEffect, type EffectSettings } from './effect.ts';
import { createLanes, type Lane, UnknownIds } from './lanes.ts';
import { takeTurns } from './turns.ts';

/** The part of a `GatewayClient` that a handler needs. */
export interface WebhookGateway<Tx = unknown> {
  getPayment: LookUp;
  readonly [CLIENT]?: ClientLink<Tx> | undefined;
}

/** The limits of processing a payment without a callback. */
interface ProcessOptions {
  /** Stops the wait. Work that has begun continues. */
  signal?: AbortSignal | undefined;
  /** Milliseconds to wait. Work that has begun continues. */
  timeout?: number | undefined;
}

/** A callback that was read. */
export interface Callback {
  claim: ClaimDigest;
  /** A valid token, possibly of another payment. */
  token: string | undefined;
  callId: string;
}

interface Settings<Tx> extends EffectSettings<Tx> {
  gateway: WebhookGateway<Tx>;
  unsigned: 'limit' | 'refuse';
}

/** A callback that waits for its answer, or a sweep, which has no claim. */
interface Waiter extends Partial<Callback> {
  callId: string;
  resolve(processed: Processed): void;
  reject(error: unknown): void;
}

/** Milliseconds: a lookup that takes longer would block its place for others. */
const LONGEST_LOOKUP = 10_000;
/** Claimed statuses to check in the store in one turn, at most: a flood may claim any. */
const MOST_ASKED = 3;
/** Milliseconds that a sweep waits for the turn before its own: that turn may itself be waiting for this sweep. */
const LONGEST_TURN = 25_000;

export function createProcess<Tx>(settings: Settings<Tx>) {
  const { gateway, link, unsigned, reports } = settings;
  const { takeEffect, isMarked, reviewRefused } = createEffect(settings);
  const unknownIds = new UnknownIds();
  const lanes = createLanes();

  const lookUp = async (paymentId: string): Promise<Payment> => {
    const giveUp = new AbortController();
    const looking = gateway.getPayment(paymentId, { signal: giveUp.signal });
    try {
      const payment = await withTimeout(looking, LONGEST_LOOKUP, () => {
        giveUp.abort();
        throw new ConnectionError(`The lookup of payment ${paymentId} took more than ${LONGEST_LOOKUP} ms.`, 'timeout');
      });
      unknownIds.delete(paymentId);
      return payment;
    } catch (error) {
      if (isNotFound(error)) unknownIds.add(paymentId);
      throw error;
    }
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

  /**
   * Answers the waiters whose claim the record shows.
   *
   * @param marked the store's answers in this turn
   * @returns the other waiters
   */
  const takeEffectFor = async (
    waiters: readonly Waiter[],
    payment: Payment,
    marked: Map<string | undefined, boolean>,
  ) => {
    for (const { claim } of waiters) {
      if (!claim || !isBehind(payment, claim) || marked.has(claim.mark) || marked.size === MOST_ASKED) continue;
      marked.set(claim.mark, await isMarked(claim));
    }
    const isShown = (record: Payment, { claim }: Waiter) =>
      !claim || !isBehind(record, claim) || marked.get(claim.mark) === true;
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
    // Warnings name the first waiter, and the first marks are surely checked.
    let waiters: readonly Waiter[] = all.toSorted((one, other) => rankOf(one) - rankOf(other));
    let isAdmitted = false;
    const marked = new Map<string | undefined, boolean>();
    for (let attempt = 0; ; attempt++) {
      const payment = await lookUp(paymentId).catch(error => {
        waiters = unlessUnknown(waiters, error, paymentId);
        return undefined;
      });
      if (payment) {
        if (!isAdmitted) waiters = admit(waiters, payment);
        isAdmitted = true;
        try {
          waiters = await takeEffectFor(waiters, payment, marked);
        } catch (error) {
          for (const { reject } of waiters) reject(error);
          return;
        }
      }
      if (waiters.length === 0) return;
      const pause = LAG_PAUSES[attempt];
      if (pause === undefined) {
        for (const { reject } of waiters) reject(payment ? lagging(payment) : unknownPayment(paymentId));
        return;
      }
      await delay(pause);
    }
  };

  const turns = takeTurns(runTurn);

  /** Adds a callback to a turn. One that causes a lookup first takes a place, so it never waits for another kind. */
  const process = (
    paymentId: string,
    callback: Partial<Callback> & { callId: string },
    lane: Lane,
    signal: AbortSignal,
  ) => {
    const { promise, resolve, reject } = Promise.withResolvers<Processed>();
    const waiter = { ...callback, resolve, reject };
    if (turns.share(paymentId, waiter)) return promise;
    const work = async () => {
      if (lane === 'unsigned' && unknownIds.has(paymentId)) throw unknownPayment(paymentId);
      turns.join(paymentId, waiter);
      return promise;
    };
    return lanes[lane](work, signal);
  };

  return {
    reviewRefused,

    /**
     * @param signal ends the wait for a place
     * @throws {WebhookError} `unknown_payment`, and other errors that allow a retry of the callback
     * @throws any error of the lookup, the store or the merchant's functions
     */
    callback: (callback: Callback, lane: Lane, signal: AbortSignal): Promise<Processed> =>
      process(callback.claim.paymentId, callback, lane, signal),

    /**
     * @throws {WaitTimeoutError} after `timeout`, or if the payment's turn has not come in time
     * @throws any error of the lookup, the store or the merchant's functions
     */
    async sweep(
      id: string,
      callId: string,
      { signal, timeout = Number.POSITIVE_INFINITY }: ProcessOptions,
    ): Promise<Processed> {
      if (!isPaymentId(id)) throw new InvalidRequestError([NOT_AN_ID]);
      const paymentId = id.toLowerCase();
      if (signal?.aborted) throw stopped(paymentId);
      const longest = turns.isRunning(paymentId) ? Math.min(timeout, LONGEST_TURN) : timeout;
      const leave = new AbortController();
      const processed = process(paymentId, { callId }, 'sweep', leave.signal);
      const giveUp = (left: Left) => {
        if (left === 'aborted') throw stopped(paymentId);
        const message = `Payment ${paymentId} was not processed within ${longest} ms. Work that has started continues.`;
        throw new WaitTimeoutError(message, undefined, { paymentId });
      };
      try {
        return await within(processed, { ms: longest, signal }, giveUp);
      } finally {
        leave.abort();
      }
    },
  };
}

/** Sorts callbacks with a token first, then sweeps, then claims of a status that this SDK knows. */
function rankOf({ token, claim }: Waiter): number {
  if (token !== undefined) return 0;
  if (!claim) return 1;
  return isPaymentStatus(claim.mark) ? 2 : 3;
}

const isNotFound = (error: unknown): boolean => isGatewayError(error) && error.name === 'PaymentNotFoundError';

/** @returns the waiters left after a failed lookup: a valid token proves that the payment exists, or soon will */
function unlessUnknown(waiters: readonly Waiter[], error: unknown, paymentId: string): Waiter[] {
  const isUnknown = isNotFound(error);
  return waiters.filter(({ claim, token, reject }) => {
    if (isUnknown && token !== undefined) return true;
    reject(isUnknown && claim ? unknownPayment(paymentId) : error);
    return false;
  });
}

const stopped = (paymentId: string): ConnectionError =>
  new ConnectionError(
    `The processing of payment ${paymentId} was stopped. Work that has started continues.`,
    'aborted',
    {
      paymentId,
    },
  );

export const unsignedCallback = (paymentId?: string): WebhookError =>
  new WebhookError(
    'unsigned',
    'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.',
    [],
    { paymentId },
  );
