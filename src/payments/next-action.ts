// The merchant's step after a create: send the customer somewhere, show transfer instructions, or wait.
import { isFinal } from '../schemas/records/payment-status.ts';
import type { Envelope } from '../schemas/records/response.ts';
import type { Transfer } from '../schemas/records/transfer.ts';
import { isHttpUrl } from '../schemas/url.ts';

/** The step after a create. */
export type NextAction =
  /** Send the customer to this http(s) address to finish paying. */
  | { type: 'redirect'; redirectUrl: string }
  /** Show the customer where to transfer the money, and with which code (PayID host-to-host). */
  | { type: 'transfer'; transfer: TransferInstructions }
  /** Nothing to do: the callback will report the outcome, or the payment is final already. */
  | { type: 'wait' };

/** Transfer instructions with the PayID address to pay to. */
export interface TransferInstructions extends Transfer {
  number: string;
}

export function nextActionOf({ payment, transfer }: Envelope): NextAction {
  if (isFinal(payment)) return { type: 'wait' };
  if (transfer?.number) return { type: 'transfer', transfer: { ...transfer, number: transfer.number } };
  return isHttpUrl(payment.redirectUrl) ? { type: 'redirect', redirectUrl: payment.redirectUrl } : { type: 'wait' };
}
