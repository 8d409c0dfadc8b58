// The tests that every store must pass, no matter where it keeps its rows.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RowQuery, Store, StoreRow } from '../store/contract.ts';
import { testEffects } from './store-effects.ts';
import { compareWithMemory } from './store-model.ts';
import { many, newRow, type TestFunction } from './test-function.ts';

/** Options of `storeSuite`. @typeParam Tx the store's transactions */
export interface StoreSuiteOptions<Tx> {
  /** Registers a test. */
  test: TestFunction;
  /** Makes two stores of this scope over the same storage, as two replicas have them. */
  open: (scope: string) => readonly [Store<Tx>, Store<Tx>] | Promise<readonly [Store<Tx>, Store<Tx>]>;
  /**
   * Runs a work in a transaction of yours. Commits it when the work resolves, and rolls it back when the work rejects.
   * Omit it for a store without transactions.
   */
  transaction?: ((work: (tx: Tx) => Promise<void>) => Promise<void>) | undefined;
}

/**
 * Registers the tests that every {@link Store} must pass: its methods alone and under contention, effects, and random
 * operations compared with `memoryStore`. Scopes are random, so the storage may be shared.
 *
 * @example
 * storeSuite({ test, open: scope => [myStore(client, { scope }), myStore(other, { scope })], transaction });
 */
