// The tests of a store's effects: each runs once, alone with its payment, and is committed whole or not at all.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { delay } from '../deadline.ts';
import type { RowKey, Store, StoreRow, Written } from '../store/contract.ts';
import { type Cases, many, newRow, put, rowIn, type StoreContext } from './test-function.ts';

export const EFFECTS: Cases<StoreContext> = {
  'keeps nothing of a failed effect, and runs the next one': async ({ a, b, transaction }) => {
    for (const payment of [newPayment(), await put(a, newPayment())]) {
      const planned = newRow({ state: 'planned' });
      const order = await put(a, newOrder());
      const before = await rowIn(a, payment);
      const failing = a.effect(effectOn(payment, order), async ({ tx }) => {
        if (transaction) await put(a, planned, tx);
        throw new Error('the shop is on fire');
      });
      await rejects(failing, /the shop is on fire/);
      const stale = { ...order, revision: order.revision + 1 };
      await rejects(b.effect(effectOn(payment, order), async () => [payment, stale]));
      deepEqual(await Promise.all([payment, planned, order].map(row => rowIn(b, row))), [before, undefined, order]);
      equal(await b.effect(effectOn(payment, order), async () => [payment, order]), 'done');
    }
  },

  'is busy while another worker has the payment, and free for other payments': async ({ a, b }) => {
    const [payment, other] = [newPayment(), newPayment()];
    const running = a.effect(effectOn(payment), async () => {
      equal(await b.effect(effectOn(other), async () => [other]), 'done');
      equal(await b.effect(effectOn(payment), async () => [payment]), 'busy');
      return [payment];
    });
    equal(await running, 'done');
    equal(await b.effect(effectOn(payment), async ({ payment: found }) => found && [found]), 'done');
  },

  'loses no write of effects that meet at a new payment': stores => meetAt(stores, newOrder(), newPayment()),
  'loses no write of effects that meet at a new order': stores => meetAt(stores, newOrder()),
  'loses no write of effects that meet at a stored order': async stores =>
    meetAt(stores, await put(stores.a, newOrder())),

  'loses no write outside of an effect that has locked the row': async ({ a, b }) => {
    const [payment, order] = [newPayment(), await put(a, newOrder())];
    let canceling: Promise<Written> | undefined;
    const running = a.effect(effectOn(payment, order), async () => {
      canceling = b.write({ ...order, state: 'canceled' });
      await Promise.race([canceling, delay(50)]);
      return [payment, { ...order, state: 'paid' }];
    });
    equal(await running, 'done');
    equal((await canceling)?.isWritten, false);
    equal((await rowIn(b, order))?.state, 'paid');
  },
};

/** Counts ten effects in one order, each of another payment or all of one. @param order stored, or new */
async function meetAt({ a, b }: StoreContext, order: StoreRow, shared?: StoreRow) {
  const countIn = async (store: Store): Promise<void> => {
    const payment = shared ?? newPayment();
    const result = await store.effect(effectOn(payment, order), async ({ payment: found = payment, rows }) => {
      await delay(1);
      const row = rows[0] ?? order;
      const { count } = row.data as { count: number };
      return [found, { ...row, data: { count: count + 1 } }];
    });
    if (result === 'busy') await countIn(store);
    else equal(result, 'done');
  };
  await many(10, [a, b], countIn);
  deepEqual((await rowIn(a, order))?.data, { count: 10 });
}

const newPayment = () => newRow({ kind: 'payment', id: randomUUID(), state: 'done' });

const newOrder = () => newRow({ kind: 'order', data: { count: 0 } });

export const effectOn = ({ id }: StoreRow, ...reads: RowKey[]) => ({ id, about: { status: 'PAID' }, reads });
