// The tests of a store's effects: each runs once, alone with its payment, and is committed whole or not at all.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { delay } from '../deadline.ts';
import type { RowKey, Store, StoreEffect, StoreRow, Written } from '../store/contract.ts';
import { type Cases, many, newRow, put, rowIn, type StoreContext } from './test-function.ts';

export const EFFECTS: Cases<StoreContext> = {
  'commits an effect with its rows, and shows them to the next effect': async ({ a, b }) => {
    const [payment, order, absent] = [newPayment(), await put(a, newRow({ kind: 'order', dueAt: 1 })), newRow()];
    const effect = effectOn(payment, order, absent, newRow());
    const first = a.effect(effect, async locked => {
      deepEqual([locked.payment, locked.rows], [undefined, [order, undefined, undefined]]);
      return [payment, { ...order, state: 'paid' }, absent];
    });
    equal(await first, 'done');
    const { row: paid, now } = await b.read(order);
    const [marked, written] = [await rowIn(b, payment), await rowIn(b, absent)];
    deepEqual(paid, { ...order, state: 'paid', revision: 2 });
    deepEqual({ ...marked, revision: 0, begunAt: 0 }, payment);
    deepEqual({ ...written, begunAt: 0 }, { ...absent, revision: 1 });
    for (const row of [marked, written]) ok(Math.abs((row?.begunAt ?? 0) - now) < 60_000);
    const second = b.effect(effect, async locked => {
      deepEqual([locked.payment, locked.rows], [marked, [paid, written, undefined]]);
      return [{ ...payment, ...locked.payment, state: 'review', data: { count: 2 } }];
    });
    equal(await second, 'done');
    const reviewed = (await rowIn(a, payment)) as StoreRow;
    deepEqual({ ...reviewed, revision: 0, begunAt: 0 }, { ...payment, state: 'review', data: { count: 2 } });
    await put(a, reviewed);
  },

  'keeps nothing of a skipped or failed effect on a new payment': stores => keepNothing(stores, newPayment()),
  'keeps nothing of a skipped or failed effect on a known payment': async stores =>
    keepNothing(stores, await put(stores.a, newPayment())),

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

  'loses no write of effects that meet at a new payment': stores => meetAt(stores, newPayment()),
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

/** @param payment stored, or new */
async function keepNothing({ a, b, transaction }: StoreContext, payment: StoreRow): Promise<void> {
  const [create, taken] = [await put(a, newRow()), await put(a, newRow({ paymentId: randomUUID() }))];
  const [planned, before] = [newRow({ state: 'planned' }), await rowIn(a, payment)];
  equal(await a.effect(effectOn(payment), async () => undefined), 'skipped');
  const failing = a.effect(effectOn(payment), async ({ tx }) => {
    if (transaction) await put(a, planned, tx);
    throw new Error('the shop is on fire');
  });
  await rejects(failing, /the shop is on fire/);
  const replace = (changes: Partial<StoreRow>) =>
    b.effect(effectOn(payment, create), async () => [payment, { ...create, ...changes }]);
  await rejects(replace({ paymentId: taken.paymentId }), { name: 'PaymentTaken' });
  await rejects(replace({ revision: create.revision + 1 }));
  deepEqual(await Promise.all([payment, planned, create].map(row => rowIn(b, row))), [before, undefined, create]);
  equal(await b.effect(effectOn(payment), async () => [payment]), 'done');
}

/** @param shared stored, or new */
async function meetAt({ a, b }: StoreContext, shared: StoreRow): Promise<void> {
  const isPayment = shared.kind === 'payment';
  let inside = 0;
  const countIn = async (store: Store): Promise<void> => {
    const payment = isPayment ? shared : newPayment();
    const effect = effectOn(payment, ...(isPayment ? [] : [shared]));
    const result = await store.effect(effect, async ({ payment: found, rows }) => {
      inside += 1;
      // Before its first write, only its effects can lock an order.
      if (isPayment) equal(inside, 1);
      await delay(1);
      inside -= 1;
      const row = (isPayment ? found : rows[0]) ?? shared;
      const { count } = row.data as { count: number };
      const counted = { ...row, data: { count: count + 1 } };
      return isPayment ? [counted] : [payment, counted];
    });
    if (result === 'busy') await countIn(store);
    else equal(result, 'done');
  };
  await many(10, [a, b], countIn);
  deepEqual((await rowIn(a, shared))?.data, { count: 10 });
}

const newPayment = () => newRow({ kind: 'payment', id: randomUUID(), state: 'done', data: { count: 0 } });

const newOrder = () => newRow({ kind: 'order', data: { count: 0 } });

const effectOn = ({ id }: StoreRow, ...reads: RowKey[]): StoreEffect => ({ id, about: { status: 'PAID' }, reads });
