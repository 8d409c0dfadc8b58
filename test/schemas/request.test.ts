import {
  createPaymentSchema,
  DEPOSIT_METHODS,
  NFT_METHODS,
  nftPurchaseSchema,
  ONRAMP_METHODS,
  WITHDRAWAL_METHODS,
} from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { checkRequest } from '../../src/schemas/requests/checked-request.ts';
import { APPLE_PAY, CARD, webhookUrl } from '../support/fixtures.ts';

const deposit = { paymentType: 'DEPOSIT', ...CARD };
const applePay = { paymentType: 'DEPOSIT', ...APPLE_PAY };
const withdrawal = { ...deposit, paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' };

/** What is wrong with a request, as `path: message`; empty if nothing is. */
function problems(request: unknown, schema: z.ZodType = createPaymentSchema): string[] {
  const { error } = schema.safeParse(request);
  return error ? error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) : [];
}

describe('methods', () => {
  // The tables of the gateway's document, typed off by hand.
  it('are those of the document', () => {
    expect(DEPOSIT_METHODS).toEqual(
      'APPLEPAY, GOOGLEPAY, BLIK, CARD, ONRAMP, PAYID, IDEAL, BANCONTACT, MULTIBANCO, EPS, P24'.split(', '),
    );
    expect(WITHDRAWAL_METHODS).toEqual('PAYID, SEPA, FPS, CARD'.split(', '));
    expect(ONRAMP_METHODS).toEqual(
      'USER_CHOICE, ONRAMP_PAYID, ONRAMP_PIX, ONRAMP_ZAR, ONRAMP_PSE, ONRAMP_KHIPU, ONRAMP_QRTHWALLET, ONRAMP_CARD, ONRAMP_INTERAC, ONRAMP_OPENBANKING, ONRAMP_GBPBANKTRANSFER, ONRAMP_SPEI, ONRAMP_APPLEPAY, ONRAMP_GOOGLEPAY'.split(
        ', ',
      ),
    );
    expect(NFT_METHODS).toEqual('APPLEPAY, GOOGLEPAY, OPENBANKING, CARD'.split(', '));
  });

  const complete = { ...applePay, reference: 'order-1', returnUrl: 'https://shop.example/thanks' };

  it('are accepted for their kind of payment, and on-ramp methods only on their terminal', () => {
    for (const paymentMethod of DEPOSIT_METHODS) expect(problems({ ...complete, paymentMethod })).toEqual([]);
    for (const paymentMethod of WITHDRAWAL_METHODS) expect(problems({ ...withdrawal, paymentMethod })).toEqual([]);
    for (const paymentMethod of NFT_METHODS)
      expect(problems({ ...complete, paymentMethod }, nftPurchaseSchema)).toEqual([]);
    for (const paymentMethod of ONRAMP_METHODS) {
      const request = { ...deposit, paymentMethod };
      expect(checkRequest({ terminal: 'onramp' }, 'deposit', request)).toEqual(request);
      const hint = `${paymentMethod} needs an on-ramp terminal`;
      expect(problems(request)).toEqual([expect.stringContaining(hint)]);
      expect(() => checkRequest({ terminal: 'standard' }, 'deposit', request)).toThrow(hint);
    }
  });

  it.each([
    ...['SEPA', 'OPENBANKING', 'CASH', 7, Object.create(null)].map((paymentMethod): [object, string] => [
      { ...deposit, paymentMethod },
      'paymentMethod: is not a method of this call; accepted here: APPLEPAY, GOOGLEPAY, BLIK, CARD, ONRAMP, ',
    ]),
    ...['BLIK', 'USER_CHOICE', 'CASH'].map((paymentMethod): [object, string] => [
      { ...withdrawal, paymentMethod },
      'paymentMethod: is not a method of this call; accepted here: PAYID, SEPA, FPS, CARD',
    ]),
    [{ ...deposit, paymentMethod: 'card' }, 'paymentMethod: did you mean CARD?'],
    [{ ...deposit, paymentMethod: 'APPLE_PAY' }, 'paymentMethod: did you mean APPLEPAY?'],
    [{ ...deposit, paymentMethod: 'CRAD' }, 'paymentMethod: did you mean CARD?'],
    [{ ...deposit, paymentMethod: undefined }, 'paymentMethod: is missing'],
    [{ ...deposit, paymentType: 'REFUND' }, 'paymentType: must be DEPOSIT or WITHDRAWAL'],
    [null, ': must be an object of request fields'],
    [[], ': must be an object of request fields'],
    ['DEPOSIT', ': must be an object of request fields'],
  ])('refuses %j with a hint', (request, hint) => {
    expect(problems(request)).toEqual([expect.stringContaining(hint)]);
  });

  it('refuses for an NFT what the document does not list', () => {
    expect(problems({ ...deposit, paymentMethod: 'BLIK' }, nftPurchaseSchema)).toEqual([
      expect.stringMatching(/^paymentMethod: .*accepted here: APPLEPAY, GOOGLEPAY, OPENBANKING, CARD$/),
    ]);
  });
});

