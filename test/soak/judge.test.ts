import { describe, expect, it } from 'vitest';
import { type Facts, growths, judge } from './judge.ts';
import type { Effect } from './shop.ts';

const ID = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';
const OTHER_ID = '11111111-2222-4333-8444-555555555555';
const OUT_ID = '33333333-2222-4333-8444-555555555555';

const deposit = { id: ID, reference: 'Order-1.1', paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT', amount: 25.5 };
const other = { ...deposit, id: OTHER_ID, reference: 'Order-1.2' };
const withdrawal = { ...deposit, id: OUT_ID, reference: 'Payout-1 ', paymentType: 'WITHDRAWAL' };
const paid: Effect = { what: 'paid', owner: 'Order-1', payment_id: ID, amount: '25.5' };
const reversed: Effect = { ...paid, what: 'reversed' };
const paidOut: Effect = { what: 'paid_out', owner: 'Payout-1 ', payment_id: OUT_ID, amount: '25.5' };
const order = { id: 'Order-1', way: 'alone', amount: '25.50', state: 'paid' } as const;
const held = { status: 'COMPLETED', reason: 'already_paid', order: 'Order-1', paymentId: OTHER_ID };

/** An order and a payout without a problem. */
const GOOD: Facts = {
  orders: [order],
  payouts: [{ id: 'Payout-1 ', amount: '25.50' }],
  effects: [paid, paidOut],
  reviews: [],
  creates: [{ reference: 'Order-1.1', state: 'created' }],
  payments: [deposit, withdrawal],
};
const judged = (facts: Partial<Facts>) => judge({ ...GOOD, ...facts });
const OF = `payment ${ID} of Order-1.1`;
const OF_OUT = `payment ${OUT_ID} of Payout-1 `;

describe('the judge of a soak', () => {
  it.each<[string, Partial<Facts>]>([
    ['a good run', {}],
    ['a second payment in review', { payments: [deposit, withdrawal, other], reviews: [held] }],
    [
      'a chargeback and a second payment',
      {
        payments: [{ ...deposit, paymentStatus: 'FAILED' }, other, withdrawal],
        effects: [paid, reversed, { ...paid, payment_id: OTHER_ID }, paidOut],
      },
    ],
  ])('accepts %s', (_, facts) => {
    expect(judged(facts)).toEqual([]);
  });

  it.each<[string, Partial<Facts>, string[]]>([
    [
      'two payments of one reference',
      { payments: [deposit, { ...other, reference: 'order-1.1 ' }, withdrawal], reviews: [held] },
      ['doubled: order-1.1 has 2 payments'],
    ],
    [
      'an order that was paid twice',
      { payments: [deposit, other, withdrawal], effects: [paid, { ...paid, payment_id: OTHER_ID }, paidOut] },
      ['doubled: order Order-1 (alone) was paid more than once'],
    ],
    [
      'an order without a payment',
      { orders: [{ ...order, state: 'open' }], payments: [withdrawal], effects: [paidOut] },
      ['lost: order Order-1 (alone) is not paid'],
    ],
    [
      'an order with the wrong state',
      { orders: [{ ...order, state: 'canceled' }] },
      ['mistaken: order Order-1 is canceled, with 1 credits'],
    ],
    [
      'a payment that the shop rolled back',
      {
        payments: [deposit, withdrawal, { ...withdrawal, id: OTHER_ID, reference: 'Payout-2' }],
        effects: [paid, paidOut],
        reviews: [held],
      },
      [`unwanted: payment ${OTHER_ID} of Payout-2 has no order and no payout`],
    ],
    ['an effect that ran twice', { effects: [paid, paidOut, paidOut] }, [`doubled: ${OF_OUT} had paid_out, paid_out`]],
    [
      'a completed payment without a credit',
      { payments: [deposit, other, withdrawal] },
      [`lost: payment ${OTHER_ID} of Order-1.2 is neither credited nor in review`],
    ],
    [
      'a credited payment in review',
      { reviews: [{ ...held, paymentId: ID }] },
      [`mistaken: ${OF} is credited, and in review`],
    ],
    [
      'a lost chargeback',
      { payments: [{ ...deposit, paymentStatus: 'FAILED' }, withdrawal] },
      [`lost: ${OF} is FAILED, and still credited`],
    ],
    [
      'a failed payout that the shop did not hear of',
      { payments: [deposit, { ...withdrawal, paymentStatus: 'CANCELED' }], effects: [paid] },
      [`lost: ${OF_OUT} failed, and the shop heard of it 0 times`],
    ],
    [
      'a credit of another amount than the record',
      { effects: [{ ...paid, amount: '255' }, paidOut] },
      [`mistaken: an effect of ${OF} has a wrong amount`],
    ],
    [
      'a credit of another amount than the price',
      { payments: [{ ...deposit, amount: 26 }, withdrawal], effects: [{ ...paid, amount: '26' }, paidOut] },
      [`mistaken: an effect of ${OF} has a wrong amount`],
    ],
    [
      'an effect of an unknown payment',
      { effects: [paid, paidOut, { ...paidOut, payment_id: OTHER_ID, owner: 'Payout-9' }] },
      [`mistaken: payment ${OTHER_ID} does not exist`],
    ],
    [
      'a payment that is not final',
      { payments: [deposit, { ...withdrawal, paymentStatus: 'PENDING' }], effects: [paid] },
      [`open: ${OF_OUT} is PENDING`],
    ],
    ['a payout without a payment', { payments: [deposit], effects: [paid] }, ['lost: payout Payout-1  has no payment']],
    ['a doubt', { creates: [{ reference: 'Order-1.1', state: 'begun' }] }, ['in doubt: Order-1.1']],
    ['a plan', { creates: [{ reference: 'Payout-1', state: 'planned' }] }, ['not sent: Payout-1 is still planned']],
    [
      'an uncertain effect',
      { reviews: [{ status: 'FAILED', reason: 'effect_uncertain', paymentId: ID }] },
      [`uncertain: an effect of payment ${ID} was cut off`],
    ],
  ])('names %s', (_, facts, problems) => {
    expect(judged(facts)).toEqual(problems);
  });
});

it.each<[string, (minute: number) => number, string[]]>([
  ['are flat if peaks come and go', minute => (minute > 10 && minute % 2 ? 60 : 20), []],
  ['have grown if they keep growing', minute => 20 + minute / 2, ['grown: heap from 22.5 to 25.0']],
])('the resources of a process %s', (_, heapAt, grown) => {
  const at = (minute: number) => ({ at: minute * 60_000, heap: heapAt(minute), sockets: 10 });
  expect(growths(Array.from({ length: 16 }, (_, minute) => at(minute)))).toEqual(grown);
  expect(growths([])).toHaveLength(2);
});
