// What the merchant does after a create: send the customer somewhere, show transfer instructions, or wait.
import { isFinal } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';
import type { Transfer } from '../schemas/transfer.ts';
import { isHttpUrl } from '../schemas/url.ts';

/** What to do after a create. */
export type NextAction =
  /** Send the customer to this http(s) address to finish paying. */
  | { type: 'redirect'; redirectUrl: string }
  /** Show the customer where to transfer the money, and with which code (PayID host-to-host). */
  | { type: 'transfer'; transfer: TransferInstructions }
  /** Nothing to do: the callback will report the outcome, or the payment is final already. */
  | { type: 'wait' };

/** Transfer instructions that can be shown: they have the PayID address to pay to. */
export interface TransferInstructions extends Transfer {
  number: string;
}

/**
 * A payment that is already final needs nothing, and a customer is sent to an http(s) address only.
 *
 * @param warn gets a message if there is a redirect address that cannot be used
 */
export function nextActionOf({ payment, transfer }: Envelope, warn: (message: string) => void): NextAction {
  if (isFinal(payment)) return { type: 'wait' };
  if (transfer?.number) return { type: 'transfer', transfer: { ...transfer, number: transfer.number } };
  if (isHttpUrl(payment.redirectUrl)) return { type: 'redirect', redirectUrl: payment.redirectUrl };
  if (payment.redirectUrl)
    warn('The redirectUrl is not an http(s) address: do not send the customer there. nextAction is `wait`.');
  return { type: 'wait' };
}
