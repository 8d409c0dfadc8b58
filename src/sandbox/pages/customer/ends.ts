// The ends of a payment: the buttons of the test controls, their moves, and the texts for the customer.
import { errorMessageOf, isOnramp } from '../../ledger/ledger.ts';
import type { MoveName } from '../../ledger/moves.ts';
import type { FailureReason, PaymentRecord } from '../../ledger/record.ts';
import type { Tone } from '../layout.ts';
import type { IconName } from './icons.ts';

interface Text {
  title: string;
  text: string;
}

interface End extends Partial<Text> {
  /** The text of its button. */
  button: string;
  /** Describes a test number that ends so. */
  does?: string;
  /** Absent if the payment stays open. */
  move?: MoveName;
  reason?: FailureReason;
}

/** The ends by the value of their button. */
export const ENDS = {
  pay: { button: 'Complete at once', does: 'is paid', move: 'complete' },
  authorize: { button: 'Authorise first', does: 'is authorised, to capture later', move: 'authorize' },
  'insufficient-balance': {
    button: 'Decline: insufficient balance',
    does: 'declined: insufficient balance (4004)',
    move: 'fail',
    reason: { code: 4004 },
    title: 'Payment declined',
    text: 'There is not enough money on the account you chose. Nothing was charged.',
  },
  cvv: {
    button: 'Decline: CVV error',
    does: 'declined: CVV error (4001)',
    move: 'fail',
    reason: { code: 4001 },
    title: 'Payment declined',
    text: 'The security code does not match the card. Nothing was charged.',
  },
  canceled: {
    button: 'Decline: canceled by the user',
    does: 'canceled by the user (4018)',
    move: 'fail',
    reason: { code: 4018 },
    title: 'Payment canceled',
    text: 'You canceled this payment. Nothing was charged.',
  },
  'not-funded': {
    button: 'Let it expire',
    does: 'declined: payment not funded',
    move: 'fail',
    reason: { reason: 'Payment not funded' },
    title: 'Payment expired',
    text: 'The money did not arrive in time. Nothing was charged.',
  },
  'no-3ds': {
    button: 'Fail 3-D Secure',
    does: 'declined: 3-D Secure failed',
    move: 'fail',
    reason: { reason: '3-D Secure authentication failed' },
    title: 'Payment declined',
    text: 'Your bank could not confirm that it is you. Nothing was charged.',
  },
  abandon: { button: 'Abandon: leave without paying' },
} as const satisfies Record<string, End>;

export type EndName = keyof typeof ENDS;

export const endOf = (name: string): End | undefined => (Object.hasOwn(ENDS, name) ? ENDS[name as EndName] : undefined);

/** Reasons of other processors are shown next to this text. */
const DECLINED: Text = { title: 'Payment declined', text: 'The payment could not be made. Nothing was charged.' };

const explain = (errorMessage: string | undefined): Text => {
  const end = Object.values<End>(ENDS).find(
    ({ reason }) => reason && errorMessageOf(reason).errorMessage === errorMessage,
  );
  return { ...DECLINED, ...end };
};

interface Outcome extends Text {
  tone: Tone;
  icon: IconName;
}

/** Returns undefined while the customer can still pay. */
export function outcomeOf({ record, shopName }: { record: PaymentRecord; shopName: string }): Outcome | undefined {
  switch (record.paymentStatus) {
    case 'COMPLETED':
      return {
        tone: 'good',
        icon: 'check',
        title: 'Payment complete',
        text: isOnramp(record)
          ? `Thank you. Your ${record.cryptoCurrency} is on its way to the wallet.`
          : `Thank you. ${shopName} has your payment.`,
      };
    case 'AUTHORIZED':
      return {
        tone: 'info',
        icon: 'clock',
        title: 'Payment approved',
        text: `The amount is reserved. ${shopName} takes it when your order is ready.`,
      };
    case 'FAILED':
      return { tone: 'bad', icon: 'cross', ...explain(record.errorMessage) };
    case 'CANCELED':
      return {
        tone: 'plain',
        icon: 'cross',
        title: 'Payment canceled',
        text: 'This payment was canceled. Nothing was charged.',
      };
    default:
      return undefined;
  }
}