describe('amount', () => {
  const PLAIN = 'must be a plain decimal, as the string "25.50": with a point, and no comma, sign, exponent or unit';
  const LONG = /has more than 15 significant digits, .*pass a string such as "25.50"$/;
  it.each([
    ...[0.01, 1, 25.5, 1e14, 123456789.01, 1e18, '0.01', '25.50', '25.00', '1000000', '0.00012345'],
    // Of 15 digits, which a double keeps, and a text of 100 characters.
    ...[1234567890.12345, 123456789012345, 0.00123456789012345, 123456789012345e3, `1.${'0'.repeat(98)}`],
  ])('accepts %j', amount => {
    expect(createPaymentSchema.parse({ ...deposit, amount })).toHaveProperty('amount', amount);
  });

  it.each<[string | RegExp, ...unknown[]]>([
    ['must be greater than 0', 0, -0, -1, '0', '0.00', '-5', '-0'],
    [PLAIN, '1e5', '025', '.5', '5.', '+5', ' 5', '5 ', '1,50', '1,250.50', '25.50 EUR', '1_000', '٣', ''],
    [PLAIN, '0x10', 1e21, 1e-7, `1.${'0'.repeat(99)}`],
    // The last ones are noise of a calculation.
    [LONG, 1234567890.123456, 1234567890123456, 0.001234567890123456, 0.1 + 0.2, 1.1 * 3, 19.99 * 100],
    [
      'must be a number, or a plain decimal string such as "25.50"',
      ...[Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, {}, 10n],
    ],
    // A double reads them as 0 and infinite.
    [/./, `0.${'0'.repeat(400)}1`, '9'.repeat(400)],
  ])('is refused because it %s', (message, ...amounts) => {
    for (const amount of amounts)
      expect(problems({ ...deposit, amount })).toEqual([
        typeof message === 'string' ? `amount: ${message}` : expect.stringMatching(message),
      ]);
  });
});

describe('the decimals of a currency', () => {
  const ask = (amount: number | string, currency: string) => () =>
    checkRequest({ terminal: 'standard' }, 'deposit', { ...deposit, amount, currency });

  // ISO 4217. Another currency has any.
  it.each<[currency: string, sent: (number | string)[], refused: (number | string)[], most?: number]>([
    ['JPY', ['705.00'], ['705.50', 705.5], 0],
    ['jpy', ['705.00'], [705.5], 0],
    ['XPF', ['7'], ['7.1'], 0],
    ['EUR', ['1.2300'], ['0.999'], 2],
    ['HUF', ['10.50'], ['10.501'], 2],
    ['KWD', ['1.234'], ['1.2345'], 3],
    ['CLF', ['1.2345'], ['1.23451'], 4],
    ['UYW', ['1.2345'], ['1.23451'], 4],
    ['USDT', ['0.000001'], []],
  ])('%s are not exceeded: %j is sent, and %j is not', (currency, sent, refused, most) => {
    for (const amount of sent) expect(ask(amount, currency)()).toMatchObject({ amount, currency });
    const message = `amount: has too many decimals: ISO 4217 allows ${most} for ${currency.toUpperCase()}`;
    for (const amount of refused) expect(ask(amount, currency)).toThrow(message);
  });
});

it('a request may inherit fields, as from a class with getters, and its own fields count', () => {
  const request = Object.assign(Object.create({ ...CARD, amount: 1, loyalty: 1 }), { amount: '2.50' });
  expect(checkRequest({ terminal: 'standard' }, 'deposit', request)).toEqual({ ...deposit, amount: '2.50' });
});

it.each(['standard', 'onramp'] as const)(
  'OPENBANKING is for NFT purchases alone on a terminal of kind %s',
  terminal => {
    const request = { ...deposit, paymentMethod: 'OPENBANKING' };
    expect(checkRequest({ terminal }, 'nftPurchase', request)).toEqual(request);
    expect(() => checkRequest({ terminal }, 'deposit', request)).toThrow('paymentMethod');
  },
);

const MISSING =
  "webhookUrl: is missing: set webhookUrl or callbackUrl in the request, or webhookUrl in the client's options";
const NO_URL = 'webhookUrl: must be an absolute http(s) URL, as a string';
const RELATIVE = ['', 'shop.example', '/callbacks'];
const BROKEN = ['xhttps://shop.example', 'https://', 'https://a b', 'https://shop.example/a b', 'https:/x'];
it.each<[found: string[], ...addresses: object[]]>([
  [[], { webhookUrl }, { webhookUrl: undefined, callbackUrl: webhookUrl }, { webhookUrl, callbackUrl: null }],
  [[], { webhookUrl: null, callbackUrl: webhookUrl }, { webhookUrl, callbackUrl: 'http://localhost:3000/x?y=1' }],
  [[MISSING], { webhookUrl: undefined }, { webhookUrl: null }, { webhookUrl: null, callbackUrl: null }],
  [[NO_URL], ...[...RELATIVE, ...BROKEN, 'ftp://shop.example', 5].map(url => ({ webhookUrl: url }))],
])('the problems %j are found in the addresses of callbacks %j …', (found, ...addresses) => {
  for (const urls of addresses) expect(problems({ ...deposit, ...urls })).toEqual(found);
});

