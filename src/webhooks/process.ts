// Processes a callback at its payment's turn: look the payment up → apply its status → compare with the claim.
import { delay, withTimeout } from '../deadline.ts';
import { ConnectionError } from '../errors.ts';
import { LAG_PAUSES, type LookUp } from '../payments/lookup.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { isFinal } from '../schemas/records/payment-status.ts';
import { withinCall } from '../store/creates/change.ts';
import { isMissing } from '../store/creates/doubts.ts';
import { isOfMerchant } from '../store/thrown.ts';
import type { HandlerLink, ProcessResult } from '../store/upkeep/handler-link.ts';
import { type Claim, isBehind, isHandled, mismatchesOf } from './claim.ts';
import { CLIENT, type ClientLink } from './client-link.ts';
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
  claim?: Claim | undefined;
  /** A valid token, possibly of another payment. */
  token?: string | undefined;
  callId: string;
}

/** The findings of one turn. */
interface Turn {
  payment: Payment;
  /** Every handled status, if a claim is ahead of the record. */
  handled: readonly string[];
  /** Absent if the record is older than every claim. */
  result?: ProcessResult['result'];
}

interface Settings<Tx> extends Omit<EffectSettings<Tx>, 'lookUp'> {
  gateway: WebhookGateway<Tx>;
  unsigned: 'limit' | 'refuse';
}

type SweepLimits = Parameters<HandlerLink['process']>[1];

/** Milliseconds: a lookup that takes longer would block its place for others. */
const LONGEST_LOOKUP = 10_000;

export function createProcess<Tx>(settings: Settings<Tx>) {
  const { gateway, link, unsigned, reports } = settings;

  const lookUp = (paymentId: string): Promise<Payment> => {
    const giveUp = new AbortController();
    return withTimeout(gateway.getPayment(paymentId, { signal: giveUp.signal }), LONGEST_LOOKUP, () => {
      giveUp.abort();
      throw new ConnectionError(`The lookup of payment ${paymentId} took more than ${LONGEST_LOOKUP} ms.`, 'timeout');
    });
  };
  const { takeEffect, handledStatuses, reviewRefused } = createEffect({ ...settings, lookUp });

  const isOwn = ({ token }: Callback, payment: Payment): boolean =>
    token === undefined || link?.tokens.isOf(token, payment) !== false;

  const warned = new WeakSet<Callback>();
  /** Reports differences from the record, once for a callback. */
  const compare = (callback: Callback, payment: Payment): void => {
    const { claim, callId } = callback;
    if (!claim || warned.has(callback)) return;
    const mismatches = mismatchesOf(claim, payment);
    if (!isOwn(callback, payment)) mismatches.push('the token of its address');
    if (mismatches.length === 0) return;
    warned.add(callback);
    const message = `A callback of payment ${payment.id} differs from the gateway's record, which counts: ${mismatches.join(', ')}.`;
    reports.warn({ paymentId: claim.id, callId }, 'callback_mismatch', message);
  };

  /** Looks the payment up once. Its status takes effect if it is final, or if a callback claims nothing newer. */
  const runTurn = async (paymentId: string, callbacks: readonly Callback[]): Promise<Turn> => {
    const payment = await lookUp(paymentId);
    for (const callback of callbacks) compare(callback, payment);
    const taken = unsigned === 'refuse' ? callbacks.filter(callback => isOwn(callback, payment)) : callbacks;
    const isAhead = taken.some(({ claim }) => claim && isBehind(payment, claim));
    const handled = isAhead ? await handledStatuses(payment.id) : [];
    const [first] = taken;
    const hasEffect = isFinal(payment) || taken.some(({ claim }) => isShown({ payment, handled }, claim));
    return { ...(first && hasEffect ? await takeEffect(payment, first.callId) : { payment }), handled };
  };

  const takeTurn = takeTurns(runTurn);

  return {
    reviewRefused,

    /**
     * Waits for a record that shows the claim.
     *
     * @param signal ends the wait for a place
     * @throws {WebhookError} `unknown_payment`, and other errors that allow a retry of the callback
     * @throws any error of the lookup, the store or the merchant's functions
     */
    async callback(callback: Callback & { claim: Claim }, lane: Lane, signal: AbortSignal): Promise<ProcessResult> {
      const { claim, token } = callback;
      const { id: paymentId } = claim;
      for (let looks = 0; ; looks++) {
        const turn = await takeTurn(paymentId, callback, lane, signal).catch((error): undefined => {
          if (isOfMerchant(error) || !isMissing(error)) throw error;
        });
        if (turn && unsigned === 'refuse' && !isOwn(callback, turn.payment)) throw unsignedCallback(paymentId);
        if (turn?.result && (turn.result === 'busy' || isShown(turn, claim)))
          return { result: turn.result, payment: turn.payment };
        // A valid token proves that the payment exists, or soon will.
        const pause = turn || token !== undefined ? LAG_PAUSES[looks] : undefined;
        if (pause === undefined) throw turn ? lagging(turn.payment) : unknownPayment(paymentId);
        await delay(pause);
      }
    },

    /**
     * Processes a payment without a callback. Work that has begun continues after the timeout and the signal.
     *
     * @throws {ConnectionError} `timeout`, `aborted`
     * @throws any error of the lookup, the store or the merchant's functions
     */
    async sweep(paymentId: string, callId: string, limits: SweepLimits): Promise<ProcessResult> {
      const leave = new AbortController();
      const wait = () => takeTurn(paymentId, { callId }, 'sweep', leave.signal);
      // Without a claim, every record takes effect.
      return (await withinCall(wait, limits).catch(error => {
        leave.abort();
        throw error;
      })) as ProcessResult;
    },
  };
}

/** Whether a turn has shown the claim, or its status was handled before. */
const isShown = ({ payment, handled }: Turn, claim: Claim | undefined): boolean =>
  !claim || !isBehind(payment, claim) || isHandled(claim, handled);

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
