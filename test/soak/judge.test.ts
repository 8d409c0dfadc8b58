import { describe, expect, it } from 'vitest';
import { type Facts, growths, judge, thirdsOf } from './judge.ts';

const ID = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';
const OTHER_ID = '11111111-2222-4333-8444-555555555555';

const payment = { id: ID, reference: 'Order-1', paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT', amount: 25.5 };
const effect = { payment_id: ID, status: 'COMPLETED', amount: 25.5 };
const other = { ...payment, id: OTHER_ID };
const otherEffect = { ...effect, payment_id: OTHER_ID };

/** One order that was paid, as it should be. */
const GOOD: Facts = {
  wants: [{ reference: 'Order-1', way: 'alone', state: 'created' }],
  effects: [effect],
  told: [{ reference: 'Order-1', payment_id: ID }],
  journal: [{ reference: 'Order-1', state: 'created' }],
  uncertain: 0,
  payments: [payment],
};
const judged = (facts: Partial<Facts>) => judge({ ...GOOD, ...facts });

describe('the judge of a soak', () => {
  it('finds nothing where nothing is wrong', () => {
    expect(judged({})).toEqual([]);
    expect(judged({ payments: [{ ...payment, reference: 'order-1' }] })).toEqual([]);
    expect(judged({ effects: [{ ...effect, status: 'AUTHORIZED' }, effect] })).toEqual([]);
    expect(judged({ effects: [effect, { ...effect, status: 'IN_REVIEW' }] })).toEqual([]);
    const refused = { wants: [{ reference: 'Order-1', way: 'alone', state: 'refused' }] } as const;
    expect(judged({ ...refused, payments: [], effects: [], told: [], journal: [] })).toEqual([]);
  });

  it.each<[string, Partial<Facts>, string[]]>([
    [
      'a reference that was paid twice',
      { payments: [payment, other], effects: [effect, otherEffect] },
      ['doubled: Order-1 (alone) has 2 payments'],
    ],
    [
      'a reference that was not paid',
      { payments: [], effects: [], told: [] },
      ['lost: Order-1 (alone) has no payment'],
    ],
    [
      'an order that was rolled back, and paid',
      { payments: [payment, { ...other, reference: 'Order-2' }], effects: [effect, otherEffect] },
      [`unwanted: payment ${OTHER_ID} of Order-2, which nobody has ordered`],
    ],
    [
      'a create that was answered with another payment',
      { told: [{ reference: 'Order-1', payment_id: OTHER_ID }] },
      [`mistaken: the create of Order-1 was answered with ${OTHER_ID}`],
    ],
    [
      'an effect that happened twice',
      { effects: [effect, effect] },
      [`doubled: COMPLETED of payment ${ID} of Order-1 took effect 2 times`],
    ],
    ['an effect that never happened', { effects: [] }, [`lost: COMPLETED of payment ${ID} of Order-1 took no effect`]],
    [
      'an effect of a status that never was',
      { effects: [{ ...effect, status: 'FAILED' }, effect] },
      [`mistaken: payment ${ID} of Order-1 never was FAILED`],
    ],
    [
      'an open status after the end',
      { effects: [effect, { ...effect, status: 'PENDING' }] },
      [`late: payment ${ID} of Order-1 was open again`],
    ],
    [
      'an effect of another amount',
      { effects: [{ ...effect, amount: 255 }] },
      [`mistaken: an effect of payment ${ID} of Order-1 has another amount`],
    ],
    [
      'an effect of no payment',
      { effects: [effect, otherEffect] },
      [`mistaken: payment ${OTHER_ID} took effect, and is none`],
    ],
    [
      'a payment that has not come to its end',
      { payments: [{ ...payment, paymentStatus: 'PENDING' }], effects: [{ ...effect, status: 'PENDING' }] },
      [`open: payment ${ID} of Order-1 is PENDING`],
    ],
    ['a doubt', { journal: [{ reference: 'Order-1', state: 'begun' }] }, ['in doubt: Order-1']],
    [
      'a plan that was not sent',
      { journal: [{ reference: 'Order-1', state: 'planned' }] },
      ['not sent: Order-1 is still planned'],
    ],
    [
      'an effect whose end nobody knows',
      { uncertain: 1 },
      ['uncertain: 1 effects have begun, and nobody knows their end'],
    ],
  ])('names %s', (_, facts, problems) => {
    expect(judged(facts)).toEqual(problems);
  });
});

describe('what a process holds', () => {
  const FLAT = { rss: 100, sockets: 10, resources: 20 };
  const heldOver = (heapAt: (minute: number) => number) =>
    Array.from({ length: 16 }, (_, minute) => ({ ...FLAT, at: minute * 60_000, heap: heapAt(minute) }));

  it('is flat if it grows at the beginning alone', () => {
    const held = heldOver(minute => (minute < 5 ? 15 + minute : 20));
    expect(growths(thirdsOf(held))).toEqual([]);
  });

  it('is flat if it holds more for a moment, again and again', () => {
    const held = heldOver(minute => (minute > 10 && minute % 2 ? 60 : 20));
    expect(growths(thirdsOf(held))).toEqual([]);
  });

  it('has grown if it goes on growing', () => {
    const held = heldOver(minute => 20 + minute / 2);
    expect(growths(thirdsOf(held))).toEqual(['grown: heap from 22.5 to 25.0']);
  });

  it('is not flat if it was not measured', () => {
    expect(growths(thirdsOf([]))).toHaveLength(4);
  });
});
