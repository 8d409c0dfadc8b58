// What happens to a callback, at its payment's turn: look the payment up → let its status take effect → answer all who wait.
import { delay, withSignal, withTimeout } from '../deadline.ts';
import { ConnectionError, InvalidRequestError, WaitTimeoutError, WebhookError } from '../errors.ts';
import { LAG_PAUSES } from '../http/retry-policy.ts';
import { type LookUp, NOT_AN_ID } from '../payments/lookup.ts';
import { isPaymentId, type Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { type ClaimDigest, isBehind, mismatchesOf } from './claim.ts';
import { isNotFound, lagging, unknownPayment } from './confirm.ts';
import { createEffect, type EffectSettings, type Processed } from './effect.ts';
import { Lane, UnknownIds } from './lanes.ts';
import { takeTurns, type Visitor } from './turns.ts';

/** What the handler needs of a `GatewayClient`. */
export interface WebhookGateway {
  getPayment: LookUp;
  /** Settles the journal's doubt of a confirmed payment, before its status takes effect. */
  reconcile?(payment: Payment): Promise<void>;
  /** The token in a callback's address, if it is one that this client gives out. */
  checkCallbackUrl?(url: string): string | undefined;
  /** Whether a good token is that of the payment; without a reference every good one is. */
  isCallbackOf?(token: string, payment: Payment): boolean;
  /** Whether creates sign the addresses of their callbacks. */
  readonly signCallbackUrls?: boolean;
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
  lane: Lane;
}

interface Settings<Context extends object> extends Omit<EffectSettings<Context>, 'reconcile'> {
  gateway: WebhookGateway;
  unsigned: 'limit' | 'refuse';
}

/** A callback that waits for its answer, or a sweep, which has no claim. */
interface Visit extends Visitor, Partial<Callback> {
  lane: Lane;
  resolve(processed: Processed): void;
}

/** Milliseconds: a lookup that takes longer would keep its lane's place from others. */
const LONGEST_LOOKUP = 10_000;
/** Milliseconds that a sweep waits for the turn before its own: that may be the very one that waits for this sweep. */
const LONGEST_TURN = 25_000;

export function createProcess<Context extends object>(settings: Settings<Context>) {
  const { gateway, unsigned, warn } = settings;
  const reconcile = async (payment: Payment) => gateway.reconcile?.(payment);
  const { takeEffect, isMarked } = createEffect({ ...settings, reconcile });
  const unknownIds = new UnknownIds();
  const sweeps = new Lane('sweep');

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
  const admit = (visits: readonly Visit[], payment: Payment): Visit[] =>
    visits.filter(({ claim, token, reject }) => {
      if (!claim) return true;
      const isOwn = token === undefined || gateway.isCallbackOf?.(token, payment) !== false;
      const mismatches = [...mismatchesOf(claim, payment), ...(isOwn ? [] : ['the token of its address'])];
      if (mismatches.length > 0) {
        const message = `A callback of payment ${payment.id} differs from the gateway's record, which counts: ${mismatches.join(', ')}.`;
        warn(claim.paymentId, 'callback_mismatch', message);
      }
      if (isOwn || unsigned === 'limit') return true;
      reject(unsignedCallback(payment.id));
      return false;
    });

  /** Answers those visits whose claim the record shows. @returns the others, and what ran */
  const act = async (visits: readonly Visit[], payment: Payment) => {
    const current: Visit[] = [];
    const behind: Visit[] = [];
    for (const visit of visits) {
      const { claim } = visit;
      const isCurrent = !claim || !isBehind(payment, claim) || (await isMarked(claim));
      (isCurrent ? current : behind).push(visit);
    }
    if (current.length === 0 && !isFinal(payment)) return { behind };
    const lane = visits[0]?.lane ?? sweeps;
    const processed = await takeEffect(payment, id => lane.lookUp(() => lookUp(id)));
    const isBusy = processed.result === 'busy';
    for (const visit of isBusy ? visits : current) visit.resolve(processed);
    return { behind: isBusy ? [] : behind, ran: processed.result === 'ran' ? processed : undefined };
  };

  /** A whole turn: while a claim is ahead of the record, the payment is looked up again. */
  const play = async (paymentId: string, all: readonly Visit[], firstLookup: Promise<Payment>): Promise<void> => {
    let visits = all;
    let lookup = firstLookup;
    let hasRun: Processed | undefined;
    for (let attempt = 0; ; attempt++) {
      let payment: Payment | undefined;
      try {
        payment = await lookup;
        if (attempt === 0) visits = admit(visits, payment);
        if (visits.length === 0) return;
        const { behind, ran } = await act(visits, payment);
        visits = behind;
        hasRun ??= ran;
      } catch (error) {
        visits = rejectAll(visits, error, paymentId);
      }
      const [first] = visits;
      if (!first) return;
      const pause = LAG_PAUSES[attempt];
      if (pause === undefined) {
        for (const { resolve, reject } of visits) {
          if (hasRun) resolve(hasRun);
          else reject(payment ? lagging(payment) : unknownPayment(paymentId));
        }
        return;
      }
      await delay(pause);
      lookup = first.lane.lookUp(() => lookUp(paymentId));
    }
  };

  const turns = takeTurns<Visit>((paymentId, visits) => {
    const lookedUp = lookUp(paymentId);
    return { lookedUp, done: play(paymentId, visits, lookedUp) };
  });

  return {
    /** @throws {WebhookError} what may come again; and what the lookup, the inbox or `onPayment` throws */
    async callback({ claim, token, lane }: Callback): Promise<Processed> {
      const { paymentId } = claim;
      if (token === undefined && unknownIds.has(paymentId)) throw unknownPayment(paymentId);
      return new Promise((resolve, reject) => {
        turns.join({ paymentId, claim, token, lane, resolve, reject });
      });
    },

    /**
     * @throws {WaitTimeoutError} after `timeout`, or if the payment's turn has not come in time
     * @throws what the lookup, the inbox or `onPayment` throws
     */
    async sweep(id: string, { signal, timeout = Number.POSITIVE_INFINITY }: ProcessOptions): Promise<Processed> {
      if (!isPaymentId(id)) throw new InvalidRequestError([NOT_AN_ID]);
      const paymentId = id.toLowerCase();
      if (signal?.aborted) throw stopped(paymentId);
      const place = sweeps.enter();
      const longest = turns.isAtWork(paymentId) ? Math.min(timeout, LONGEST_TURN) : timeout;
      const processed = new Promise<Processed>((resolve, reject) => {
        turns.join({ paymentId, lane: sweeps, resolve, reject });
      });
      processed.then(place.leave, place.leave);
      const late = () => {
        const message = `Payment ${paymentId} was not processed within ${longest} ms. What has begun goes on.`;
        throw new WaitTimeoutError(message, undefined, { paymentId });
      };
      const bounded = Number.isFinite(longest) ? withTimeout(processed, longest, late) : processed;
      return withSignal(bounded, signal).catch(error => {
        throw signal?.aborted && error === signal.reason ? stopped(paymentId) : error;
      });
    },
  };
}

/** @returns those that wait on: a good token proves that the payment exists, or soon will */
function rejectAll(visits: readonly Visit[], error: unknown, paymentId: string): Visit[] {
  const isUnknown = isNotFound(error);
  return visits.filter(({ claim, token, reject }) => {
    if (isUnknown && token !== undefined) return true;
    reject(isUnknown && claim ? unknownPayment(paymentId) : error);
    return false;
  });
}

const stopped = (paymentId: string): ConnectionError =>
  new ConnectionError(`The processing of payment ${paymentId} was stopped. What has begun goes on.`, 'aborted', {
    paymentId,
  });

export const unsignedCallback = (paymentId?: string): WebhookError =>
  new WebhookError(
    'unsigned',
    'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.',
    [],
    { paymentId },
  );
