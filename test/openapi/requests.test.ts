// A request that the description takes is one that the SDK and its sandbox take, and the other way round.
import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { nftPurchaseSchema } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it } from 'vitest';
import { SCHEMAS } from '../../src/schemas/requests/schema.ts';
import { webhookUrl } from '../support/fixtures.ts';
import { contractOf, readDescription } from './contract.ts';

const { problems } = contractOf(readDescription('gateway.json'));
const sandbox = new Sandbox({ terminal: 'onramp' });
afterEach(() => sandbox.reset());

/** Who takes a request: the description, the SDK, the sandbox. */
async function takers(request: unknown): Promise<{ description: boolean; sdk: boolean; sandbox: boolean }> {
  const body = JSON.stringify(request);
  const signature = createHmac('sha256', 'sandbox-sign-key').update(body).digest('hex');
  const { status } = await sandbox.fetch('http://sandbox.localhost/api/v1/payments', {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox-api-key', signature, 'content-type': 'application/json' },
    body,
  });
  expect([201, 422]).toContain(status);
  const sent = JSON.parse(body);
  return {
    description: problems('/components/schemas/PaymentRequest', sent).length === 0,
    sdk: [SCHEMAS.onramp.payment, nftPurchaseSchema].some(schema => schema.safeParse(sent).success),
    sandbox: status === 201,
  };
}

const ALL = { description: true, sdk: true, sandbox: true };
const NONE = { description: false, sdk: false, sandbox: false };

/** Fails if not all agree. */
async function agree(request: unknown): Promise<boolean> {
  const taken = await takers(request);
  expect(taken, JSON.stringify(request)).toEqual(taken.description ? ALL : NONE);
  return taken.description;
}

const CARD = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl };
const APPLE_PAY = {
  ...CARD,
  paymentMethod: 'APPLEPAY',
  reference: null,
  returnUrl: null,
  billingAddress: { countryCode: 'US' },
};
const PAYOUT = { ...CARD, paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', webhookUrl: null, callbackUrl: webhookUrl };
const REQUESTS = [
  CARD,
  APPLE_PAY,
  PAYOUT,
  { ...CARD, paymentMethod: 'ONRAMP_PIX' },
  { ...CARD, paymentMethod: 'OPENBANKING' },
];

/** What a field may be given, rightly or wrongly. */
const VALUES: unknown[] = [
  ...[undefined, null, true, '', 'x', [], {}, -1, 0, 0.01, 5, 1e18],
  ...[
    'EUR',
    'usd',
    'EU',
    'E R',
    'DEPOSIT',
    'WITHDRAWAL',
    'CARD',
    'SEPA',
    'PAYID',
    'USER_CHOICE',
    'OPENBANKING',
    'CASH',
  ],
  ...[
    'https://shop.example/x?a=1#b',
    'HTTP://SHOP.EXAMPLE',
    'ftp://shop.example',
    'https:',
    'https://a b',
    'shop.example',
  ],
  ...['myapp://thanks', 'mailto:zoe@customer.example', '//shop.example', '1app:x'],
  ...[{ countryCode: 'DE' }, { countryCode: 'D1' }, { countryCode: null }, { city: 5 }, { state: null, x: { y: 1 } }],
  ...[{ firstName: 'Zoë', x: 1 }, { firstName: 5 }, { lastName: null }, { referenceId: 5 }, { referenceId: true }],
];

const FIELDS = [
  ...['paymentType', 'paymentMethod', 'amount', 'currency', 'externalApiId', 'customer', 'billingAddress'],
  ...['additionalParameters', 'description', 'reference', 'webhookUrl', 'callbackUrl', 'returnUrl', 'browser'],
];

describe('a request', () => {
  it.each(REQUESTS)('is taken: $paymentType $paymentMethod', async request => {
    expect(await takers(request)).toEqual(ALL);
  });

  it.each(FIELDS)('with any %s is taken by all, or refused by all', async field => {
    const taken = await Promise.all(
      [CARD, APPLE_PAY, PAYOUT].flatMap(request => VALUES.map(value => agree({ ...request, [field]: value }))),
    );
    expect(new Set(taken)).toEqual(new Set([true, false]));
  });

  it('with any fields at once is taken by all, or refused by all', async () => {
    const fields = Object.fromEntries(FIELDS.map(field => [field, fc.constantFrom(...VALUES)]));
    const changes = fc.record(fields, { requiredKeys: [] });
    const some = fc.subarray(FIELDS, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...REQUESTS), changes, some, async (request, changed, names) => {
        await agree({ ...request, ...Object.fromEntries(names.map(name => [name, changed[name]])) });
      }),
    );
  });

  it.each([[null], [true], [5], ['DEPOSIT'], [[]], [[CARD]], [{}]])('%j is none', async request => {
    expect(await takers(request)).toEqual(NONE);
  });

  it.each([{}, { webhookUrl: null }, { webhookUrl: null, callbackUrl: null }])(
    'with no address but %j is refused',
    async addresses => {
      expect(await takers({ ...CARD, webhookUrl: undefined, ...addresses })).toEqual(NONE);
    },
  );

  it.each(['reference', 'returnUrl', 'billingAddress'])('by Apple Pay without %s is refused', async field => {
    expect(await takers({ ...APPLE_PAY, [field]: undefined })).toEqual(NONE);
  });
});

describe('the SDK is stricter than the description, and says so', () => {
  it.each([
    ['a field that the document does not name', { loyalty: 5 }, { sandbox: true }],
    ['a rounding error of floating-point numbers', { amount: 0.1 + 0.2 }, { sandbox: true }],
    ['a number that is written with an exponent', { amount: 1e21 }, { sandbox: true }],
    ['a name in other capitals', { customer: { firstname: 'Zoë' } }, { sandbox: false }],
    ['a URL that no URL parser reads', { webhookUrl: 'https://[' }, { sandbox: false }],
    ['a URL that runs as a script', { returnUrl: 'javascript:alert(1)' }, { sandbox: false }],
  ])('about %s', async (_, fields, others) => {
    expect(await takers({ ...CARD, ...fields })).toEqual({ description: true, sdk: false, ...others });
  });

  it('takes an amount as text, which it writes as a number', async () => {
    const request = { ...CARD, amount: '25.50' };
    expect(await takers(request)).toEqual({ description: false, sdk: true, sandbox: false });
  });
});
