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
const OF = `payment ${ID} of Order-1.1`;
const OF_OUT = `payment ${OUT_ID} of Payout-1 `;
const ofOther = (effect: Effect): Effect => ({ ...effect, payment_id: OTHER_ID });
const orderIs = (state: Facts['orders'][number]['state']) => ({ orders: [{ ...order, state }] });
const createIs = (state: string) => ({ creates: [{ reference: 'Payout-1', state }] });
const has = (payments: Facts['payments'], effects: Facts['effects'] = [paid, paidOut]) => ({ payments, effects });
const isFor = (review: Facts['reviews'][number]) => ({ reviews: [review] });

describe('the judge of a soak', () => {
  const doubled = { ...other, reference: 'order-1.1 ' };
  const stranger = { ...withdrawal, id: OTHER_ID, reference: 'Payout-2' };
  const strange: Effect = { ...ofOther(paidOut), owner: 'Payout-9' };
  const failed = { ...deposit, paymentStatus: 'FAILED' };
  const outIs = (paymentStatus: string) => has([deposit, { ...withdrawal, paymentStatus }], [paid]);
  const all = [deposit, other, withdrawal];
  const cutOff = { status: 'FAILED', reason: 'effect_uncertain', paymentId: ID };

  it.each<[string, Partial<Facts>, problem?: string]>([
    ['nothing in a good run', {}],
    ['nothing in a second payment in review', { ...has(all), ...isFor(held) }],
    [
      'nothing in an order whose payment has a folded reference, and is in review',
      {
        ...{ ...orderIs('open'), ...has([{ ...deposit, reference: 'order-1.1' }, withdrawal], [paidOut]) },
        ...isFor({ status: 'COMPLETED', reason: 'unknown_reference', paymentId: ID, reference: 'order-1.1' }),
      },
    ],
    ['nothing in a chargeback', has([failed, other, withdrawal], [paid, reversed, ofOther(paid), paidOut])],
    ['two payments', { ...has([deposit, doubled, withdrawal]), ...isFor(held) }, 'doubled: order-1.1 has 2 payments'],
    ['an order paid twice', has(all, [paid, ofOther(paid), paidOut]), 'doubled: order Order-1 (alone) was paid more'],
    [
      'a lost order',
      { ...orderIs('open'), ...has([withdrawal], [paidOut]) },
      'lost: order Order-1 (alone) is not paid',
    ],
    ['a wrong state', orderIs('canceled'), 'mistaken: order Order-1 is canceled, with 1 credits'],
    [
      'an unwanted payment',
      { ...has([...all, stranger]), ...isFor(held) },
      `unwanted: payment ${OTHER_ID} of Payout-2`,
    ],
    ['an effect twice', { effects: [paid, paidOut, paidOut] }, `doubled: ${OF_OUT} had paid_out, paid_out`],
    ['no credit', has(all), `lost: payment ${OTHER_ID} of Order-1.2 is neither credited nor in review`],
    ['a credit in review', isFor({ ...held, paymentId: ID }), `mistaken: ${OF} is credited, and in review`],
    ['a lost chargeback', has([failed, withdrawal]), `lost: ${OF} is FAILED, and still credited`],
    ['an unheard failure', outIs('CANCELED'), `lost: ${OF_OUT} failed, and the shop heard of it 0 times`],
    ['a wrong amount', { effects: [{ ...paid, amount: '255' }, paidOut] }, `mistaken: an effect of ${OF} has a wrong`],
    [
      'a wrong price',
      has([{ ...deposit, amount: 26 }, withdrawal], [{ ...paid, amount: '26' }, paidOut]),
      'mistaken: an',
    ],
    ['an unknown payment', { effects: [paid, paidOut, strange] }, `mistaken: payment ${OTHER_ID} does not exist`],
    ['an open payment', outIs('PENDING'), `open: ${OF_OUT} is PENDING`],
    ['a lost payout', has([deposit], [paid]), 'lost: payout Payout-1  has no payment'],
    ['a doubt', createIs('begun'), 'in doubt: Payout-1'],
    ['a plan', createIs('planned'), 'not sent: Payout-1 is still planned'],
    ['an uncertain effect', isFor(cutOff), `uncertain: an effect of payment ${ID} was cut off`],
  ])('finds %s', (_, facts, problem) => {
    expect(judge({ ...GOOD, ...facts })).toEqual(problem ? [expect.stringContaining(problem)] : []);
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
