// The ends of a payment: the buttons of the test controls, their moves, and the texts for the customer.
import { isOnramp } from '../../ledger/ledger.ts';
import type { MoveName } from '../../ledger/moves.ts';
import type { FailureReason, PaymentRecord } from '../../ledger/record.ts';
import type { Tone } from '../layout.ts';

interface End {
  button: string;
  /** Absent if the payment stays open. */
  move?: MoveName;
  reason?: FailureReason;
}

const failed = (button: string, reason: FailureReason): End => ({ button, move: 'fail', reason });

/** The ends by the value of their button. */
export const ENDS: ReadonlyMap<string, End> = new Map([
  ['pay', { button: 'Complete at once', move: 'complete' }],
  ['authorize', { button: 'Authorise first', move: 'authorize' }],
  ['insufficient-balance', failed('Decline: insufficient balance', { code: 4004 })],
  ['cvv', failed('Decline: CVV error', { code: 4001 })],
  ['canceled', failed('Decline: canceled by the user', { code: 4018 })],
  ['not-funded', failed('Let it expire', { reason: 'Payment not funded' })],
  ['no-3ds', failed('Fail 3-D Secure', { reason: '3-D Secure authentication failed' })],
  ['no-identity', failed('Fail the identity check', { reason: 'Identity check failed' })],
  ['abandon', { button: 'Abandon: leave without paying' }],
]);

export interface Outcome {
  tone: Tone;
  title: string;
  text: string;
}

/** Returns undefined while the customer can still pay. */
export function outcomeOf(record: PaymentRecord, shopName: string): Outcome | undefined {
  const thanks = isOnramp(record)
    ? `Your ${record.cryptoCurrency} is on its way to the wallet.`
    : `${shopName} has your payment.`;
  const reserved = `The amount is reserved. ${shopName} takes it when your order is ready.`;
  const outcomes: Partial<Record<string, Outcome>> = {
    COMPLETED: { tone: 'good', title: 'Payment complete', text: `Thank you. ${thanks}` },
    AUTHORIZED: { tone: 'info', title: 'Payment approved', text: reserved },
    FAILED: { tone: 'bad', title: 'Payment declined', text: 'Nothing was charged.' },
    CANCELED: { tone: 'plain', title: 'Payment canceled', text: 'Nothing was charged.' },
  };
  return outcomes[record.paymentStatus];
}
