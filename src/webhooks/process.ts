// What happens to a callback, at its payment's turn: look the payment up → let its status take effect → answer all who wait.
import { delay, type Left, within, withTimeout } from '../deadline.ts';
import { ConnectionError, InvalidRequestError, isGatewayError, WaitTimeoutError, WebhookError } from '../errors.ts';
import type { Processed } from '../inbox/contract.ts';
import { LAG_PAUSES, type LookUp, NOT_AN_ID } from '../payments/lookup.ts';
import { isPaymentId } from '../schemas/id.ts';
import { isPaymentStatus } from '../schemas/methods.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { type ClaimDigest, isBehind, lagging, mismatchesOf, unknownPayment } from './claim.ts';
import { createEffect, type EffectSettings } from './effect.ts';
import { createLanes, type Lane, UnknownIds } from './lanes.ts';
import { takeTurns } from './turns.ts';

/** What the handler needs of a `GatewayClient`. */
export interface WebhookGateway {
  getPayment: LookUp;
  /** Settles the journal's doubt of a confirmed payment, before its status takes effect. */
  reconcile?(payment: Payment): Promise<void>;
  /** Tells the journal that a payment's status has taken effect. */
  acknowledge?(payment: Payment): Promise<void>;
  /** The token in a callback's address, if it is one that this client gives out. */
  checkCallbackUrl?(url: string): string | undefined;
  /** Whether a good token is that of the payment; without a reference every good one is. */
  isCallbackOf?(token: string, payment: Payment): boolean;
  /** Whether creates sign the addresses of their callbacks. */
  readonly signCallbackUrls?: boolean;
  /** Whether `reconcile` tells a journal. */
  readonly hasJournal?: boolean;
}

/** What `handler.process` can take as its second argument. */
export interface ProcessOptions {
  /** Stops the wait; what has begun goes on. */
  signal?: AbortSignal | undefined;
  /** Milliseconds to wait; what has begun goes on. */
  timeout?: number | undefined;
}

/** A callback that was read. */
export interface Callback {
  claim: ClaimDigest;
  /** A good token, of whatever payment. */
  token: string | undefined;
  callId: string;
}

interface Settings<Context extends object> extends Omit<EffectSettings<Context>, 'reconcile' | 'acknowledge'> {
  gateway: WebhookGateway;
  unsigned: 'limit' | 'refuse';
}

/** A callback that waits for its answer, or a sweep, which has no claim. */
interface Waiter extends Partial<Callback> {
  callId: string;
  resolve(processed: Processed): void;
  reject(error: unknown): void;
}

/** Milliseconds: a lookup that takes longer would keep its place from others. */
const LONGEST_LOOKUP = 10_000;
/** Claimed statuses that the inbox is asked about in one turn: a flood may claim any. */
const MOST_ASKED = 3;
/** Milliseconds that a sweep waits for the turn before its own: that may be the very one that waits for this sweep. */
const LONGEST_TURN = 25_000;

export function createProcess<Context extends object>(settings: Settings<Context>) {
  const { gateway, unsigned, warn } = settings;
  const reconcile = async (payment: Payment) => gateway.reconcile?.(payment);
  const acknowledge = async (payment: Payment) => gateway.acknowledge?.(payment);
  const { takeEffect, isMarked } = createEffect({ ...settings, reconcile, acknowledge });
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

  /** Tells what differs from the record, and refuses tokens of other payments if that is asked for. */
  const admit = (waiters: readonly Waiter[], payment: Payment): Waiter[] =>
    waiters.filter(({ callId, claim, token, reject }) => {
      if (!claim) return true;
      const isOwn = token === undefined || gateway.isCallbackOf?.(token, payment) !== false;
      const mismatches = [...mismatchesOf(claim, payment), ...(isOwn ? [] : ['the token of its address'])];
      if (mismatches.length > 0) {
        const message = `A callback of payment ${payment.id} differs from the gateway's record, which counts: ${mismatches.join(', ')}.`;
        warn({ paymentId: claim.paymentId, callId }, 'callback_mismatch', message);
      }
      if (isOwn || unsigned === 'limit') return true;
      reject(unsignedCallback(payment.id));
      return false;
    });

  /**
   * Answers those waiters whose claim the record shows.
   *
   * @param marked what the inbox has answered in this turn
   * @returns the others, and how the payment was processed
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
    if (!first || !(isFinal(payment) || waiters.some(waiter => isShown(payment, waiter)))) return { behind: waiters };

    const processed = await takeEffect(payment, first.callId, () => lookUp(payment.id));
    // After a conflict it is another record that took effect.
    const isAnswered = (waiter: Waiter) => processed.result === 'busy' || isShown(processed.payment, waiter);
    for (const waiter of waiters) if (isAnswered(waiter)) waiter.resolve(processed);
    return { behind: waiters.filter(waiter => !isAnswered(waiter)), processed };
  };

  /** A whole turn: while a claim is ahead of the record, the payment is looked up again. */
  const runTurn = async (paymentId: string, all: readonly Waiter[]): Promise<void> => {
    // The first is named in warnings, and those whose marks are asked for first are surely asked for.
    let waiters: readonly Waiter[] = all.toSorted((one, other) => rankOf(one) - rankOf(other));
    let isAdmitted = false;
    /** A final status that took effect in this turn. */
    let final: Processed | undefined;
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
          const { behind, processed } = await takeEffectFor(waiters, payment, marked);
          waiters = behind;
          if (processed?.result === 'ran' && isFinal(processed.payment)) final = processed;
        } catch (error) {
          for (const { reject } of waiters) reject(error);
          return;
        }
      }
      if (waiters.length === 0) return;
      const pause = LAG_PAUSES[attempt];
      if (pause === undefined) {
        for (const { resolve, reject } of waiters) {
          if (final) resolve(final);
          else reject(payment ? lagging(payment) : unknownPayment(paymentId));
        }
        return;
      }
      await delay(pause);
    }
  };

  const turns = takeTurns(runTurn);

  /** Only a callback that causes a lookup needs a place. It takes the place before it joins, so it never waits for another kind. */
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
    /**
     * @param signal ends the wait for a place
     * @throws {WebhookError} `unknown_payment`, and other errors after which the callback may come again
     * @throws what the lookup, the inbox or `onPayment` throws
     */
    callback: (callback: Callback, lane: Lane, signal: AbortSignal): Promise<Processed> =>
      process(callback.claim.paymentId, callback, lane, signal),

    /**
     * @throws {WaitTimeoutError} after `timeout`, or if the payment's turn has not come in time
     * @throws what the lookup, the inbox or `onPayment` throws
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

/** Callbacks with a token come first, then sweeps, then claims of a status that this SDK knows. */
function rankOf({ token, claim }: Waiter): number {
  if (token !== undefined) return 0;
  if (!claim) return 1;
  return isPaymentStatus(claim.mark) ? 2 : 3;
}

const isNotFound = (error: unknown): boolean => isGatewayError(error) && error.name === 'PaymentNotFoundError';

/** @returns those that wait on after a failed lookup: a good token proves that the payment exists, or soon will */
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