describe('Apple Pay', () => {
  const COUNTRY = 'billingAddress.countryCode: must be a two-letter country code';
  const ADDRESS = 'billingAddress: must be an object with a countryCode for Apple Pay';
  it.each<[string, object]>([
    ['reference: must be a string for Apple Pay, or null', { reference: 7 }],
    ['reference: must be a string for Apple Pay, or null', { reference: undefined }],
    ['returnUrl: must be an absolute URL, or null', { returnUrl: undefined }],
    ...[{}, { countryCode: null }, { countryCode: 'USA' }, { countryCode: '' }].map(
      (billingAddress): [string, object] => [COUNTRY, { billingAddress }],
    ),
    ...[undefined, null, 'DE', []].map((billingAddress): [string, object] => [ADDRESS, { billingAddress }]),
  ])('%s: %j', (problem, changes) => {
    expect(problems({ ...applePay, ...changes })).toEqual([problem]);
  });
});

describe('other fields', () => {
  it('are refused at the top, with the field that one slip makes of them, or the way to send them', () => {
    const SLIPS = { reference: ['refrence', 'refernece'], webhookUrl: ['webhokUrl', 'webhookURL'] };
    const AMOUNTS = ['Amount', 'ammount', 'amoumt', 'amuont', 'xamount', 'mount', 'amoun'];
    for (const [meant, slips] of Object.entries({ ...SLIPS, amount: AMOUNTS })) {
      for (const slip of slips)
        expect(problems({ ...deposit, [slip]: 'x' })).toEqual([
          expect.stringContaining(`unknown field "${slip}" (did you mean "${meant}"?)`),
        ]);
    }
    for (const name of ['loyalty', 'refxxence', 'amxont', 'amuonx', 'amountss', 'unt', 'ecnerefer', 'rrefrence'])
      expect(problems({ ...deposit, [name]: 'x' })).toEqual([
        `: unknown field "${name}"; to send one this SDK does not know, use the call option \`extra\``,
      ]);
  });

  it.each([
    [{ description: 7 }, 'description: must be a string'],
    [{ customer: { firstName: 7 } }, 'customer.firstName: must be a string'],
    [{ customer: { referenceId: true } }, 'customer.referenceId: must be a string or a number'],
    [{ additionalParameters: [] }, 'additionalParameters: must be a plain object'],
    [{ browser: 'Firefox' }, 'browser: must be a plain object'],
  ])('say what they must be: %o', (changes, problem) => {
    expect(problems({ ...deposit, ...changes })).toEqual([problem]);
  });

  it.each([
    [{ customer: { ipAddress: '203.0.113.7' } }, 'customer.ipAddress: did you mean "ipaddress"?'],
    [{ billingAddress: { countrycode: 'DE' } }, 'billingAddress.countrycode: did you mean "countryCode"?'],
    [{ customer: { first_name: 'Ada' } }, 'customer.first_name: did you mean "firstName"?'],
    [{ billingAddress: { 'postal-code': '1' } }, 'billingAddress.postal-code: did you mean "postalCode"?'],
  ])('inside customer and address are refused in another spelling: %j', (changes, problem) => {
    expect(problems({ ...deposit, ...changes })).toEqual([problem]);
  });

  it('hold a currency code', () => {
    for (const currency of ['EUR', 'eur', 'USDT', 'T0KEN']) expect(problems({ ...deposit, currency })).toEqual([]);
    for (const currency of ['€', 'EU', 'E R', '', null, 'EUR ', ' EUR', '€EUR', 'EUR€', 978])
      expect(problems({ ...deposit, currency })).toEqual(['currency: must be a currency code such as "EUR"']);
  });

  it('hold an absolute returnUrl, which runs no script', () => {
    for (const returnUrl of ['https://shop.example/?javascript:x', 'com.shop-app+x.1://paid', 'MYAPP:paid'])
      expect(problems({ ...deposit, returnUrl })).toEqual([]);
    const SCRIPTS = ['javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x'];
    const RELATIVE = ['', 'shop.example', '/thanks', '//shop.example', 'my app://paid', ' myapp://paid', 'myapp:a b'];
    for (const returnUrl of [...SCRIPTS, ...RELATIVE, 'https://shop.example/a b', '1app://paid', 'https://', 7])
      expect(problems({ ...deposit, returnUrl })).toEqual(['returnUrl: must be an absolute URL, or null']);
  });
});
