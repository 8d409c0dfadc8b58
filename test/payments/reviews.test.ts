// resolveReview for an effect that was cut off: it counts as done, as if the handler had finished it.
import { GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { beforeEach, expect, it } from 'vitest';
import type { RowKind, StoreRow } from '../../src/store/contract.ts';
import { fakeTimers } from '../support/passing-time.ts';
import { CARD_ORDER, openOrderShop } from './order-shop.ts';

beforeEach(fakeTimers);

const DEPOSIT = { ...CARD_ORDER, reference: 'deposit-1' } as const;
const PAYOUT = { ...CARD_ORDER, paymentMethod: 'SEPA', reference: 'payout-1' } as const;

/** A shop whose effects can be cut off after a part of their writes was committed. */
function openCutShop(options: Parameters<typeof openOrderShop>[0] = {}) {
  const store = memoryStore();
  const { effect } = store;
  const shop = openOrderShop({ store, ...options });
  /** Cuts off the effect of a callback. @returns a function that resolves its review */
  const cutOff = async (move: 'pay' | 'decline', reference: string) => {
    store.effect = async ({ id, about }) => {
      const { row } = await store.read({ kind: 'payment', id });
      const { revision, data } = { revision: 0, data: {}, ...row };
      await store.write({ kind: 'payment', id, state: 'begun', revision, begunAt: 0, data, about });
      return 'uncertain';
    };
    await shop[move](reference);
    store.effect = effect;
    const [review] = await shop.gateway.reviews();
    expect(review).toMatchObject({ reason: 'effect_uncertain', reference });
    return () => shop.gateway.resolveReview(review?.id ?? '', review?.status ?? '');
  };
  /** Lets another write come before the next one of each of these rows. */
  const overtaken = (...kinds: RowKind[]) => {
    const { write } = store;
    const left = new Set(kinds);
    store.write = async row => (left.delete(row.kind) ? { isWritten: false, row, now: 0 } : write(row));
  };
  return { ...shop, cutOff, overtaken };
}

const WRITES: [string, RowKind[]][] = [
  ['the create', ['create']],
  ['the order', ['order']],
  ['both', ['create', 'order']],
];
it.each(WRITES)('a deposit pays its order after another write of %s, and a second goes to review', async (_, kinds) => {
  const { gateway, overtaken, cutOff, decline, pay, got } = openCutShop();
  await gateway.checkout('order-1', CARD_ORDER);
  await gateway.checkout('order-1', { ...CARD_ORDER, paymentMethod: 'BLIK' });
  const resolve = await cutOff('pay', 'order-1.1');
  overtaken(...kinds);
  await resolve();
  expect(await gateway.order('order-1')).toMatchObject({ state: 'paid' });
  await pay('order-1.2');
  expect(got).toEqual(['onReview already_paid order-1.2']);
  await decline('order-1.1');
  expect(got.at(-1)).toBe('onReversed order-1 order-1.1');
});

it('a deposit pays its order too if an open review has the same status', async () => {
  const { gateway, store, cutOff } = openCutShop();
  await gateway.checkout('order-1', CARD_ORDER);
  const resolve = await cutOff('pay', 'order-1.1');
  const [review] = await gateway.reviews();
  const { row } = await store.read({ kind: 'payment', id: review?.id ?? '' });
  const open = { ...review, reason: 'unknown_reference', since: 0 };
  await store.write({ ...(row as StoreRow), data: { reviews: [open] } });
  await resolve();
  expect([await gateway.reviews(), await gateway.order('order-1')]).toMatchObject([[], { state: 'paid' }]);
});

it('a deposit then pays its reference, and a second payment of it goes to review', async () => {
  const { gateway, sandbox, overtaken, cutOff, pay, got } = openCutShop();
  await gateway.createDeposit(DEPOSIT);
  const resolve = await cutOff('pay', 'deposit-1');
  overtaken('payment');
  await resolve();
  expect(await gateway.reviews()).toEqual([]);
  await new GatewayClient(sandbox.clientOptions).createDeposit(DEPOSIT);
  await pay('deposit-1');
  expect(got).toEqual(['onReview already_paid deposit-1']);
});

it('a reversal makes the order payable again, and the same payment goes to review if it completes again', async () => {
  const { gateway, store, cutOff, pay, got } = openCutShop();
  await gateway.checkout('order-1', CARD_ORDER);
  await pay('order-1.1');
  const resolve = await cutOff('decline', 'order-1.1');
  const { write } = store;
  store.write = row => (row.kind === 'payment' ? Promise.reject(new Error('a crash')) : write(row));
  await expect(resolve()).rejects.toThrow('a crash');
  store.write = write;
  expect(await gateway.order('order-1')).toMatchObject({ state: 'reversed' });
  await gateway.checkout('order-1', CARD_ORDER);
  await pay('order-1.2');
  await resolve();
  expect(await gateway.order('order-1')).toMatchObject({ state: 'paid' });
  await pay('order-1.1');
  expect(got.at(-1)).toBe('onReview paid_again order-1.1');
});

it('another amount does not pay the order', async () => {
  const answer = async ({ method }: Request, response: Response) => {
    if (method !== 'GET') return response;
    const { result } = (await response.json()) as { result: object };
    return Response.json({ result: { ...result, amount: 1 } });
  };
  const { gateway, cutOff } = openCutShop({ answer });
  await gateway.checkout('order-1', CARD_ORDER);
  const resolve = await cutOff('pay', 'order-1.1');
  await resolve();
  expect(await gateway.order('order-1')).not.toMatchObject({ state: 'paid' });
});

it('a failed payout goes to review if it completes later', async () => {
  const { gateway, cutOff, pay, got } = openCutShop();
  await gateway.createWithdrawal(PAYOUT);
  const resolve = await cutOff('decline', 'payout-1');
  await resolve();
  await pay('payout-1');
  expect(got).toEqual(['onReview paid_again payout-1']);
});
