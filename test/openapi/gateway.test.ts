// The OpenAPI description of the gateway says what the schemas say, and what the gateway's document says.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { DEPOSIT_METHODS, ONRAMP_METHODS, paymentSchema, WITHDRAWAL_METHODS } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { describeGateway } from '../../docs/openapi/description.ts';
import { SIGNED } from '../../docs/openapi/examples.ts';
import { WIRE } from '../../docs/openapi/wire.ts';
import { ID, OTHER_ID, RECORDS } from '../support/fixtures.ts';
import { contractOf, readDescription } from './contract.ts';

const file = new URL('../../docs/openapi/gateway.json', import.meta.url);
const description = readDescription('gateway.json');
const { schemas } = description.components;
const contract = contractOf(description);
const isA = (component: string, value: unknown) =>
  contract.problems(`/components/schemas/${component}`, value).length === 0;

describe('the file', () => {
  it('is what the schemas say now', () => {
    // Mend: npm run openapi
    expect(readFileSync(file, 'utf8') === `${JSON.stringify(describeGateway(), null, 2)}\n`).toBe(true);
  });

  it('has every component and field that wire.ts speaks of', () => {
    for (const key of Object.keys(WIRE)) {
      const [component = '', field] = key.split('.');
      expect(schemas).toHaveProperty(field ? [component, 'properties', field] : [component]);
    }
  });

  it('speaks to people who have no TypeScript', () => {
    expect(readFileSync(file, 'utf8')).not.toMatch(/@link|undefined|zod/);
  });
});

describe('requests', () => {
  // schemas/request.test.ts has the document's tables.
  it.each([
    ['Withdrawal', WITHDRAWAL_METHODS],
    ['Deposit', [...DEPOSIT_METHODS, ...ONRAMP_METHODS, 'OPENBANKING']],
  ])('of a %s have each method, with a schema of its own', (component, methods) => {
    const { mapping = {} } = schemas[component]?.discriminator ?? {};
    expect(Object.keys(mapping)).toEqual(methods);
    expect(new Set(Object.values(mapping)).size).toBe(Object.keys(mapping).length);
  });

  it('are signed as in the example', () => {
    // By openssl: printf '%s' "$body" | openssl dgst -sha256 -hmac example-sign-key
    expect(SIGNED.hex).toBe('3acc3da68913b04158148325eb7a19585f634f346a127318da8c3fdd48e8f45f');
    expect(Buffer.from(SIGNED.hex, 'hex').toString('base64')).toBe(SIGNED.base64);
    expect(createHmac('sha256', SIGNED.signKey).update(SIGNED.body).digest('hex')).toBe(SIGNED.hex);
  });
});

describe('records', () => {
  const record = JSON.parse(RECORDS['completed CARD callback'] ?? '');

  it.each([
    // The types that the gateway's document shows.
    [{ created: { date: '2026-11-21 08:46:13.476123', timezone_type: 3, timezone: 'UTC' } }, true],
    [{ created: { timezone_type: 3.5 } }, false],
    [{ created: '2026-11-21 08:46:13' }, false],
    [{ description: null, reference: null, customer: null }, true],
    [{ customer: { firstName: null }, billingAddress: { countryCode: null, state: null } }, true],
    [{ amount: '25.50' }, false],
    [{ cryptoAmount: '23.55658199', settled_crypto_amount: 23.55658199, crypto_fx: 1.0825 }, true],
    [{ cryptoAmount: 23.55658199 }, false],
    [{ settled_crypto_amount: '23.55658199' }, false],
    [{ crypto_fx: '1.0825' }, false],
    [{ fallbackPaymentStatus: 1 }, true],
    [{ fallbackPaymentStatus: 1.5 }, false],
    [{ paymentStatus: 'FAILED' }, true],
    [{ paymentStatus: 'FAILED', errorMessage: 'Payment not funded' }, true],
    [{ paymentMethod: 'USER_CHOICE' }, true],
    // What it does not show, and must stay readable.
    [{ paymentStatus: 'REFUNDED' }, true],
    [{ paymentMethod: 'CASH' }, true],
    [{ further: { field: 1 } }, true],
    [{ customer: [], billingAddress: [] }, true],
    [{ customer: [1] }, false],
    // What decides about money.
    [{ id: 'order-1' }, false],
    [{ paymentStatus: null }, false],
    [{ paymentType: 'REFUND' }, false],
    [{ currency: '' }, false],
    [{ amount: null }, false],
  ])('with %j: %s', (fields, isRecord) => {
    expect(isA('Payment', { ...record, ...fields })).toBe(isRecord);
  });

  it.each(['id', 'paymentStatus', 'paymentType', 'amount', 'currency'])('have %s', field => {
    expect(isA('Payment', { ...record, [field]: undefined })).toBe(false);
  });

  it.each(Object.entries(RECORDS))('take what PHP wrote: %s', (name, text) => {
    const component = name.includes('callback') || name.includes('unwrapped') ? 'Payment' : 'CreatedPayment';
    expect(contract.problems(`/components/schemas/${component}`, JSON.parse(text))).toEqual([]);
  });

  it('are each read by the SDK, whatever of the description they have', () => {
    const text = fc.constantFrom('', 'x', '25.50', null);
    const number = fc.constantFrom(0, 1, 25.5, null);
    const optional = {
      created: fc.constantFrom(null, {}, { date: 'x', timezone_type: 9, timezone: null }),
      description: text,
      paymentMethod: text,
      reference: text,
      customer: fc.constantFrom(null, {}, [], { firstName: null, referenceId: 5, more: [1] }),
      billingAddress: fc.constantFrom(null, {}, [], { countryCode: 'PL' }),
      redirectUrl: text,
      cryptoAmount: text,
      cryptoCurrency: text,
      crypto_fx: number,
      fallbackPaymentStatus: fc.constantFrom(0, 1, null),
      settled_crypto_amount: number,
      crypto_tx_hash: text,
      destination_wallet: text,
      errorMessage: text,
    };
    // Every field of the description is tried.
    const all = ['PaymentFields', 'FailedPayment'].flatMap(name => Object.keys(schemas[name]?.properties ?? {}));
    const decisive = {
      id: fc.constantFrom(ID, OTHER_ID.toUpperCase()),
      paymentStatus: fc.constantFrom('PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'CANCELED', 'REFUNDED'),
      paymentType: fc.constantFrom('DEPOSIT', 'WITHDRAWAL'),
      amount: fc.constantFrom(0, 25.5, 1e18),
      currency: fc.constantFrom('EUR', 'x'),
    };
    expect(Object.keys({ ...decisive, ...optional }).sort()).toEqual([...new Set(all)].sort());
    const records = fc.record(
      { ...decisive, ...optional },
      { requiredKeys: ['id', 'paymentStatus', 'paymentType', 'amount', 'currency'] },
    );
    fc.assert(
      fc.property(records, given => {
        expect(contract.problems('/components/schemas/Payment', given)).toEqual([]);
        const read = paymentSchema.parse(given);
        const { id, amount, currency, paymentType } = given;
        expect(read).toMatchObject({ id, amount, currency, paymentType });
      }),
    );
  });
});
