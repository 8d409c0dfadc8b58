// The tests of a store's effects: each runs once, alone with its payment, and is committed whole or not at all.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { delay } from '../deadline.ts';
import type { RowKey, Store, StoreRow } from '../store/contract.ts';
import { gate, many, newRow, put, rowIn } from './test-function.ts';

/** Registers a test over two stores of one scope. */
type WithStores<Tx> = (name: string, run: (a: Store<Tx>, b: Store<Tx>) => Promise<void>) => unknown;

/** @param isTransactional whether a failed effect undoes the writes in its `tx` */
export function testEffects<Tx>(withStores: WithStores<Tx>, isTransactional: boolean): void {
  withStores('commits an effect with its rows, and shows them to the next effect', async (a, b) => {
    const [order, absent, effect] = [await put(a, newRow({ kind: 'order', dueAt: 1 })), newRow(), newEffect()];
    const reads = [order, absent, newRow()];
    const first = a.effect({ ...effect, reads }, async ({ payment, rows }) => {
      deepEqual([payment, rows], [undefined, [order, undefined, undefined]]);
      return [paymentRow(effect.id), { ...order, state: 'paid' }, absent];
    });
    equal(await first, 'done');
    const { row: paid, now } = await b.read(order);
    deepEqual(paid, { ...order, state: 'paid', revision: 2 });
    const written = (await rowIn(b, absent)) as StoreRow;
    deepEqual([written.revision, Math.abs(written.begunAt - now) < 60_000], [1, true]);
    const second = b.effect({ ...effect, reads }, async ({ payment, rows }) => {
      deepEqual([payment?.state, payment?.data, payment?.about], ['done', { count: 1 }, undefined]);
      equal(Math.abs((payment?.begunAt ?? 0) - now) < 60_000, true);
      deepEqual(rows, [paid, written, undefined]);
      return [{ ...(payment as StoreRow), state: 'review', data: { count: 2 } }];
    });
    equal(await second, 'done');
    const payment = (await rowIn(a, keyOf(effect))) as StoreRow;
    deepEqual([payment.state, payment.data, 'about' in payment], ['review', { count: 2 }, false]);
    await put(a, { ...payment, state: 'done' });
  });

  for (const isKnown of [false, true]) {
    withStores(
      `keeps nothing of a skipped or failed effect on a ${isKnown ? 'known' : 'new'} payment`,
      async (a, b) => {
        const [effect, planned, taken] = [
          newEffect(),
          newRow({ state: 'planned' }),
          newRow({ paymentId: randomUUID() }),
        ];
        if (isKnown) await put(a, paymentRow(effect.id));
        await put(a, taken);
        const before = await rowIn(a, keyOf(effect));
        const create = await put(a, newRow());
        equal(await a.effect(effect, async () => undefined), 'skipped');
        const failing = a.effect(effect, async ({ tx }) => {
          if (isTransactional) await put(a, planned, tx);
          throw new Error('the shop is on fire');
        });
        await rejects(failing, /the shop is on fire/);
        for (const refused of [{ paymentId: taken.paymentId }, { revision: create.revision + 1 }]) {
          const changing = b.effect({ ...effect, reads: [create] }, async ({ payment = paymentRow(effect.id) }) => [
            payment,
            { ...create, ...refused },
          ]);
          await rejects(changing, refused.paymentId ? { name: 'PaymentTaken' } : Error);
        }
        deepEqual(await Promise.all([keyOf(effect), planned, create].map(key => rowIn(b, key))), [
          before,
          undefined,
          create,
        ]);
        equal(await b.effect(effect, async ({ payment = paymentRow(effect.id) }) => [payment]), 'done');
      },
    );
  }

  withStores('is busy while another worker has the payment, and free for other payments', async (a, b) => {
    const [effect, other] = [newEffect(), newEffect()];
    const { running, leave } = await enter(a, effect);
    const answers = [effect, other].map(next => b.effect(next, async () => [paymentRow(next.id)]));
    deepEqual(await Promise.all(answers), ['busy', 'done']);
    leave();
    equal(await running, 'done');
    equal(await b.effect(effect, async ({ payment }) => payment && [payment]), 'done');
  });

  for (const [kind, isNew] of [
    ['payment', true],
    ['order', true],
    ['order', false],
  ] as const) {
    withStores(`loses no write of effects that meet at ${isNew ? 'a new' : 'a stored'} ${kind}`, async (a, b) => {
      const shared = newRow({ kind, id: randomUUID(), state: 'done', data: { count: 0 } });
      if (!isNew) await put(a, shared);
      let inside = 0;
      const count = async (store: Store<Tx>): Promise<void> => {
        const effect = kind === 'payment' ? { ...newEffect(), id: shared.id } : newEffect([shared]);
        const result = await store.effect(effect, async ({ payment, rows }) => {
          const row = (kind === 'payment' ? payment : rows[0]) ?? shared;
          inside += 1;
          // Before its first write, only its effects can lock an order.
          if (kind === 'payment') equal(inside, 1);
          await delay(1);
          inside -= 1;
          const counted = { ...row, data: { count: countOf(row) + 1 } };
          return kind === 'payment' ? [counted] : [paymentRow(effect.id), counted];
        });
        if (result === 'busy') await count(store);
        else equal(result, 'done');
      };
      await many(10, [a, b], count);
      equal(countOf(await rowIn(a, shared)), 10);
    });
  }

  withStores('loses no write outside of an effect that has locked the row', async (a, b) => {
    const order = await put(a, newRow({ kind: 'order' }));
    const { running, leave } = await enter(a, newEffect([order]), [{ ...order, state: 'paid' }]);
    const canceling = b.write({ ...order, state: 'canceled' });
    await Promise.race([canceling, delay(50)]);
    leave();
    equal(await running, 'done');
    equal((await canceling).isWritten, false);
    equal((await rowIn(b, order))?.state, 'paid');
  });
}

const newEffect = (reads: readonly RowKey[] = []) => ({
  id: randomUUID() as string,
  about: { status: 'COMPLETED' },
  reads,
});

const keyOf = ({ id }: { id: string }): RowKey => ({ kind: 'payment', id });

const paymentRow = (id: string) => newRow({ kind: 'payment', id, state: 'done', data: { count: 1 } });

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
