import { ApiError, type Payment } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/schemas/response.ts';
import { reconcile } from '../../src/store/confirmed.ts';
import type { CreateRow } from '../../src/store/creates.ts';
import { type Attempt, newRow } from '../../src/store/creates.ts';
import { disprove } from '../../src/store/doubts.ts';
import { looked } from '../../src/store/looks.ts';
import { replanned } from '../../src/store/plan.ts';
import {
  abandon,
  acknowledge,
  begin,
  observe,
  recordEnd,
  recordPayment,
  release,
  settle,
  takeBack,
  yieldPayment,
} from '../../src/store/transitions.ts';
import { ID, OTHER_ID, record } from '../support/fixtures.ts';

const THIRD_ID = '22222222-2222-4333-8444-555555555555';
/** When everything here began, by the store's clock. */
const BEGUN = 1_000_000;

const attempt: Attempt = {
  scope: 'terminal-1',
  reference: 'payout-1',
  attemptId: 'first',
  paymentType: 'DEPOSIT',
  paymentMethod: 'CARD',
  amount: '25.5',
  currency: 'EUR',
  bodyHash: 'hash',
  timeoutMs: 60_000,
};
const newer: Attempt = { ...attempt, attemptId: 'newer' };

const payment = (id = ID, changes: object = {}): Payment => ({
  ...JSON.parse(record('created, unwrapped')),
  ...{ paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR', reference: 'payout-1' },
  ...changes,
  id,
});
const answer = (id = ID): Envelope => ({ payment: { ...payment(id), redirectUrl: 'https://pay.example/p' } });
const callback = (id = ID): Envelope => ({ payment: payment(id) });
/** As a store keeps it: the fields of `payment` that are the customer's are gone. */
const kept = ({ payment: { customer, billingAddress, description, ...payment } }: Envelope): Envelope => ({
  payment: payment as Payment,
});
const learnt = (id = ID) => ({ paymentId: id, result: answer(id) });

const begun = newRow(attempt, BEGUN);
const freed: CreateRow = { ...begun, state: 'freed', revision: 2 };
/** What a sweep has to look at, from the beginning. */
const DUE = { dueAt: BEGUN };
const suspecting = (id = ID): CreateRow => ({ ...begun, ...DUE, paymentId: id });
const created = (id = ID, result = answer(id)): CreateRow => ({
  ...begun,
  ...DUE,
  state: 'created',
  paymentId: id,
  result: kept(result),
});
/** As a callback, lookup or operator makes it: without the page of the create's own answer. */
const settled = (id = ID, result = callback(id)): CreateRow => ({ ...created(id, result), isPageLost: true });
const ended: CreateRow = { ...begun, isEnded: true };
const { attemptId: _, timeoutMs: _t, ...request } = attempt;

describe('begin', () => {
  it('takes a reference that is free, for the new attempt, at the time of the store', () => {
    expect(begin({ ...freed, conflictingIds: [OTHER_ID] }, newer, BEGUN + 5)).toEqual({
      hasBegun: true,
      next: { ...request, ...newRow(newer, BEGUN + 5), revision: 2 },
    });
    const { next } = begin({ ...freed, isRetry: true }, newer, BEGUN + 5);
    expect(next).toEqual({ ...newRow(newer, BEGUN + 5), isRetry: true, revision: 2 });
  });

  it('takes the same attempt twice as one, until something has happened to it', () => {
    expect(begin(begun, attempt, BEGUN)).toEqual({ hasBegun: true });
    for (const row of [suspecting(), created(), { ...begun, conflictingIds: [OTHER_ID] }]) {
      expect(begin(row, attempt, BEGUN)).toEqual({ hasBegun: false });
    }
  });

  it.each<[string, CreateRow]>([
    ['in doubt', begun],
    ['created', created()],
    ['planned', { ...begun, state: 'planned' }],
  ])('does not take one that is %s', (_, row) => {
    expect(begin(row, newer, BEGUN + 1e9)).toEqual({ hasBegun: false });
  });
});

describe("an attempt's own answer", () => {
  it('makes it created, next action and all', () => {
    expect(recordPayment(begun, attempt, learnt(), BEGUN)).toEqual({ next: created() });
  });

  it('comes on top of what a callback said before, because it has the next action', () => {
    expect(recordPayment(settled(), attempt, learnt(), BEGUN)).toEqual({ next: created() });
    expect(recordPayment(ended, attempt, learnt(), BEGUN)).toEqual({ next: created() });
  });

  it('keeps the order of its attempt, and the payment that has paid it', () => {
    const kept = { order: 'order-1', paidBy: OTHER_ID };
    expect(newRow({ ...attempt, order: 'order-1' }, BEGUN)).toEqual({ ...begun, order: 'order-1' });
    expect(recordPayment({ ...begun, ...kept }, attempt, learnt(), BEGUN).next).toMatchObject(kept);
    expect(begin({ ...freed, ...kept }, newer, BEGUN).next).toMatchObject({ paidBy: OTHER_ID });
    expect(begin({ ...freed, ...kept }, newer, BEGUN).next).not.toHaveProperty('order');
  });

  it('is a doubt if it has the payment of another create', () => {
    expect(recordEnd(begun, attempt, ID)).toEqual({ next: { ...ended, ...DUE, conflictingIds: [ID] } });
    for (const row of [undefined, freed, newRow(newer, BEGUN), created()])
      expect(recordEnd(row, attempt, ID)).toEqual({});
  });

  it('leaves nothing to look at where its payment has taken effect already', () => {
    const { dueAt, ...done } = created(ID, callback());
    expect(recordPayment(done, attempt, learnt(), BEGUN).next).toEqual({ ...done, result: kept(answer()) });
  });

  it('takes its own id out of the conflicting ones', () => {
    const { next } = recordPayment({ ...begun, conflictingIds: [ID, OTHER_ID] }, attempt, learnt(), BEGUN);
    expect(next).toEqual({ ...created(), conflictingIds: [OTHER_ID] });
  });

  it('keeps both ids when a callback said another', () => {
    expect(recordPayment(created(OTHER_ID, callback(OTHER_ID)), attempt, learnt(), BEGUN)).toEqual({
      next: { ...created(), conflictingIds: [OTHER_ID] },
      otherPayment: { id: OTHER_ID },
    });
  });

  it('of an attempt that was given up is written down all the same', () => {
    for (const [row, revision] of [
      [freed, 2],
      [undefined, 0],
    ] as const) {
      const { next } = recordPayment(row, attempt, learnt(), BEGUN + 9);
      expect(next).toEqual({ ...created(), begunAt: BEGUN + 9, dueAt: BEGUN + 9, timeoutMs: 0, revision });
    }
  });

  it('of an attempt that a newer one has replaced is kept beside it', () => {
    const row = newRow(newer, BEGUN);
    expect(recordPayment(row, attempt, learnt(), BEGUN)).toEqual({
      next: { ...row, ...DUE, conflictingIds: [ID] },
      otherPayment: { id: undefined },
    });
    expect(recordPayment({ ...row, paymentId: OTHER_ID }, attempt, learnt(), BEGUN)).toEqual({
      next: { ...row, ...DUE, paymentId: OTHER_ID, conflictingIds: [ID] },
      otherPayment: { id: OTHER_ID },
    });
    expect(recordPayment({ ...row, paymentId: ID.toUpperCase() }, attempt, learnt(), BEGUN)).toEqual({});
  });
});

describe('an attempt whose outcome is unknown', () => {
  it('has ended, unless a newer one has replaced it or its payment is known', () => {
    expect(recordEnd(begun, attempt)).toEqual({ next: ended });
    expect(recordEnd(newRow(newer, BEGUN), attempt)).toEqual({});
    expect(recordEnd(undefined, attempt)).toEqual({});
    expect(recordEnd(created(), attempt)).toEqual({});
  });

  it('stays a doubt that knows its id', () => {
    expect(recordPayment(begun, attempt, { paymentId: ID }, BEGUN)).toEqual({
      next: { ...suspecting(), isEnded: true },
    });
    expect(recordPayment(suspecting(), attempt, { paymentId: ID.toUpperCase() }, BEGUN)).toEqual({
      next: { ...suspecting(), isEnded: true },
    });
  });

  it('keeps the first id, and a second one beside it', () => {
    expect(recordPayment(suspecting(), attempt, { paymentId: OTHER_ID }, BEGUN)).toEqual({
      next: { ...suspecting(), isEnded: true, conflictingIds: [OTHER_ID] },
      otherPayment: { id: ID },
    });
  });

  it('is a doubt again, if it was given up', () => {
    expect(recordPayment(freed, attempt, { paymentId: ID }, BEGUN).next).toEqual({
      ...suspecting(),
      isEnded: true,
      timeoutMs: 0,
      revision: 2,
    });
  });

  it('takes no result away', () => {
    expect(recordPayment(created(), attempt, { paymentId: ID }, BEGUN).next).toEqual(created());
  });
});

describe('a refusal', () => {
  it('frees the reference of its own attempt', () => {
    expect(release(begun, attempt)).toEqual({ next: { ...begun, state: 'freed' } });
    expect(release(begun, attempt, { wasSent: true })).toEqual({ next: { ...begun, isRetry: true, state: 'freed' } });
  });

  it.each<[string, CreateRow | undefined]>([
    ['of a newer attempt', newRow(newer, BEGUN)],
    ['that is created', created()],
    ['whose payment is known', suspecting()],
    ['that another payment has claimed', { ...begun, conflictingIds: [OTHER_ID] }],
    ['that is free', freed],
    ['that is not there', undefined],
  ])('changes nothing of one %s', (_, row) => {
    expect(release(row, attempt)).toEqual({});
  });
});

describe('an attempt whose writing failed', () => {
  it('is taken back, and kept out where it has not come yet', () => {
    expect(takeBack(begun, attempt, BEGUN)).toEqual({ next: { ...begun, state: 'freed' } });
    expect(takeBack(undefined, attempt, BEGUN)).toEqual({ next: { ...begun, state: 'freed' } });
    expect(takeBack(newRow(newer, BEGUN), attempt, BEGUN)).toEqual({});
    // Over a freed row of another attempt a late write would still come: its revision is counted up.
    const { next } = takeBack(freed, newer, BEGUN);
    expect([next, next === freed]).toEqual([freed, false]);
  });
});

describe("an operator's not_created", () => {
  const MARGIN = 600_000;
  const after = BEGUN + 60_000 + MARGIN + 1;

  it("frees the reference, and only once the attempt's time and the margin have passed", () => {
    expect(abandon(begun, after, MARGIN)).toEqual({ next: { ...begun, isRetry: true, state: 'freed' } });
    for (const now of [BEGUN, BEGUN + 60_001, after - 1]) expect(abandon(begun, now, MARGIN)).toEqual({});
  });

  it('frees it over ids that were disproved, and no other', () => {
    const claimed = { ...suspecting(), conflictingIds: [OTHER_ID] };
    const freedRow = { ...begun, isRetry: true, state: 'freed' };
    expect(abandon(disprove(suspecting(), [ID.toUpperCase()]), after, MARGIN).next).toEqual(freedRow);
    expect(abandon(disprove(claimed, [OTHER_ID, ID]), after, MARGIN).next).toEqual(freedRow);
    expect(abandon(disprove(suspecting(), [ID]), after - 1, MARGIN)).toEqual({});
    for (const ids of [[], [OTHER_ID], [ID]]) expect(abandon(disprove(claimed, ids), after, MARGIN)).toEqual({});
  });

  it.each([
    ['created', created()],
    ['claimed by another payment', { ...begun, conflictingIds: [OTHER_ID] }],
  ])('does not free one that is %s', (_, row) => {
    expect(abandon(row, after, MARGIN)).not.toHaveProperty('next');
  });
});

describe('a callback, a lookup or an operator', () => {
  it('settles a doubt', () => {
    expect(settle(begun, callback())).toEqual({ next: settled() });
    expect(settle(suspecting(ID.toUpperCase()), callback())).toEqual({ next: settled() });
    expect(settle({ ...begun, isEnded: true }, answer())).toEqual({ next: created() });
  });

  it('replaces no result, and keeps another id as a conflicting one', () => {
    expect(settle(created(), callback())).toEqual({});
    const next = { ...settled(), conflictingIds: [OTHER_ID] };
    expect(settle(suspecting(OTHER_ID), callback())).toEqual({ next });
    expect(settle(disprove(suspecting(OTHER_ID), [THIRD_ID]), callback())).toEqual({ next });
  });

  it('replaces an id that was disproved, and forgets it', () => {
    expect(settle(disprove(suspecting(OTHER_ID), [OTHER_ID]), callback())).toEqual({ next: settled() });
    expect(settle(disprove(created(OTHER_ID), [OTHER_ID]), callback())).toEqual({});
  });

  it('settles it with an id that was among the conflicting ones', () => {
    expect(settle({ ...begun, conflictingIds: [OTHER_ID, ID] }, callback())).toEqual({
      next: { ...settled(), conflictingIds: [OTHER_ID] },
    });
  });
});

describe('a payment that is seen again', () => {
  const seen = (status: string, changes: object = {}): Envelope => ({
    payment: payment(ID, { paymentStatus: status, ...changes }),
  });
  const statusOf = (row: CreateRow | undefined) => row?.result?.payment.paymentStatus;

  it('moves on, and never back', () => {
    const authorized = observe(created(), seen('AUTHORIZED')).next;
    expect([statusOf(authorized), authorized?.result?.payment.redirectUrl]).toEqual([
      'AUTHORIZED',
      'https://pay.example/p',
    ]);
    expect(observe(authorized, seen('PENDING'))).toEqual({});
    expect(observe(authorized, seen('AUTHORIZED'))).toEqual({});
  });

  it('has no next action once it is final, for ever', () => {
    const completed = observe(created(), seen('COMPLETED', { crypto_tx_hash: '0x1' })).next;
    expect(completed?.result).toEqual({
      payment: { ...kept(callback()).payment, paymentStatus: 'COMPLETED', crypto_tx_hash: '0x1' },
    });
    expect(observe(completed, seen('AUTHORIZED'))).toEqual({});
    expect(statusOf(observe(completed, seen('FAILED')).next)).toBe('FAILED');
  });

  it('is kept with what has come beside its status, and with a status that this SDK does not know', () => {
    const failed = observe(created(), seen('FAILED')).next;
    const withHash = observe(failed, seen('FAILED', { crypto_tx_hash: '0x1' })).next;
    expect(withHash?.result?.payment).toHaveProperty('crypto_tx_hash', '0x1');
    const refunded = seen('UNKNOWN', { rawPaymentStatus: 'REFUNDED' });
    expect(observe(failed, refunded).next?.result?.payment).toHaveProperty('rawPaymentStatus', 'REFUNDED');
  });

  it('is due at once with each final status, whatever has taken effect before', () => {
    const { dueAt, ...done } = { ...created(), looks: 9 };
    expect(observe(done, seen('AUTHORIZED')).next).not.toHaveProperty('dueAt');
    const completed = observe({ ...created(), dueAt: BEGUN + 99, looks: 9 }, seen('COMPLETED')).next;
    expect(completed).toMatchObject({ dueAt: BEGUN, looks: 0 });
    const acknowledged = acknowledge(completed, seen('COMPLETED').payment).next;
    expect(acknowledged).toMatchObject({ dueAt: BEGUN, effectAt: BEGUN });
    const failed = observe({ ...acknowledged, dueAt: BEGUN + 99 } as never, seen('FAILED')).next;
    expect(failed).toMatchObject({ dueAt: BEGUN, looks: 0 });
    expect(failed).not.toHaveProperty('effectAt');
    expect(acknowledge(failed, seen('FAILED').payment).next).not.toHaveProperty('dueAt');
    const same = observe(acknowledged, seen('COMPLETED', { crypto_tx_hash: '0x1' })).next;
    expect(same).toMatchObject({ dueAt: BEGUN, effectAt: BEGUN });
  });

  it('changes nothing of another payment, nor of a doubt', () => {
    expect(observe(created(OTHER_ID), seen('COMPLETED'))).toEqual({});
    expect(observe(suspecting(), seen('COMPLETED'))).toEqual({});
    expect(observe(undefined, seen('COMPLETED'))).toEqual({});
  });
});

describe('an effect', () => {
  const final = payment(ID, { paymentStatus: 'COMPLETED' });
  const completed = created(ID, { payment: final });

  it('of a paid payment leaves its rechecks, and its status is kept', () => {
    const done = { ...completed, effectAt: BEGUN };
    const result = { payment: kept({ payment: final }).payment };
    expect(acknowledge(created(), final).next).toEqual({ ...done, result });
    expect(acknowledge(completed, final).next).toEqual(done);
    expect(acknowledge({ ...done, dueAt: BEGUN + 99 }, final).next).toEqual({ ...done, dueAt: BEGUN + 99 });
  });

  it('of a failed payment leaves nothing to look at', () => {
    const failed = payment(ID, { paymentStatus: 'FAILED' });
    const { dueAt, ...done } = created(ID, { payment: failed });
    expect(acknowledge({ ...created(), leasedUntil: BEGUN + 1 }, failed).next).toEqual({
      ...done,
      result: { payment: kept({ payment: failed }).payment },
    });
  });

  it('of a status that is not final leaves it to look at', () => {
    const authorized = payment(ID, { paymentStatus: 'AUTHORIZED' });
    expect(acknowledge(created(), authorized).next).toMatchObject({ dueAt: BEGUN });
  });

  it('of a final status before the last one leaves that one to look at', () => {
    const failed = created(ID, { payment: payment(ID, { paymentStatus: 'FAILED' }) });
    expect(acknowledge(failed, final)).toEqual({});
  });

  it('of a reference that has nothing left to look at changes nothing', () => {
    const { dueAt, ...done } = { ...completed, result: { payment: kept({ payment: final }).payment } };
    expect(acknowledge(done, final).next).toBe(done);
  });

  it('leaves a reference to look at that may have other payments', () => {
    const two = { ...completed, conflictingIds: [OTHER_ID] };
    expect(acknowledge(two, final).next).toEqual(two);
  });

  it.each<[string, CreateRow | undefined]>([
    ['a doubt', suspecting()],
    ['another payment', created(OTHER_ID)],
    ['a free reference', freed],
    ['no row', undefined],
  ])('says nothing of %s', (_, row) => {
    expect(acknowledge(row, final)).toEqual({});
  });
});

describe('a sweep', () => {
  it('looks again after the pause, by the time of the store, and gives its lease back', () => {
    const leased = { ...created(), looks: 2, leasedUntil: BEGUN + 99 };
    expect(looked(leased, created(), { pause: 240_000 }, BEGUN + 50)).toEqual({
      next: { ...created(), looks: 3, dueAt: BEGUN + 50 + 240_000 },
    });
  });

  it('looks no more at what is done', () => {
    const { dueAt, ...done } = created();
    expect(
      looked({ ...created(), leasedUntil: BEGUN + 99 }, created(), { done: [ID.toUpperCase()], seen: [] }, BEGUN),
    ).toEqual({
      next: { ...done, looks: 1 },
    });
  });

  it('looks at once at another payment that was heard of while it looked', () => {
    const two = { ...created(), conflictingIds: [OTHER_ID] };
    expect(looked({ ...two, leasedUntil: BEGUN + 99 }, created(), { done: [ID], seen: [] }, BEGUN)).toEqual({
      next: { ...two, looks: 1 },
    });
    expect(looked(two, created(), { done: [ID, OTHER_ID], seen: [] }, BEGUN).next).not.toHaveProperty('dueAt');
  });

  it('looks at once at a final status that came while it looked, and not at one that it has seen', () => {
    const final = payment(ID, { paymentStatus: 'COMPLETED' });
    const row = { ...created(ID, { payment: final }), leasedUntil: BEGUN + 99 };
    const look = (...seen: Payment[]) => looked(row, created(), { done: [ID], seen }, BEGUN).next?.dueAt;
    expect(look(payment())).toBe(BEGUN);
    expect(look({ ...final, id: OTHER_ID })).toBe(BEGUN);
    expect(look(payment(), { ...final, id: ID.toUpperCase() })).toBeUndefined();
  });

  it('changes nothing of what its callback has settled meanwhile', () => {
    const { dueAt, ...done } = created();
    expect(looked(done, created(), { pause: 1 }, BEGUN)).toEqual({});
    expect(looked(undefined, created(), { pause: 1 }, BEGUN)).toEqual({});
    // An operator freed it for another attempt.
    expect(looked({ ...created(), attemptId: 'newer' }, created(), { pause: 1 }, BEGUN)).toEqual({});
  });
});

describe('a confirmed payment', () => {
  const key = { scope: 'terminal-1', reference: 'payout-1' };
  const reconciled = (row: CreateRow | undefined, of = payment(), disproved: string[] = []) =>
    reconcile(row && disprove(row, disproved), { ...key, payment: of, attemptId: 'callback' }, BEGUN);

  it('settles the doubt of its reference', () => {
    expect(reconciled(begun)).toEqual({ next: settled(), outcome: 'settled' });
    expect(reconciled(ended)).toEqual({ next: settled(), outcome: 'settled' });
  });

  it('settles it over an id that was disproved, and keeps a result over one', () => {
    expect(reconciled(suspecting(OTHER_ID), payment(), [OTHER_ID]).next).toEqual(settled());
    expect(reconciled(created(OTHER_ID), payment(), [OTHER_ID]).otherPayment).toEqual({ id: OTHER_ID });
  });

  it('changes nothing of a reference that has it, unless its status has moved on', () => {
    expect(reconciled(created())).toEqual({});
    const { next } = reconciled(created(), payment(ID, { paymentStatus: 'COMPLETED' }));
    expect(next?.result?.payment.paymentStatus).toBe('COMPLETED');
  });

  it.each([
    ['amount', { amount: 25.51 }],
    ['currency', { currency: 'USD' }],
    ['type', { paymentType: 'WITHDRAWAL' }],
  ])('does not settle a doubt of another %s', (_, changes) => {
    const next = { ...begun, ...DUE, conflictingIds: [ID] };
    expect(reconciled(begun, payment(ID, changes))).toEqual({ next, isMismatch: true });
    // Nor is it forgotten: the right one settles it all the same.
    expect(reconciled(next, payment(OTHER_ID)).next).toEqual({
      ...settled(OTHER_ID),
      conflictingIds: [ID],
    });
  });

  it('counts more than a failed one, which a gateway may keep of a refused attempt', () => {
    const failed = created(OTHER_ID, { payment: payment(OTHER_ID, { paymentStatus: 'FAILED' }) });
    const completed = payment(ID, { paymentStatus: 'COMPLETED' });
    expect(reconciled(failed, completed)).toEqual({
      next: { ...created(ID, { payment: completed }), conflictingIds: [OTHER_ID] },
      otherPayment: { id: OTHER_ID },
    });
    for (const changes of [{ paymentStatus: 'CANCELED' }, { paymentStatus: 'COMPLETED', amount: 9 }]) {
      expect(reconciled(failed, payment(ID, changes)).next).toEqual({ ...failed, conflictingIds: [ID] });
    }
  });

  it('that has failed may be that of the attempt before: it does not settle the next one', () => {
    const retry = { ...begun, isRetry: true };
    const failed = payment(ID, { paymentStatus: 'FAILED' });
    expect(reconciled(retry, failed)).toEqual({ next: { ...retry, ...DUE, conflictingIds: [ID] }, otherPayment: {} });
    const other = suspecting(OTHER_ID);
    const kept = { next: { ...other, conflictingIds: [ID] }, otherPayment: { id: OTHER_ID } };
    expect(reconciled(other, failed)).toEqual(kept);
    expect(reconciled(other, failed, [OTHER_ID]).outcome).toBe('settled');
    expect(reconciled(begun, failed).outcome).toBe('settled');
    expect(reconciled(retry).outcome).toBe('settled');
    expect(reconciled({ ...retry, paymentId: ID }, failed).outcome).toBe('settled');
    expect(reconciled({ ...retry, paymentId: OTHER_ID }, failed, [OTHER_ID])).toHaveProperty('otherPayment', {});
  });

  it('that counts more is not kept beside itself', () => {
    const failed = created(OTHER_ID, { payment: payment(OTHER_ID, { paymentStatus: 'FAILED' }) });
    expect(reconciled({ ...failed, conflictingIds: [ID] }).next).toEqual({
      ...created(ID, callback()),
      conflictingIds: [OTHER_ID],
    });
  });

  it('is kept beside another payment of the reference', () => {
    const row = created(OTHER_ID);
    expect(reconciled(row)).toEqual({ next: { ...row, conflictingIds: [ID] }, otherPayment: { id: OTHER_ID } });
    const known = { ...created(OTHER_ID), conflictingIds: [ID] };
    expect(reconciled(known)).toEqual({ next: known, otherPayment: { id: OTHER_ID } });
  });

  it('is written down under a reference that the store does not know, so that it is not paid again', () => {
    expect(reconciled(undefined)).toEqual({
      outcome: 'created',
      next: { ...created(ID, callback()), attemptId: 'callback', bodyHash: 'unseen', timeoutMs: 0 },
    });
  });

  it('of a freed reference is compared with the request, which the row keeps', () => {
    const { isPageLost, ...own } = settled();
    const row = { ...freed, order: 'order-1', paidBy: OTHER_ID };
    const next = { ...own, isPageLost, order: 'order-1', paidBy: OTHER_ID, revision: 2 };
    expect(reconciled(row)).toEqual({ outcome: 'created', next });
    expect(reconciled(row, payment(ID, { amount: 9 }))).toEqual({
      isMismatch: true,
      next: { ...row, ...DUE, state: 'begun', isEnded: true, conflictingIds: [ID] },
    });
    expect(reconciled(row, payment(ID, { paymentStatus: 'FAILED' }))).toEqual({});
  });

  it('is given up by a row made only from it, and by no other', () => {
    const { next: unseen } = reconciled(undefined);
    const { dueAt, paymentId, result, ...rest } = unseen as CreateRow;
    expect(yieldPayment(unseen)).toEqual({ next: { ...rest, state: 'freed' } });
    for (const row of [undefined, created(), begun]) expect(yieldPayment(row)).toEqual({});
  });
});

describe('a state that a later version may add', () => {
  it('is left alone by a confirmed payment', () => {
    const key = { scope: 'terminal-1', reference: 'payout-1' };
    const reconciled = (row: object, of: Payment) =>
      reconcile(row as CreateRow, { ...key, payment: of, attemptId: 'callback' }, BEGUN);
    for (const of of [payment(), payment(ID, { amount: 9 }), payment(ID, { paymentStatus: 'FAILED' })]) {
      expect(reconciled({ ...begun, state: 'archived', isRetry: true }, of)).toEqual({});
    }
  });
});

describe('a payment whose reference only looks like the one in doubt', () => {
  const folded = payment(ID, { reference: 'PAYOUT-1' });
  const confirmed = { scope: 'terminal-1', reference: 'payout-1', payment: folded, attemptId: 'callback' };

  it('is kept, and settles the doubt only if its own answer has named it', () => {
    const next = { ...begun, ...DUE, conflictingIds: [ID] };
    expect(reconcile(begun, confirmed, BEGUN)).toEqual({ next, isMismatch: true });
    expect(reconcile(next, confirmed, BEGUN)).toEqual({ next, isMismatch: false });
    expect(reconcile(suspecting(), confirmed, BEGUN).outcome).toBe('settled');
  });
});

describe('what is planned', () => {
  const planned = (changes: Partial<CreateRow> = {}): CreateRow => ({
    ...newRow({ ...attempt, attemptId: 'plan', timeoutMs: 0 }, BEGUN),
    state: 'planned',
    body: '{"request":{}}',
    dueAt: BEGUN,
    ...changes,
  });
  const { body, dueAt, ...withoutBody } = planned();

  it('becomes an attempt, which keeps no body', () => {
    const next = { ...begun, isRetry: true, revision: 7 };
    const row = planned({ isRetry: true, revision: 7, leasedUntil: BEGUN + 1 });
    expect(begin(row, attempt, BEGUN, row)).toEqual({ hasBegun: true, next });
  });

  it('does not become an attempt once it has changed since it was claimed', () => {
    const claimed = planned({ revision: 7 });
    for (const row of [undefined, planned({ revision: 8 }), { ...freed, revision: 7 }, created()]) {
      expect(begin(row, attempt, BEGUN, claimed)).toEqual({ hasBegun: false });
    }
  });

  it('is there again in its old place if its attempt was never sent, and knows whether it was', () => {
    const claimed = planned({ dueAt: BEGUN - 5, leasedUntil: BEGUN + 1, revision: 7 });
    const attempted = { ...begun, revision: 8 };
    const next = planned({ dueAt: BEGUN - 5, revision: 7 });
    expect(release(attempted, attempt, { plan: claimed })).toEqual({ next });
    expect(release(attempted, attempt, { plan: claimed, wasSent: true })).toEqual({ next: { ...next, isRetry: true } });
    expect(takeBack(attempted, attempt, BEGUN, claimed)).toEqual({ next });
  });

  it('keeps out an attempt that is still being written, and is nobody else’s then', () => {
    const row = planned({ revision: 7, leasedUntil: BEGUN + 1 });
    expect(takeBack(row, attempt, BEGUN, row)).toEqual({ next: planned({ revision: 7 }) });
    // A direct create could only have inserted a row.
    expect(takeBack(row, attempt, BEGUN)).toEqual({});
  });

  it('is not sent any more once an earlier attempt turns out to have made its payment', () => {
    const row = planned({ revision: 7 });
    const next = { ...created(), timeoutMs: 0, revision: 7 };
    expect(recordPayment(row, attempt, learnt(), BEGUN)).toEqual({ next });
    const other = planned({ revision: 7, bodyHash: 'another' });
    expect(recordPayment(other, attempt, learnt(), BEGUN)).toEqual({ next, otherPayment: {} });
    const doubt = { ...ended, timeoutMs: 0, paymentId: ID, dueAt: BEGUN, revision: 7 };
    expect(recordPayment(row, attempt, { paymentId: ID }, BEGUN)).toEqual({ next: doubt });
  });

  it('is not sent any more once its payment turns up; another one of its reference leaves a doubt', () => {
    const row = planned({ revision: 7, bodyHash: 'hash' });
    const confirmed = (of: Payment) =>
      reconcile(row, { scope: row.scope, reference: row.reference, payment: of, attemptId: 'callback' }, BEGUN);
    expect(confirmed(payment())).toEqual({
      outcome: 'created',
      next: { ...settled(), attemptId: 'plan', timeoutMs: 0, revision: 7 },
    });
    const doubt = { ...ended, attemptId: 'plan', timeoutMs: 0, revision: 7, ...DUE, conflictingIds: [ID] };
    expect(confirmed(payment(ID, { amount: 9 }))).toEqual({ next: doubt, isMismatch: true });
    expect(confirmed(payment(ID, { paymentStatus: 'FAILED' }))).toEqual({});
  });

  it('is withdrawn by an operator at once', () => {
    expect(abandon(planned({ leasedUntil: BEGUN + 1 }), BEGUN, 1e9)).toEqual({
      next: { ...withoutBody, state: 'freed' },
    });
  });

  it('makes way for the others after an answer, and is freed for its review after the third', () => {
    const answer = new ApiError('no', { status: 403, body: '' }, { outcome: 'rejected' });
    const answered = (looks: number, error: unknown = answer) =>
      replanned(planned({ looks, leasedUntil: 1 }), error, BEGUN);
    expect(answered(0)).toEqual(planned({ looks: 1, dueAt: BEGUN + 15_000 }));
    expect(answered(1)).toEqual(planned({ looks: 2, dueAt: BEGUN + 30_000 }));
    const refused = { ...withoutBody, state: 'freed', dueAt: BEGUN + 60_000 };
    expect(answered(2)).toEqual({ ...refused, looks: 2 });
    expect(answered(0, new ApiError('no', { status: 422, body: '' }, { outcome: 'rejected' }))).toEqual(refused);
    expect(answered(1, new Error('not sent'))).toEqual(planned({ looks: 1 }));
  });
});
