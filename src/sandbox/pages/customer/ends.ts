// The ends of a payment: the buttons of the test controls, their moves, and the texts for the customer.
import { isOnramp } from '../../ledger/ledger.ts';
import type { MoveName } from '../../ledger/moves.ts';
import type { FailureReason, PaymentRecord } from '../../ledger/record.ts';
import type { Tone } from '../layout.ts';

interface End {
  /** The text of its button. */
  button: string;
  /** Describes a test number that ends so. */
  does?: string;
  /** Absent if the payment stays open. */
  move?: MoveName;
  reason?: FailureReason;
}

const declined = (why: string, reason: FailureReason, button = `Decline: ${why}`) =>
  ({ button, does: `declined: ${why}${reason.code ? ` (${reason.code})` : ''}`, move: 'fail', reason }) as const;

/** The ends by the value of their button. */
export const ENDS = {
  pay: { button: 'Complete at once', does: 'is paid', move: 'complete' },
  authorize: { button: 'Authorise first', does: 'is authorised, to capture later', move: 'authorize' },
  'insufficient-balance': declined('insufficient balance', { code: 4004 }),
  cvv: declined('CVV error', { code: 4001 }),
  canceled: declined('canceled by the user', { code: 4018 }),
  'not-funded': declined('payment not funded', { reason: 'Payment not funded' }, 'Let it expire'),
  'no-3ds': declined('3-D Secure failed', { reason: '3-D Secure authentication failed' }, 'Fail 3-D Secure'),
  'no-identity': declined('identity check failed', { reason: 'Identity check failed' }, 'Fail the identity check'),
  abandon: { button: 'Abandon: leave without paying' },
} as const satisfies Record<string, End>;

export type EndName = keyof typeof ENDS;

export const endOf = (name: string): End | undefined => (Object.hasOwn(ENDS, name) ? ENDS[name as EndName] : undefined);

interface Outcome {
  tone: Tone;
  /** The letter of its seal. */
  mark: string;
  title: string;
  text: string;
}

/** Returns undefined while the customer can still pay. */
export function outcomeOf({ record, shopName }: { record: PaymentRecord; shopName: string }): Outcome | undefined {
  const thanks = isOnramp(record)
    ? `Your ${record.cryptoCurrency} is on its way to the wallet.`
    : `${shopName} has your payment.`;
  const reserved = `The amount is reserved. ${shopName} takes it when your order is ready.`;
  const outcomes: Partial<Record<string, Outcome>> = {
    COMPLETED: { tone: 'good', mark: '✓', title: 'Payment complete', text: `Thank you. ${thanks}` },
    AUTHORIZED: { tone: 'info', mark: '…', title: 'Payment approved', text: reserved },
    FAILED: { tone: 'bad', mark: '✕', title: 'Payment declined', text: 'Nothing was charged.' },
    CANCELED: { tone: 'plain', mark: '✕', title: 'Payment canceled', text: 'Nothing was charged.' },
  };
  return outcomes[record.paymentStatus];
}
