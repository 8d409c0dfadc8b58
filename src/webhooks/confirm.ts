// Confirms a callback by a lookup, for endpoints that are not made with createWebhookHandler.
import { Deadline, pause } from '../deadline.ts';
import { isGatewayError, WebhookError } from '../errors.ts';
import { LAG_PAUSES, type LookUp } from '../payments/lookup.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { digestOf, isBehind, mismatchesOf, type WebhookClaim } from './claim.ts';

/** A callback whose payment was looked up. */
export interface ConfirmedWebhook {
  /** The gateway's own record. Act on this. */
  payment: Payment;
  /** What the callback claimed, for logs. */
  claim: WebhookClaim;
  /**
   * What the callback claims otherwise than the record: of `amount`, `currency`, `paymentType` and `reference`. It says
   * nothing on whether the callback is genuine: whoever forges one can leave a field out.
   */
  mismatches: readonly string[];
}

/**
 * Looks the payment of a claim up, and again while the record is behind the claim.
 *
 * @throws {WebhookError} `unknown_payment`, `lagging`: take the callback again later
 * @throws what the lookup throws
 */
export async function confirm(
  claim: WebhookClaim,
  lookUp: LookUp,
  { timeout, signal }: { timeout: number; signal?: AbortSignal | undefined },
): Promise<ConfirmedWebhook> {
  const digest = digestOf(claim);
  const deadline = new Deadline(timeout);
  for (let attempt = 0; ; attempt++) {
    const payment = await lookUp(claim.id, { signal, timeout: deadline.timeout }).catch(error => {
      throw isNotFound(error) ? unknownPayment(claim.id) : error;
    });
    if (isFinal(payment) || !isBehind(payment, digest)) {
      return { payment, claim, mismatches: mismatchesOf(digest, payment) };
    }
    const lag = LAG_PAUSES[attempt];
    if (lag === undefined || lag >= deadline.remaining) throw lagging(payment);
    await pause(lag, signal);
  }
}

export const isNotFound = (error: unknown): boolean => isGatewayError(error) && error.name === 'PaymentNotFoundError';

export const unknownPayment = (paymentId: string): WebhookError =>
  new WebhookError(
    'unknown_payment',
    `A callback is about payment ${paymentId}, and the gateway does not know it (yet). It may be forged: take it again later.`,
    [],
    { paymentId },
  );

export const lagging = ({ id, paymentStatus }: Payment): WebhookError =>
  new WebhookError(
    'lagging',
    `A callback says that payment ${id} has another status, and a lookup still says ${paymentStatus}. Take the callback again later.`,
    [],
    { paymentId: id },
  );