export function storeSuite<Tx>({ test, open, transaction }: StoreSuiteOptions<Tx>): void {
  const withStores = (name: string, run: (a: Store<Tx>, b: Store<Tx>) => Promise<void>) =>
    test(`a store ${name}`, async () => {
      const [a, b] = await open(`scope ${randomUUID()}`);
      await run(a, b);
    });

  withStores('writes a row once, and then returns the stored one', async (a, b) => {
    const row = newRow();
    equal((await a.read(row)).row, undefined);
    const first = await a.write(row);
    deepEqual([first.isWritten, { ...first.row, begunAt: 0 }], [true, { ...row, revision: 1 }]);
    const second = await b.write({ ...row, data: { another: true } });
    deepEqual([second.isWritten, second.row], [false, first.row]);
    deepEqual((await b.read(row)).row, first.row);
  });

  withStores('sets the times of a new row by one clock', async (a, b) => {
    const { row, now } = await a.write(newRow({ dueAt: 1 }));
    ok(row && Math.abs(now - row.begunAt) < 5_000, `${row?.begunAt} is not about ${now}`);
    ok(Math.abs((row.dueAt ?? 0) - row.begunAt) < 5_000);
    deepEqual((await b.read(row)).row, row);
    const answers = [await b.read(row), await b.list({ kind: 'create', states: ['begun'] }), await b.owner('none')];
    for (const later of answers) ok(later.now >= row.begunAt && later.now - now < 60_000);
  });

  test('a store keeps scopes, kinds and odd ids apart, up to the longest', async () => {
    const [a, b] = await open(`scope ${randomUUID()}`);
    const [other] = await open(`other ${randomUUID()}`);
    const long = ['a', 'b'].map(end => `${'x'.repeat(1_019)}${end}`);
    for (const id of [
      "it's; drop table --",
      '__proto__',
      'ZAŻÓŁĆ 😀',
      ' ',
      'Order-1',
      'order-1',
      'ä',
      'a\u0308',
      ...long,
    ]) {
      for (const store of [a, other]) {
        for (const kind of ['create', 'order', 'payment', 'gateway'] as const)
          ok((await store.write(newRow({ kind, id }))).isWritten, `${kind} ${id}`);
      }
      const { row } = await b.read({ kind: 'order', id });
      deepEqual([row?.kind, row?.id], ['order', id]);
      ok(!(await b.write(newRow({ id }))).isWritten);
    }
  });

  withStores('returns a row exactly as it was written', async (a, b) => {
    const payment = {
      redirectUrl: 'nul \u0000, half \ud83d, é 😀',
      extra: [null, { a: [] }],
      amount: 1e-7,
      digits: '25.50',
    };
    const { row } = await a.write(newRow({ kind: 'payment' }));
    ok(row);
    const changed: StoreRow = {
      ...row,
      state: 'begun',
      begunAt: 1_600_000_000_001,
      dueAt: 1_700_000_000_123,
      leasedUntil: 1_700_000_000_456,
      paymentId: randomUUID(),
      data: { payment },
      about: { status: 'ZAŻÓŁĆ' },
    };
    equal((await a.write(changed)).isWritten, true);
    deepEqual((await b.read(row)).row, { ...changed, revision: 2 });
    const { dueAt, leasedUntil, paymentId, about, ...cleared } = { ...changed, revision: 2, state: 'done' };
    deepEqual((await b.write(cleared)).row, { ...cleared, revision: 3 });
    deepEqual((await a.read(row)).row, { ...cleared, revision: 3 });
  });

  withStores('writes a row only over its revision, and once under contention', async (a, b) => {
    const row = newRow();
    const inserted = await many(20, index => (index % 2 ? a : b).write({ ...row, data: { index } }));
    equal(inserted.filter(({ isWritten }) => isWritten).length, 1);
    const replaced = await many(20, index => (index % 2 ? a : b).write({ ...row, revision: 1, data: { index } }));
    equal(replaced.filter(({ isWritten }) => isWritten).length, 1);
    for (const revision of [0, 1, 3]) equal((await b.write({ ...row, revision })).isWritten, false);
    equal((await b.write(newRow({ revision: 1 }))).isWritten, false);
    equal((await a.read(row)).row?.revision, 2);
  });

  withStores('gives a payment to one create', async (a, b) => {
    const paymentId = randomUUID();
    equal((await a.owner(paymentId)).row, undefined);
    const { row } = await a.write(newRow({ state: 'created', paymentId }));
    ok(row);
    deepEqual((await b.owner(paymentId)).row, row);
    const second = (await b.write(newRow())).row as StoreRow;
    await rejects(b.write(newRow({ paymentId })), { name: 'PaymentTaken' });
    await rejects(b.write({ ...second, paymentId }), { name: 'PaymentTaken' });
    deepEqual((await a.read(second)).row, second);
    const [other] = await open(`other ${randomUUID()}`);
    ok((await other.write(newRow({ paymentId }))).isWritten);
    const { paymentId: _, ...without } = row;
    ok((await a.write(without)).isWritten);
    ok((await b.write({ ...second, paymentId })).isWritten);
    equal((await a.owner(paymentId)).row?.id, second.id);
  });

  withStores('lists the rows of one kind in some states, the first written first', async (a, b) => {
    const ids = ['c', 'a', 'b'];
    for (const id of ids) {
      const { row } = await a.write(newRow({ id }));
      // The clock of a store may count in milliseconds.
      while ((await a.read({ kind: 'create', id })).now <= (row?.begunAt ?? 0));
    }
    await a.write(newRow({ id: 'freed', state: 'freed' }));
    await a.write(newRow({ id: 'other kind', kind: 'order' }));
    const idsOf = async (states: string[]) => (await b.list({ kind: 'create', states })).rows.map(({ id }) => id);
    deepEqual(await idsOf(['begun']), ids);
    deepEqual(await idsOf(['begun', 'freed']), [...ids, 'freed']);
    deepEqual(await idsOf(['planned']), []);
  });

  const query: RowQuery = { kind: 'create', states: ['begun', 'planned'] };
  const idsOf = ({ rows }: { rows: readonly StoreRow[] }) => rows.map(({ id }) => id);
  /** Writes a row with these times. */
  const writeAt = async (store: Store<Tx>, id: string, times: Pick<Partial<StoreRow>, 'begunAt' | 'dueAt'>) => {
    const { row } = await store.write(newRow({ id }));
    await store.write({ ...(row as StoreRow), ...times });
  };

  withStores('leases due rows, the longest due first, and each to one worker', async (a, b) => {
    const { now } = await a.read(newRow());
    const dueAt = { late: now - 1_000, later: now - 500, soon: now + 60_000 };
    for (const [id, at] of Object.entries(dueAt)) await writeAt(a, id, { begunAt: now, dueAt: at });
    await a.write(newRow({ id: 'never' }));
    await a.write(newRow({ id: 'other state', state: 'created', dueAt: 1 }));
    await a.write(newRow({ id: 'other kind', kind: 'payment', dueAt: 1 }));
    const first = await a.due(query, 1, 60_000);
    deepEqual(
      first.rows.map(({ id, revision }) => [id, revision]),
      [['late', 3]],
    );
    ok(Math.abs((first.rows[0]?.leasedUntil ?? 0) - first.now - 60_000) < 5_000);
    deepEqual(idsOf(await b.due(query, 9, 60_000)), ['later']);
    deepEqual(idsOf(await a.due(query, 9, 60_000)), []);
    const leased = first.rows[0] as StoreRow;
    // A process that read the row before its lease can no longer change it.
    equal((await b.write({ ...leased, revision: 2 })).isWritten, false);
    equal((await a.write({ ...leased, leasedUntil: now })).isWritten, true);
    deepEqual(idsOf(await b.due(query, 9, 60_000)), ['late']);
  });

  withStores('leases a row again once its lease has ended', async (a, b) => {
    const { row } = await a.write(newRow({ dueAt: 1 }));
    const { rows, now } = await a.due(query, 1, 20);
    equal(rows.length, 1);
    while ((await b.read(row as StoreRow)).now < now + 40);
    equal((await b.due(query, 1, 20)).rows.length, 1);
  });

  withStores('leases only rows that were written so long ago, and at most the limit', async (a, b) => {
    const { now } = await a.read(newRow());
    for (const id of ['old', 'older']) await writeAt(a, id, { begunAt: now - 120_000, dueAt: now - id.length });
    await a.write(newRow({ id: 'young', dueAt: 1 }));
    deepEqual(idsOf(await b.due({ ...query, olderThan: 60_000 }, 1, 60_000)), ['older']);
    deepEqual(idsOf(await b.due({ ...query, olderThan: 60_000 }, 9, 60_000)), ['old']);
  });

  withStores('leases each row to one of many concurrent workers', async (a, b) => {
    await many(30, index => a.write(newRow({ id: String(index), dueAt: 1 })));
    const leased = await many(12, index => (index % 2 ? a : b).due(query, 5, 60_000));
    const ids = leased.flatMap(idsOf);
    equal(new Set(ids).size, ids.length);
    const rest = await a.due(query, 30, 60_000);
    equal(ids.length + rest.rows.length, 30);
  });

  testEffects(withStores, transaction !== undefined);

  withStores('behaves as memoryStore over random operations', (a, b) => compareWithMemory([a, b]));

  if (!transaction) return;

  withStores('writes in a transaction of yours, and only with its commit', async (a, b) => {
    const row = newRow({ state: 'planned', dueAt: 1 });
    const undone = transaction(async tx => {
      ok((await a.write(row, tx)).isWritten);
      equal((await b.read(row)).row, undefined);
      throw new Error('the shop is on fire');
    });
    await rejects(undone, /the shop is on fire/);
    equal((await b.read(row)).row, undefined);
    await transaction(async tx => {
      const { row: written } = await a.write(row, tx);
      const again = await a.write({ ...row, data: {} }, tx);
      deepEqual([again.isWritten, again.row], [false, written]);
      const replaced = await a.write({ ...(written as StoreRow), data: { replaced: true } }, tx);
      deepEqual([replaced.isWritten, replaced.row?.revision], [true, 2]);
      equal((await a.write({ ...row, revision: 1 }, tx)).isWritten, false);
    });
    deepEqual((await b.read(row)).row?.data, { replaced: true });
  });
}
