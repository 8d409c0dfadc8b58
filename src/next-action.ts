// What the merchant does after a create: send the customer somewhere, show transfer instructions, or wait.
import type { Envelope } from './schemas/envelope.ts';
import { isFinal } from './schemas/payment.ts';
import { isHttpUrl } from './schemas/request.ts';
import type { Transfer } from './schemas/transfer.ts';

export type NextAction =
  /** Send the customer to this http(s) address to finish paying. */
  | { type: 'redirect'; redirectUrl: string }
  /** Show the customer where to transfer the money, and with which code (PayID host-to-host). */
  | { type: 'transfer'; transfer: TransferInstructions }
  /** Nothing to do: the callback will tell the outcome. */
  | { type: 'wait' };

/** Transfer instructions that can be shown: they have the PayID address to pay to. */
export interface TransferInstructions extends Transfer {
  number: string;
}

/**
 * A payment that is already final asks for nothing, and only an http(s) address is one to send a customer to.
 *
 * @param warn hears of a redirect that is not to be followed
 */
export function nextActionOf({ payment, transfer }: Envelope, warn: (message: string) => void): NextAction {
  if (isFinal(payment)) return { type: 'wait' };
  if (transfer?.number) return { type: 'transfer', transfer: { ...transfer, number: transfer.number } };
  if (isHttpUrl(payment.redirectUrl)) return { type: 'redirect', redirectUrl: payment.redirectUrl };
  if (payment.redirectUrl) warn('The redirectUrl is no http(s) address, so no customer is sent there.');
  return { type: 'wait' };
}
