// The tests that every store of a journal must pass, no matter where it stores its rows.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JournalRow, JournalStore } from '../journal/contract.ts';
import { memoryJournal } from '../journal/memory.ts';
import { playCreates } from './journal-model.ts';
import { pick, seeded, type TestFunction } from './test-function.ts';

/** Options of `journalSuite`. */
export interface JournalSuiteOptions {
  /** Registers a test. */
  test: TestFunction;
  /** Makes two stores over the same storage, as two replicas have them. Called once per test. */
  make: () => readonly [JournalStore, JournalStore] | Promise<readonly [JournalStore, JournalStore]>;
}

/**
 * Registers the tests that every {@link JournalStore} must pass. They run its five methods alone and under contention,
 * random operations compared with `memoryJournal`, and creates of processes that crash at any step. Scopes are random,
 * so the storage may be shared.
 *
 * @example
 * journalSuite({ test, make: () => [myJournal(client), myJournal(otherClient)] }); // test of Vitest, Jest or node:test
 */
export function journalSuite({ test, make }: JournalSuiteOptions): void {
  const newRow = (changes: Partial<JournalRow> = {}): JournalRow => ({
    scope: `scope ${randomUUID()}`,
    reference: `order ${randomUUID()}`,
    state: 'begun',
    attemptId: randomUUID(),
    begunAt: 0,
    timeoutMs: 60_000,
    paymentType: 'WITHDRAWAL',
    paymentMethod: 'SEPA',
    amount: '25.5',
    currency: 'EUR',
    bodyHash: 'hash',
    conflictingIds: [],
    looks: 0,
    revision: 1,
    ...changes,
  });
  const many = <T>(count: number, make: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => make(index)));

  /** Inserts a row with another due time than its beginning. */
  const insertDue = async (store: JournalStore, row: JournalRow, dueAt: number) => {
    await store.insert(row);
    await store.replace({ ...(await store.read(row)).row, ...row, dueAt }, 1);
  };

  test('a journal writes a reference down once, and then answers what is there', async () => {
    const [a, b] = await make();
    const row = newRow();
    deepEqual((await a.read(row)).row, undefined);
    const first = await a.insert(row);
    deepEqual([first.isInserted, { ...first.row, begunAt: 0 }], [true, row]);
    const second = await b.insert({ ...row, attemptId: randomUUID(), amount: '99' });
    deepEqual([second.isInserted, second.row], [false, first.row]);
    deepEqual((await b.read(row)).row, first.row);
  });

  test('a journal sets the beginning by its own clock, which all replicas share', async () => {
    const [a, b] = await make();
    const { row, now } = await a.insert(newRow());
    ok(Math.abs(now - row.begunAt) < 5_000, `${row.begunAt} is not about ${now}`);
    const answers = [await b.read(row), await b.list({ states: ['begun'], scope: row.scope }), await b.replace(row, 9)];
    for (const later of answers) ok(later.now >= row.begunAt && later.now - now < 60_000);
  });

  test('a journal sets by that clock also from when on a new row is due', async () => {
    const [a, b] = await make();
    const { row } = await a.insert(newRow({ state: 'planned', dueAt: 1 }));
    equal(row.dueAt, row.begunAt);
    deepEqual((await b.read(row)).row, row);
  });

  test('a journal hands plans out in the order of planning, and no other row with them', async () => {
    const [a, b] = await make();
    const scope = randomUUID();
    const references = ['c', 'a', 'b'];
    for (const reference of references) {
      const { row } = await a.insert(newRow({ scope, reference, state: 'planned', body: '{}', dueAt: 0 }));
      while ((await a.read(row)).now <= row.begunAt);
    }
    await a.insert(newRow({ scope, reference: 'begun', dueAt: 0 }));
    await a.insert(newRow({ reference: 'other scope', state: 'planned', dueAt: 0 }));
    const claimed = [];
    for (const store of [a, b]) claimed.push(...(await store.claim({ scope, states: ['planned'] }, 2, 60_000)).rows);
    deepEqual(
      claimed.map(({ reference, body }) => [reference, body]),
      references.map(reference => [reference, '{}']),
    );
  });

  test('a journal keeps scopes apart, and odd references too, up to the longest', async () => {
    const [a, b] = await make();
    const long = ['a', 'b'].map(end => `${'x'.repeat(1_019)}${end}`);
    for (const reference of ["it's; drop table --", '__proto__', 'ZAŻÓŁĆ 😀', ' ', 'Order-1', 'order-1', ...long]) {
      const row = newRow({ reference });
      ok((await a.insert(row)).isInserted);
      ok((await a.insert({ ...row, scope: `${row.scope} other` })).isInserted);
      equal((await b.read(row)).row?.reference, reference);
      ok(!(await b.insert(row)).isInserted);
    }
  });

  test('a journal gives back a row exactly as it got it', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    const payment = { id, redirectUrl: 'nul \u0000, half \ud83d, é 😀', extra: [null, { a: [] }], amount: 1e-7 };
    const { row } = await a.insert(newRow());
    const changed: JournalRow = {
      ...row,
      state: 'created',
      paymentId: id,
      conflictingIds: [randomUUID()],
      result: { payment } as never,
      body: '{"amount":25.50}',
      dueAt: 1_700_000_000_123,
      looks: 3,
      leasedUntil: 1_700_000_000_456,
    };
    equal((await a.replace(changed, 1)).isReplaced, true);
    deepEqual((await b.read(row)).row, { ...changed, revision: 2 });
    const { dueAt, leasedUntil, body, ...cleared } = changed;
    equal((await b.replace(cleared, 2)).isReplaced, true);
    deepEqual((await a.read(row)).row, { ...cleared, revision: 3 });
  });

  test('a journal lets one of many at once write a reference down', async () => {
    const [a, b] = await make();
    const row = newRow();
    const inserted = await many(20, index => (index % 2 ? a : b).insert({ ...row, attemptId: randomUUID() }));
    equal(inserted.filter(({ isInserted }) => isInserted).length, 1);
    equal(new Set(inserted.map(({ row }) => row.attemptId)).size, 1);
  });

  test('a journal changes a row only if it has not changed in between', async () => {
    const [a, b] = await make();
    const { row } = await a.insert(newRow());
    equal((await a.replace({ ...row, state: 'freed' }, 1)).isReplaced, true);
    equal((await b.replace({ ...row, state: 'created' }, 1)).isReplaced, false);
    equal((await b.replace({ ...row, reference: 'another' }, 1)).isReplaced, false);
    deepEqual((await b.read(row)).row, { ...row, state: 'freed', revision: 2 });
    const replaced = await many(20, index => (index % 2 ? a : b).replace({ ...row, looks: index }, 2));
    equal(replaced.filter(({ isReplaced }) => isReplaced).length, 1);
    equal((await a.read(row)).row?.revision, 3);
  });

  test('a journal lists the rows of some states, of one scope or of all, the oldest first', async () => {
    const [a, b] = await make();
    const scope = randomUUID();
    const references = [];
    for (const reference of ['c', 'a', 'b']) {
      const { row } = await a.insert(newRow({ scope, reference }));
      references.push(reference);
      // The clock of a store may count in milliseconds.
      while ((await a.read(row)).now <= row.begunAt);
    }
    await a.insert(newRow({ scope, state: 'freed' }));
    const of = async (query: Parameters<JournalStore['list']>[0]) => (await b.list(query)).rows;
    deepEqual(
      (await of({ scope, states: ['begun'] })).map(({ reference }) => reference),
      references,
    );
    equal((await of({ scope, states: ['begun', 'freed'] })).length, 4);
    deepEqual(await of({ scope, states: ['planned'] }), []);
    const all = await of({ states: ['begun'] });
    ok(references.every(reference => all.some(row => row.scope === scope && row.reference === reference)));
  });

  test('a journal hands rows out that are due, those due first coming first, and each to one worker', async () => {
    const [a, b] = await make();
    const scope = randomUUID();
    const { now } = await a.read({ scope, reference: 'none' });
    const dueAt = { late: now - 1_000, later: now - 500, soon: now + 60_000 };
    for (const [reference, at] of Object.entries(dueAt)) await insertDue(a, newRow({ scope, reference }), at);
    await a.insert(newRow({ scope, reference: 'never' }));
    await a.insert(newRow({ scope, reference: 'other state', state: 'created', dueAt: now - 2_000 }));
    const query = { scope, states: ['begun'] } as const;
    const first = await a.claim(query, 1, 60_000);
    deepEqual(
      first.rows.map(({ reference, revision }) => [reference, revision]),
      [['late', 3]],
    );
    ok(Math.abs((first.rows[0]?.leasedUntil ?? 0) - first.now - 60_000) < 5_000);
    deepEqual(
      (await b.claim(query, 9, 60_000)).rows.map(({ reference }) => reference),
      ['later'],
    );
    deepEqual((await a.claim(query, 9, 60_000)).rows, []);
    const [claimed] = first.rows;
    // A process that read the row before its claim can no longer change it.
    equal((await b.replace({ ...newRow(), ...claimed, looks: 9 }, 2)).isReplaced, false);
    equal((await a.replace({ ...newRow(), ...claimed, leasedUntil: now }, 3)).isReplaced, true);
    deepEqual(
      (await b.claim(query, 9, 60_000)).rows.map(({ reference }) => reference),
      ['late'],
    );
  });

  test('a journal hands a row out again once its lease has ended', async () => {
    const [a, b] = await make();
    const { row } = await a.insert(newRow({ dueAt: 1 }));
    const query = { scope: row.scope, states: ['begun'] } as const;
    const { rows, now } = await a.claim(query, 1, 20);
    equal(rows.length, 1);
    while ((await b.read(row)).now < now + 40);
    equal((await b.claim(query, 1, 20)).rows.length, 1);
  });

  test('a journal hands out no more rows than it was asked for, of all states together', async () => {
    const [a, b] = await make();
    const scope = randomUUID();
    await a.insert(newRow({ scope, reference: 'begun', dueAt: 1 }));
    await a.insert(newRow({ scope, reference: 'created', state: 'created', dueAt: 1 }));
    const query = { scope, states: ['begun', 'created'] } as const;
    equal((await a.claim(query, 1, 60_000)).rows.length, 1);
    equal((await b.claim(query, 9, 60_000)).rows.length, 1);
  });

  test('a journal hands out what was begun so long ago, and nothing younger', async () => {
    const [a, b] = await make();
    const scope = randomUUID();
    for (const reference of ['young', 'old']) await a.insert(newRow({ scope, reference, dueAt: 1 }));
    const { row, now } = await a.read({ scope, reference: 'old' });
    await a.replace({ ...newRow(), ...row, begunAt: now - 120_000 }, 1);
    const query = { scope, states: ['begun'], olderThan: 60_000 } as const;
    deepEqual(
      (await b.claim(query, 9, 60_000)).rows.map(({ reference }) => reference),
      ['old'],
    );
  });

  test('a journal hands no row to two of many workers at once', async () => {
    const [a, b] = await make();
    const scope = randomUUID();
    await many(30, index => a.insert(newRow({ scope, reference: String(index), dueAt: 1 })));
    const claims = await many(12, index => (index % 2 ? a : b).claim({ scope, states: ['begun'] }, 5, 60_000));
    const references = claims.flatMap(({ rows }) => rows.map(({ reference }) => reference));
    equal(new Set(references).size, references.length);
    const rest = await a.claim({ scope, states: ['begun'] }, 30, 60_000);
    equal(references.length + rest.rows.length, 30);
  });

  test('a journal behaves as memoryJournal over random operations', async () => {
    const stores = await make();
    const memory = memoryJournal();
    const random = seeded(20261121);
    const scope = randomUUID();
    const withoutClock = ({ begunAt, dueAt, leasedUntil, ...row }: JournalRow) => ({
      ...row,
      isDue: dueAt !== undefined,
      isLeased: leasedUntil !== undefined,
    });
    for (let step = 0; step < 150; step++) {
      const store = pick(random, stores);
      const state = pick(random, ['planned', 'begun', 'created', 'freed'] as const);
      const row = newRow({
        scope,
        reference: pick(random, ['a', 'b', 'c', 'd']),
        state,
        looks: step,
        attemptId: 'same',
      });
      const due = random() < 0.5 ? { ...row, dueAt: 1 } : row;
      const [operate, name] = pick(random, [
        [async (on: JournalStore) => (await on.insert(due)).isInserted, 'insert'],
        [async (on: JournalStore) => (await on.replace(due, 1 + Math.floor(step / 25))).isReplaced, 'replace'],
        [async (on: JournalStore) => withoutClock((await on.read(row)).row ?? newRow(row)), 'read'],
        [
          async (on: JournalStore) => (await on.list({ scope, states: [state] })).rows.map(r => r.reference).sort(),
          'list',
        ],
        [async (on: JournalStore) => (await on.claim({ scope, states: [state] }, 9, 60_000)).rows.length, 'claim'],
      ] as const);
      deepEqual(await operate(store), await operate(memory), `step ${step}: ${name}`);
    }
  });

  test('a journal lets no reference be paid twice, in any order of creates, crashes, callbacks and operators', async () => {
    const stores = await make();
    for (let world = 0; world < 25; world++) await playCreates(stores, 7_000 + world);
  });
}
