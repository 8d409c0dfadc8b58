// What openapi-typescript makes of the description: requests that compile, and requests that do not.
import type { components } from './openapi-types.js';

type Schemas = components['schemas'];

const money = { amount: 25.5, currency: 'EUR' };
const webhookUrl = 'https://shop.example/callbacks';

export const taken: Schemas['PaymentRequest'][] = [
  { paymentType: 'DEPOSIT', paymentMethod: 'CARD', ...money, webhookUrl },
  { paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX', ...money, webhookUrl, browser: { language: 'pt' } },
  { paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', ...money, webhookUrl: null, callbackUrl: webhookUrl },
  {
    paymentType: 'DEPOSIT',
    paymentMethod: 'APPLEPAY',
    ...money,
    callbackUrl: webhookUrl,
    reference: null,
    returnUrl: null,
    billingAddress: { countryCode: 'DE' },
  },
];

// @ts-expect-error without an address
export const bare: Schemas['PaymentRequest'] = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', ...money };
// @ts-expect-error SEPA is a method of withdrawals
export const sepa: Schemas['Deposit'] = { paymentType: 'DEPOSIT', paymentMethod: 'SEPA', ...money, webhookUrl };
// @ts-expect-error Apple Pay demands more
export const apple: Schemas['Deposit'] = { paymentType: 'DEPOSIT', paymentMethod: 'APPLEPAY', ...money, webhookUrl };

export const settled = (payment: Schemas['CompletedPayment']): number | null | undefined =>
  payment.settled_crypto_amount;
