// The tests of a store's effects: each runs once, alone with its payment, and is committed whole or not at all.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { delay } from '../deadline.ts';
import type { RowKey, Store, StoreRow } from '../store/contract.ts';
import { gate, many, newRow } from './test-function.ts';

/** Registers a test over two stores of one scope. */
type WithStores<Tx> = (name: string, run: (a: Store<Tx>, b: Store<Tx>) => Promise<void>) => unknown;

/** @param isTransactional whether a failed effect undoes the writes in its `tx` */
export function testEffects<Tx>(withStores: WithStores<Tx>, isTransactional: boolean): void {
  withStores('commits an effect with its rows, and shows them to the next effect', async (a, b) => {
    const { row } = await a.write(newRow({ kind: 'order', dueAt: 1 }));
    const [order, absent, effect] = [row as StoreRow, newRow(), newEffect()];
    const reads = [order, absent, newRow()];
    const first = await a.effect({ ...effect, reads }, async ({ payment, rows }) => {
      deepEqual([payment, rows], [undefined, [order, undefined, undefined]]);
      return [paymentRow(effect.id), { ...order, state: 'paid' }, absent];
    });
    equal(first, 'done');
    const paid = await b.read(order);
    deepEqual(paid.row, { ...order, state: 'paid', revision: 2 });
    const written = (await b.read(absent)).row as StoreRow;
    deepEqual([written.revision, Math.abs(written.begunAt - paid.now) < 60_000], [1, true]);
    const second = await b.effect({ ...effect, reads }, async ({ payment, rows }) => {
      deepEqual([payment?.state, payment?.data, payment?.about], ['done', { count: 1 }, undefined]);
      deepEqual(rows, [paid.row, written, undefined]);
      return [{ ...(payment as StoreRow), state: 'review', data: { count: 2 } }];
    });
    equal(second, 'done');
    const payment = (await a.read({ kind: 'payment', id: effect.id })).row as StoreRow;
    deepEqual([payment.state, payment.data, 'about' in payment], ['review', { count: 2 }, false]);
    ok((await a.write({ ...payment, state: 'done' })).isWritten);
  });

  withStores('keeps nothing of an effect that was skipped or failed', async (a, b) => {
    for (const known of [false, true]) {
      const [effect, planned] = [newEffect(), newRow({ state: 'planned' })];
      if (known) await a.write(paymentRow(effect.id));
      const key = { kind: 'payment', id: effect.id } as const;
      const before = (await a.read(key)).row;
      equal(await a.effect(effect, async () => undefined), 'skipped');
      const failing = a.effect(effect, async ({ tx }) => {
        if (isTransactional) ok((await a.write(planned, tx)).isWritten);
        throw new Error('the shop is on fire');
      });
      await rejects(failing, /the shop is on fire/);
      deepEqual([(await b.read(key)).row, (await b.read(planned)).row], [before, undefined]);
      equal(await b.effect(effect, async ({ payment }) => [payment ?? paymentRow(effect.id)]), 'done');
    }
  });

  withStores('writes nothing of an effect whose create has the payment of another', async (a, b) => {
    const paymentId = randomUUID();
    await a.write(newRow({ state: 'created', paymentId }));
    const second = (await a.write(newRow())).row as StoreRow;
    const effect = { ...newEffect(), reads: [second] };
    const taking = b.effect(effect, async () => [paymentRow(effect.id), { ...second, paymentId }]);
    await rejects(taking, { name: 'PaymentTaken' });
    deepEqual((await a.read(second)).row, second);
    equal((await a.read({ kind: 'payment', id: effect.id })).row, undefined);
  });

  withStores('is busy while another worker has the payment, and free for other payments', async (a, b) => {
    const [effect, other] = [newEffect(), newEffect()];
    const { running, leave } = await enter(a, effect);
    const answers = await Promise.all([
      b.effect(effect, async () => [paymentRow(effect.id)]),
      b.effect(other, async () => [paymentRow(other.id)]),
    ]);
    deepEqual(answers, ['busy', 'done']);
    leave();
    equal(await running, 'done');
    equal(await b.effect(effect, async ({ payment }) => payment && [payment]), 'done');
  });

  withStores('runs the effects of a payment one after the other, each over the rows of the last', async (a, b) => {
    const effect = newEffect();
    let inside = 0;
    const count = async (store: Store<Tx>): Promise<void> => {
      const result = await store.effect(effect, async ({ payment = paymentRow(effect.id, 0) }) => {
        inside += 1;
        equal(inside, 1);
        await delay(1);
        inside -= 1;
        return [{ ...payment, data: { count: countOf(payment) + 1 } }];
      });
      if (result !== 'busy') equal(result, 'done');
      else await count(store);
    };
    await many(12, index => count(index % 2 ? a : b));
    equal(countOf((await a.read({ kind: 'payment', id: effect.id })).row), 12);
  });

  for (const isNew of [true, false]) {
    withStores(`loses no write of effects that meet at ${isNew ? 'a new row' : 'a row'}`, async (a, b) => {
      const order = newRow({ kind: 'order', data: { count: 0 } });
      if (!isNew) await a.write(order);
      const effects = await many(8, async index => {
        const effect = { ...newEffect(), reads: [order] };
        return (index % 2 ? a : b).effect(effect, async ({ rows: [row = order] }) => {
          await delay(1);
          return [paymentRow(effect.id), { ...row, data: { count: countOf(row) + 1 } }];
        });
      });
      deepEqual(effects, Array(8).fill('done'));
      equal(countOf((await a.read(order)).row), 8);
    });
  }

  withStores('loses no write outside of an effect that has locked the row', async (a, b) => {
    const order = (await a.write(newRow({ kind: 'order' }))).row as StoreRow;
    const { running, leave } = await enter(a, newEffect([order]), [{ ...order, state: 'paid' }]);
    const canceling = b.write({ ...order, state: 'canceled' });
    await Promise.race([canceling, delay(50)]);
    leave();
    equal(await running, 'done');
    equal((await canceling).isWritten, false);
    equal((await b.read(order)).row?.state, 'paid');
  });
}

const newEffect = (reads: readonly RowKey[] = []) => ({
  id: randomUUID() as string,
  about: { status: 'COMPLETED' },
  reads,
});

const paymentRow = (id: string, count = 1) => newRow({ kind: 'payment', id, state: 'done', data: { count } });

const countOf = (row: StoreRow | undefined) => (row?.data as { count: number } | undefined)?.count ?? 0;

/** Runs an effect whose work waits until `leave` is called. */
async function enter<Tx>(store: Store<Tx>, effect: ReturnType<typeof newEffect>, rows: readonly StoreRow[] = []) {
  const [entered, left] = [gate(), gate()];
  const running = store.effect(effect, async () => {
    entered.resolve();
    await left.promise;
    return [paymentRow(effect.id), ...rows];
  });
  await Promise.race([entered.promise, running]);
  return { running, leave: left.resolve };
}
