// The tests that every store must pass, no matter where it keeps its rows.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RowQuery, Store, StoreRow } from '../store/contract.ts';
import { EFFECTS, effectOn } from './store-effects.ts';
import { compareWithMemory } from './store-model.ts';
import { type Cases, many, newRow, put, rowIn, type StoreContext, type TestFunction } from './test-function.ts';

/** Options of `storeSuite`. @typeParam Tx the store's transactions */
export interface StoreSuiteOptions<Tx> {
  /** Registers a test. */
  test: TestFunction;
  /** Makes two stores of this scope over the same storage, like two replicas. */
  open: (scope: string) => readonly [Store<Tx>, Store<Tx>] | Promise<readonly [Store<Tx>, Store<Tx>]>;
  /**
   * Runs the work in your own transaction. Commits when the work resolves, and rolls back when it rejects.
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
  const cases: Cases<StoreContext> = {
    ...ROWS,
    ...(transaction && TRANSACTIONS),
    ...EFFECTS,
    'behaves as memoryStore over random operations': ({ a, b }) => compareWithMemory([a, b]),
  };
  for (const [name, run] of Object.entries(cases))
    test(`a store ${name}`, async () => {
      const [a, b] = await open(`scope ${randomUUID()}`);
      const [other] = await open(`other ${randomUUID()}`);
      await run({ a, b, other, transaction });
    });
}

const BEGUN: RowQuery = { kind: 'create', states: ['begun'] };
const DUE: RowQuery = { kind: 'create', states: ['begun', 'planned'] };

const ROWS: Cases<StoreContext> = {
  'keeps scopes, kinds and odd ids apart, up to the longest': async ({ a, b, other }) => {
    const odd = ["it's; drop table --", '__proto__', 'ZAŻÓŁĆ 😀', ' ', 'Order-1', 'order-1', 'ä', 'a\u0308'];
    const long = 'x'.repeat(1_019);
    for (const id of [...odd, `${long}a`, `${long}b`]) {
      for (const kind of ['create', 'order', 'payment', 'gateway'] as const) {
        const written = newRow({ kind, id, ...(kind === 'create' && { paymentId: randomUUID() }) });
        const row = await put(a, written);
        await put(other, written);
        deepEqual(await rowIn(b, { kind, id }), { ...row, kind, id });
      }
    }
  },

  'writes a row once under contention': async ({ a, b }) => {
    const row = newRow();
    for (const revision of [0, 1]) {
      const written = await many(20, [a, b], (store, index) => store.write({ ...row, revision, data: { index } }));
      const won = written.filter(({ isWritten }) => isWritten).map(({ row }) => row);
      deepEqual(won, [await rowIn(b, row)]);
      equal(won[0]?.revision, revision + 1);
    }
  },

  'sets the times of a new row by one clock': async ({ a, b }) => {
    const { row, now } = await a.write(newRow({ dueAt: 1 }));
    ok(row && Math.abs(now - row.begunAt) < 5_000, `${row?.begunAt} is not about ${now}`);
    ok(Math.abs((row.dueAt ?? 0) - row.begunAt) < 5_000);
    for (const later of [await b.read(row), await b.list(BEGUN), await b.owner('none')])
      ok(later.now >= row.begunAt && later.now - now < 60_000);
  },

  'returns a row exactly as it was written': async ({ a, b }) => {
    const odd = { text: 'nul \u0000, half \ud83d, é 😀', extra: [null, { a: [] }], amount: 1e-7, digits: '25.50' };
    const row = newRow({ kind: 'payment', paymentId: randomUUID(), data: odd, about: { status: 'ZAŻÓŁĆ' } });
    const first = await put(a, { ...row, data: { ...odd, absent: undefined } });
    deepEqual([first, await rowIn(b, row)], [{ ...row, revision: 1, begunAt: first.begunAt }, first]);
    const times = { begunAt: 1_600_000_000_001, dueAt: 1_700_000_000_123, leasedUntil: 1_700_000_000_456 };
    const second = await put(b, { ...first, ...times });
    deepEqual(second, { ...first, ...times, revision: 2 });
    const payment = newRow({ kind: 'payment', state: 'done', data: odd });
    equal(await a.effect(effectOn(payment, row), async ({ rows }) => [payment, ...(rows as StoreRow[])]), 'done');
    deepEqual(await rowIn(b, row), { ...second, revision: 3 });
    const { row: paid, now } = await b.read(payment);
    ok(paid && Math.abs(paid.begunAt - now) < 60_000 && paid.revision === 1);
  },

  'lists rows, the first written first': async ({ a, b }) => {
    for (const id of ['c', 'a', 'b']) {
      const { begunAt } = await put(a, newRow({ id }));
      // The clock of a store may count in milliseconds.
      while ((await a.read(newRow())).now <= begunAt);
    }
    deepEqual(idsOf(await b.list(BEGUN)), ['c', 'a', 'b']);
  },

  'leases due rows, the longest due first, and each to one worker': async ({ a, b }) => {
    const { now } = await a.read(newRow());
    const begunAt = now - 120_000;
    // The first write sets the times, and the second one keeps them.
    for (const changes of [
      { id: 'late', state: 'planned', begunAt, dueAt: now - 1_000 },
      { id: 'later', begunAt, dueAt: now - 500 },
      { id: 'soon', begunAt, dueAt: now + 60_000 },
      { id: 'never', begunAt },
      { id: 'young', begunAt: now, dueAt: now },
    ] as const)
      await put(a, { ...(await put(a, newRow(changes))), ...changes });
    const due = { ...DUE, olderThan: 60_000 };
    const { rows, now: leasedAt } = await a.due(due, 1, 60_000);
    const [leased] = rows as [StoreRow];
    deepEqual([rows.length, leased.id, leased.revision], [1, 'late', 3]);
    ok(Math.abs((leased.leasedUntil ?? 0) - leasedAt - 60_000) < 5_000);
    deepEqual(idsOf(await b.due(due, 9, 60_000)), ['later']);
    deepEqual(idsOf(await a.due(due, 9, 60_000)), []);
    // A process that read the row before its lease can no longer change it.
    equal((await b.write({ ...leased, revision: 2 })).isWritten, false);
    await put(a, { ...leased, leasedUntil: now });
    deepEqual(idsOf(await b.due(DUE, 9, 60_000)), ['late', 'young']);
  },

  'leases each row to one of many concurrent workers': async ({ a, b }) => {
    await many(30, [a, b], store => put(store, newRow({ dueAt: 1 })));
    const leased = await many(12, [a, b], store => store.due(DUE, 5, 60_000));
    const ids = [...leased, await a.due(DUE, 30, 60_000)].flatMap(idsOf);
    deepEqual([ids.length, new Set(ids).size], [30, 30]);
  },
};

const TRANSACTIONS: Cases<StoreContext> = {
  'writes in a transaction of yours, and only with its commit': async ({ a, b, transaction }) => {
    ok(transaction);
    const row = newRow({ state: 'planned', dueAt: 1 });
    const undone = transaction(async tx => {
      await put(a, row, tx);
      equal(await rowIn(b, row), undefined);
      throw new Error('the shop is on fire');
    });
    await rejects(undone, /the shop is on fire/);
    equal(await rowIn(b, row), undefined);
    await transaction(async tx => {
      const written = await put(a, row, tx);
      const { isWritten, row: kept } = await a.write({ ...row, data: {} }, tx);
      deepEqual([isWritten, kept], [false, written]);
      await put(a, { ...written, data: { replaced: true } }, tx);
    });
    deepEqual((await rowIn(b, row))?.data, { replaced: true });
  },
};

const idsOf = ({ rows }: { rows: readonly StoreRow[] }) => rows.map(({ id }) => id);
