// The examples of the description: requests in the document's shapes, and answers and callbacks as PHP wrote them.
import { readFileSync } from 'node:fs';

interface Example {
  summary: string;
  value: unknown;
}

/** A create and its signature, from `openssl dgst -sha256 -hmac example-sign-key`. */
export const SIGNED = {
  body: '{"paymentType":"WITHDRAWAL","paymentMethod":"SEPA","amount":120.00,"currency":"EUR","webhookUrl":"https://shop.example/callbacks"}',
  signKey: 'example-sign-key',
  hex: '3acc3da68913b04158148325eb7a19585f634f346a127318da8c3fdd48e8f45f',
  base64: 'Osw9pokTsEFYFIMl63oZWF9jTzRqEnMY2ow/3Ujo9F8=',
};

const webhookUrl = 'https://shop.example/callbacks';

export const REQUEST_EXAMPLES: Record<string, Example> = {
  cardDeposit: {
    summary: 'A card deposit',
    value: {
      paymentType: 'DEPOSIT',
      paymentMethod: 'CARD',
      amount: 25.5,
      currency: 'EUR',
      reference: 'order-1042.1',
      description: 'Order 1042',
      customer: { firstName: 'Zoë', lastName: 'Łoś', email: 'zoe@customer.example' },
      webhookUrl,
      returnUrl: 'https://shop.example/thanks',
    },
  },
  applePayDeposit: {
    summary: 'An Apple Pay deposit with what the gateway demands of it, and no more',
    value: {
      paymentType: 'DEPOSIT',
      paymentMethod: 'APPLEPAY',
      amount: 12.99,
      currency: 'USD',
      reference: null,
      returnUrl: null,
      billingAddress: { countryCode: 'US' },
      callbackUrl: webhookUrl,
    },
  },
  payIdDeposit: {
    summary: 'A PayID deposit',
    value: { paymentType: 'DEPOSIT', paymentMethod: 'PAYID', amount: 80, currency: 'AUD', webhookUrl },
  },
  onrampDeposit: {
    summary: 'A deposit on an on-ramp terminal: the customer chooses the method in the hosted widget',
    value: { paymentType: 'DEPOSIT', paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL', webhookUrl },
  },
  nftPurchase: {
    summary: 'An NFT purchase',
    value: { paymentType: 'DEPOSIT', paymentMethod: 'OPENBANKING', amount: 40, currency: 'GBP', webhookUrl },
  },
  withdrawal: { summary: 'A SEPA withdrawal', value: JSON.parse(SIGNED.body) },
};

const records: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../test/fixtures/php-records.json', import.meta.url), 'utf8'),
);

/** @param names of the records, each by the name of the example */
const written = (names: Record<string, string>): Record<string, Example> =>
  Object.fromEntries(
    Object.entries(names).map(([name, record]) => [
      name,
      { summary: record.charAt(0).toUpperCase() + record.slice(1), value: JSON.parse(records[record] ?? '') },
    ]),
  );

export const CREATE_EXAMPLES = written({
  cardDeposit: 'created card deposit',
  onrampDeposit: 'created on-ramp deposit',
  payIdDeposit: 'created PayID deposit',
  withdrawal: 'created withdrawal',
  unwrapped: 'created, unwrapped',
});

export const LOOKUP_EXAMPLES = written({
  completed: 'completed lookup',
  failed: 'failed lookup',
  failedWithoutReason: 'failed lookup without a reason',
  emptyMaps: 'empty maps',
});

export const CALLBACK_EXAMPLES = written({
  cardCompleted: 'completed CARD callback',
  googlePayCompleted: 'completed GOOGLEPAY callback',
});
