import { type Payment, paymentSchema } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { differencesOf, hasReference, isPaymentOf, mayBePaymentOf } from '../../src/schemas/records/matching.ts';
import { record } from '../support/fixtures.ts';

/** DEPOSIT of 25.50 EUR under `order/1`. */
const payment: Payment = paymentSchema.parse(JSON.parse(record('created, unwrapped')));
const create = { paymentType: 'DEPOSIT', amount: '25.50', currency: 'EUR', reference: 'order/1' } as const;

const OTHER_REFERENCE = { reference: 'order/2' };
it.each<[string, object, object, differences: string[], isOf: boolean, mayBe: boolean]>([
  ['in nothing', {}, {}, [], true, true],
  ['in nothing, with its amount as a number', { amount: 25.5 }, {}, [], true, true],
  ['in nothing, with fewer digits', { amount: '25.5' }, {}, [], true, true],
  ['in nothing, with its currency in lower case', { currency: 'eur' }, { currency: 'eur' }, [], true, true],
  ['in its type', { paymentType: 'WITHDRAWAL' }, {}, ['paymentType'], false, true],
  ['in its amount', { amount: '25.51' }, {}, ['amount'], false, true],
  ['in its unit', { amount: 2550 }, {}, ['amount'], false, true],
  ['in its currency', { currency: 'USD' }, {}, ['currency'], false, true],
  ['in all money', { amount: 1, currency: 'USD' }, {}, ['amount', 'currency'], false, true],
  ['in the case of its reference', { reference: 'Order/1' }, {}, ['reference'], true, true],
  ['in its reference', OTHER_REFERENCE, {}, ['reference'], true, true],
  ['in both', { ...OTHER_REFERENCE, amount: 1 }, {}, ['reference', 'amount'], false, false],
  ...[null, undefined, ''].flatMap((reference): [string, object, object, string[], boolean, boolean][] => [
    ['in nothing, without a reference', { reference }, {}, [], true, true],
    ['in nothing, without a reference of the payment', {}, { reference }, [], true, true],
    ['in its amount, and has no reference', { reference, amount: 1 }, {}, ['amount'], false, false],
    ['in its amount, and neither has one', { reference, amount: 1 }, { reference }, ['amount'], false, false],
  ]),
])('a create and a payment that differ %s', (_, ofCreate, ofPayment, differences, isOf, mayBe) => {
  const [asked, shown] = [
    { ...create, ...ofCreate },
    { ...payment, ...ofPayment },
  ];
  expect(differencesOf(asked, shown)).toEqual(differences);
  expect([isPaymentOf(asked, shown), mayBePaymentOf(asked, shown)]).toEqual([isOf, mayBe]);
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
