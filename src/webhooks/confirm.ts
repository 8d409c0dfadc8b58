// Confirms a callback by a lookup: the gateway documents no signature on callbacks.
import * as z from 'zod';
import { Deadline, delay } from '../deadline.ts';
import { isGatewayError, issuesOf, listOf, WaitTimeoutError, WebhookError } from '../errors.ts';
import { LAG_PAUSES } from '../http/retry-policy.ts';
import type { LookUp } from '../payments/lookup.ts';
import { isFinalStatus } from '../schemas/methods.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { readBody } from './parse.ts';

/**
 * What a callback claims. Only `id` is demanded, because the callbacks of withdrawals and on-ramp payments are not
 * documented; every other field is as it came.
 */
const claimSchema: z.ZodType<WebhookClaim> = z.looseObject({ id: z.guid() });

/** What a callback claims of a payment: its id, and everything else in it, unchecked. */
export interface WebhookClaim {
  id: string;
  [field: string]: unknown;
}

/** A callback that matches the gateway's own record. */
export interface ConfirmedWebhook {
  /** The gateway's own record, looked up. Act on this. */
  payment: Payment;
  /** What the callback claimed, for logs. */
  claim: WebhookClaim;
}

/** @throws {WebhookError} `not_json`, `wrapped`, or `invalid` if `id` is no UUID */
export function readClaim(rawBody: unknown): WebhookClaim {
  const { success, data, error } = claimSchema.safeParse(readBody(rawBody));
  if (success) return data;
  const issues = issuesOf(error);
  throw new WebhookError('invalid', `This is not a payment callback: ${listOf(issues)}.`, issues);
}

/**
 * The gateway's own record of the payment, if the claim agrees with it.
 *
 * @throws {WebhookError} `unconfirmed`: the gateway has no such payment, or another amount, currency, type or reference
 * @throws {WaitTimeoutError} the record still lags behind the claim after two further lookups: try again later
 * @throws what the lookup throws
 */
export async function confirm(
  claim: WebhookClaim,
  lookUp: LookUp,
  limits: Parameters<LookUp>[1] = {},
): Promise<ConfirmedWebhook> {
  const { timeout = Number.POSITIVE_INFINITY, signal } = limits;
  const deadline = new Deadline(timeout);
  for (let attempt = 0; ; attempt++) {
    const left = Number.isFinite(timeout) ? { timeout: Math.max(deadline.remaining, 1) } : {};
    const payment = await lookUp(claim.id, { ...limits, ...left }).catch(error => {
      throw isGatewayError(error) && error.name === 'PaymentNotFoundError'
        ? unconfirmed(claim, 'the gateway has no such payment')
        : error;
    });
    const differing = differences(claim, payment);
    if (differing.length > 0) throw unconfirmed(claim, `the gateway has another ${differing.join(', ')}`);
    if (!isAhead(claim, payment)) return { payment, claim };
    const pause = LAG_PAUSES[attempt];
    if (pause === undefined || pause >= deadline.remaining) throw lagging(claim, payment);
    // If the signal ends the pause, the lookup that follows reports it.
    await delay(pause, signal).catch(() => {});
  }
}

/** The claimed fields that are there and differ from the record. */
function differences(claim: WebhookClaim, payment: Payment): string[] {
  const differs = (name: 'amount' | 'currency' | 'paymentType' | 'reference') => {
    const claimed = claim[name] ?? undefined;
    if (claimed === undefined) return false;
    return name === 'amount' ? Number(claimed) !== payment.amount : String(claimed) !== String(payment[name]);
  };
  return (['amount', 'currency', 'paymentType', 'reference'] as const).filter(differs);
}

/** Whether the claim is ahead: the record does not show that status yet. */
function isAhead({ paymentStatus: claimed }: WebhookClaim, payment: Payment): boolean {
  if (isFinalStatus(claimed)) return !isFinal(payment);
  return claimed === 'AUTHORIZED' && payment.paymentStatus === 'PENDING';
}

const unconfirmed = ({ id }: WebhookClaim, why: string) =>
  new WebhookError(
    'unconfirmed',
    `The callback for payment ${id} does not match the gateway's record: ${why}. It may be forged.`,
    [],
    { paymentId: id },
  );

function lagging(claim: WebhookClaim, payment: Payment): WaitTimeoutError {
  const message = `A callback says that payment ${claim.id} is ${claim.paymentStatus}, and a lookup still says ${payment.paymentStatus}. Take the callback again later.`;
  return new WaitTimeoutError(message, payment, { paymentId: claim.id });
}
