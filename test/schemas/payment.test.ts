import { fundsNotDelivered, isFinal, isPaid, type Payment, paymentSchema } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { ID, record } from '../support/fixtures.ts';

const pending = JSON.parse(record('created, unwrapped'));
const parse = (changes: object): Payment => paymentSchema.parse({ ...pending, ...changes });
const isReadable = (changes: object): boolean => paymentSchema.safeParse({ ...pending, ...changes }).success;

it('a payment record is read from what PHP writes, escapes and all', () => {
  expect(parse({})).toMatchObject({
    ...{ id: ID, paymentStatus: 'PENDING', paymentType: 'DEPOSIT', paymentMethod: 'CARD' },
    ...{ description: 'Zamówienie 5/8 😀', reference: 'order/1', amount: 25.5, currency: 'EUR' },
    created: { date: '2026-11-21 08:46:13.476123', timezone_type: 3, timezone: 'Europe/Warsaw' },
    customer: { firstName: 'Zoë', email: 'zoe@customer.example', dateOfBirth: null },
  });
});

describe('what decides money', () => {
  it.each(['id', 'paymentStatus', 'paymentType', 'amount', 'currency'])('makes it unreadable without %s', field => {
    expect(isReadable({ [field]: undefined })).toBe(false);
    expect(isReadable({ [field]: null })).toBe(false);
  });

  it.each([
    { id: 'order-1' },
    { id: 7 },
    { paymentStatus: 3 },
    { paymentType: 'REFUND' },
    { amount: '25,50' },
    { amount: '1,000.00' },
    { amount: '1e3' },
    { amount: '' },
    { amount: [] },
    { currency: 978 },
    { currency: '' },
  ])('makes it unreadable as %j', changes => {
    const { error } = paymentSchema.safeParse({ ...pending, ...changes });
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(Object.keys(changes));
  });

  it.each([
    ['25.50', 25.5],
    ['0', 0],
    ['1000', 1000],
  ])('reads an amount that a framework has written as text: %j', (amount, expected) => {
    expect(parse({ amount }).amount).toBe(expected);
  });
});

describe('everything else', () => {
  it('turns a number into text where text belongs, and reads any other value as absent', () => {
    const customer = { firstName: 7, lastName: true, email: { a: [1] }, phone: null };
    expect(parse({ reference: 42, customer, description: [1, 'a'] })).toMatchObject({
      reference: '42',
      customer: { firstName: '7', lastName: undefined, email: undefined, phone: null },
      description: undefined,
    });
    expect(parse({ customer: [], billingAddress: ['DE'] })).toMatchObject({ customer: {}, billingAddress: null });
  });

  it('reads a reference that came as a number, unless its digits are lost: it could be that of another order', () => {
    expect(parse({ reference: Number.MAX_SAFE_INTEGER })).toHaveProperty('reference', '9007199254740991');
    expect(parse({ reference: -12.5 })).toHaveProperty('reference', '-12.5');
    const lost = parse(JSON.parse('{"reference":1234567890123456789,"redirectUrl":1234567890123456789}'));
    expect([lost.reference, lost.redirectUrl]).toEqual([undefined, undefined]);
    for (const digits of ['-1234567890123456789', '1e400']) {
      expect(parse(JSON.parse(`{"reference":${digits}}`)).reference).toBeUndefined();
    }
  });

  it.each(['redirectUrl', 'cryptoAmount', 'crypto_tx_hash', 'destination_wallet'])(
    'reads %s as absent if it is no text',
    name => {
      for (const value of [false, [], {}, { a: 1 }]) {
        const failed = parse({ paymentStatus: 'FAILED', [name]: value });
        expect((failed as unknown as Record<string, unknown>)[name]).toBeUndefined();
        expect(fundsNotDelivered(failed)).toBe(true);
      }
    },
  );

  it('turns numeric text into a number where a number belongs, and drops what is none', () => {
    expect(parse({ crypto_fx: '1.0825' })).toHaveProperty('crypto_fx', 1.0825);
    for (const crypto_fx of ['dear', '', ' ', true, [], [5], {}, 'Infinity']) {
      expect(parse({ crypto_fx })).toHaveProperty('crypto_fx', undefined);
    }
  });

  it('reads the settlement also of a status that the SDK does not know', () => {
    const payment = parse({ paymentStatus: 'REFUNDED', crypto_tx_hash: false, settled_crypto_amount: '7.5' });
    expect(payment).toHaveProperty('crypto_tx_hash', undefined);
    expect(payment).toHaveProperty('settled_crypto_amount', 7.5);
  });
});

describe('states', () => {
  it.each([
    ['PENDING', false, false],
    ['AUTHORIZED', false, false],
    ['COMPLETED', true, true],
    ['FAILED', true, false],
    ['CANCELED', true, false],
    ['REFUNDED', false, false],
  ])('%s: final %s, paid %s', (paymentStatus, final, paid) => {
    const payment = parse({ paymentStatus });
    expect([isFinal(payment), isPaid(payment)]).toEqual([final, paid]);
  });

  it.each(['REFUNDED', 'completed', 'UNKNOWN', '', 'toString'])(
    'that are unknown are kept as written: "%s"',
    status => {
      expect(parse({ paymentStatus: status })).toMatchObject({
        paymentStatus: 'UNKNOWN',
        rawPaymentStatus: status,
      });
    },
  );

  it.each([
    [{ paymentStatus: 'FAILED' }, true],
    [{ paymentStatus: 'FAILED', crypto_tx_hash: null }, true],
    [{ paymentStatus: 'FAILED', crypto_tx_hash: '' }, true],
    [{ paymentStatus: 'FAILED', errorMessage: 'Payment not funded' }, true],
    [{ paymentStatus: 'FAILED', crypto_tx_hash: '0x9f2c' }, false],
    [{ paymentStatus: 'CANCELED' }, false],
    [{ paymentStatus: 'PENDING' }, false],
  ])('%j says that funds were not delivered: %s', (changes, expected) => {
    expect(fundsNotDelivered(parse(changes))).toBe(expected);
  });
});
