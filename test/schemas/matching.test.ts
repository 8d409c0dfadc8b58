import { type Payment, paymentSchema } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { differencesOf, hasReference, isPaymentOf, mayBePaymentOf } from '../../src/schemas/matching.ts';
import { record } from '../support/fixtures.ts';

/** DEPOSIT of 25.50 EUR under `order/1`. */
const payment: Payment = paymentSchema.parse(JSON.parse(record('created, unwrapped')));
const create = { paymentType: 'DEPOSIT', amount: '25.50', currency: 'EUR', reference: 'order/1' } as const;

describe('the payment of a create', () => {
  it('differs in nothing, however its amount and its currency are written', () => {
    for (const same of [{}, { amount: 25.5 }, { amount: '25.5' }, { currency: 'eur' }]) {
      expect(differencesOf({ ...create, ...same }, payment)).toEqual([]);
      expect(isPaymentOf({ ...create, ...same }, payment)).toBe(true);
    }
    expect(differencesOf(create, { ...payment, currency: 'eur' })).toEqual([]);
  });

  it.each([
    [{ paymentType: 'WITHDRAWAL' }, ['paymentType']],
    [{ amount: '25.51' }, ['amount']],
    [{ amount: 2550 }, ['amount']],
    [{ currency: 'USD' }, ['currency']],
    [{ paymentType: 'WITHDRAWAL', amount: 1, currency: 'USD' }, ['paymentType', 'amount', 'currency']],
  ] as const)('differs from %j', (other, fields) => {
    expect(differencesOf({ ...create, ...other }, payment)).toEqual(fields);
    expect(isPaymentOf({ ...create, ...other }, payment)).toBe(false);
  });

  it('differs in its reference unless it is the same to the letter', () => {
    expect(differencesOf({ ...create, reference: 'Order/1' }, payment)).toEqual(['reference']);
    expect(differencesOf({ ...create, reference: 'order/2', amount: 1 }, payment)).toEqual(['reference', 'amount']);
  });

  it.each([null, undefined, ''])('does not differ in a reference that either of them lacks: %j', reference => {
    expect(differencesOf(create, { ...payment, reference })).toEqual([]);
    expect(differencesOf({ ...create, reference }, payment)).toEqual([]);
  });
});

describe('a payment that may be the one', () => {
  it('is of the same money, under any reference', () => {
    expect(mayBePaymentOf({ ...create, reference: 'order/2' }, payment)).toBe(true);
    expect(mayBePaymentOf({ ...create, reference: undefined }, payment)).toBe(true);
  });

  it('is under the same reference, of any money', () => {
    expect(mayBePaymentOf({ ...create, amount: '80.00' }, payment)).toBe(true);
  });

  it('is none of other money that has no reference, or another one', () => {
    expect(mayBePaymentOf({ ...create, amount: '80.00', reference: 'order/2' }, payment)).toBe(false);
    for (const none of [null, undefined, '']) {
      expect(mayBePaymentOf({ ...create, amount: '80.00', reference: none }, { ...payment, reference: none })).toBe(
        false,
      );
      expect(mayBePaymentOf({ ...create, amount: '80.00', reference: none }, payment)).toBe(false);
    }
  });
});

describe('a reference', () => {
  it.each([
    ['order/1', 'ORDER/1'],
    ['order/1', '  order/1\t\n'],
    // Lower case alone keeps them apart: ſ is an s to upper case, ς and σ are both Σ.
    ['paß', 'PASS'],
    ['ſale', 'sale'],
    ['λόγος', 'ΛΌΓΟΣ'],
    // And upper case alone these: an İ in lower case is an i with a dot of its own above it.
    ['İstanbul', 'i\u0307stanbul'],
    ['cafe\u0301', 'caf\u00e9'],
  ])('%j may come back as %j', (sent, shown) => {
    expect(hasReference({ ...payment, reference: shown }, sent)).toBe(true);
    expect(hasReference({ ...payment, reference: sent }, shown)).toBe(true);
  });

  it.each([
    ['order/1', 'order/2'],
    ['order 1', 'order1'],
    ['a b', 'ab'],
    ['order/1', null],
    ['', null],
    ['', ''],
  ])('%j never comes back as %j', (sent, shown) => {
    expect(hasReference({ ...payment, reference: shown }, sent)).toBe(false);
  });
});
