// The reasons of declined payments, and their texts for the customer.
import type { FailureReason } from '../../ledger/record.ts';

/** The reasons by the value of their option. */
export const DECLINES: Readonly<Record<string, { label: string; reason: FailureReason }>> = {
  'insufficient-balance': { label: 'Insufficient balance', reason: { code: 4004 } },
  cvv: { label: 'CVV error', reason: { code: 4001 } },
  canceled: { label: 'Canceled by the user', reason: { code: 4018 } },
  'not-funded': { label: 'Payment not funded', reason: { reason: 'Payment not funded' } },
};

interface Explanation {
  title: string;
  text: string;
}

/** The texts by `errorMessage`. A cancellation by the customer is not a decline. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  'Insufficient balance': {
    title: 'Payment declined',
    text: 'There is not enough money on the account you chose. Nothing was charged.',
  },
  'CVV error': {
    title: 'Payment declined',
    text: 'The security code does not match the card. Nothing was charged.',
  },
  'Canceled by the user': { title: 'Payment canceled', text: 'You canceled this payment. Nothing was charged.' },
  'Payment not funded': {
    title: 'Payment expired',
    text: 'The money did not arrive in time. Nothing was charged.',
  },
};

/** Returns the text for a failed payment. Reasons of other processors are shown next to it unchanged. */
export const explain = (errorMessage: string | undefined): Explanation =>
  EXPLANATIONS[errorMessage ?? ''] ?? {
    title: 'Payment declined',
    text: 'The payment could not be made. Nothing was charged.',
  };
