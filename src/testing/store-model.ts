// Plays the same random operations over a store and over memoryStore, and compares the answers.
import { deepEqual } from 'node:assert/strict';
import type { RowKey, Store, StoreRow } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import { newRow } from './test-function.ts';

/** @param stores two of one empty scope */
export async function compareWithMemory(stores: readonly Store[]) {
  const memory = memoryStore();
  let seed = 20261126;
  /** Returns numbers from 0 to 1, the same in every run. */
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const pick = <const T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  for (let step = 0; step < 200; step++) {
    const row = newRow({
      kind: pick(['create', 'order', 'payment']),
      id: pick(['a', 'b', 'c']),
      state: pick(['planned', 'begun', 'created', 'freed']),
      data: { step },
      revision: Math.floor(random() * (2 + step / 25)),
      ...(random() < 0.5 && { dueAt: 1 }),
      ...(random() < 0.2 && { paymentId: pick(['p', 'q']) }),
    });
    const [name, operate] = pick(Object.entries(operationsOn(row)));
    const answer = async (store: Store) => timeless(await operate(store).catch((error: Error) => error.name));
    deepEqual(await answer(pick(stores)), await answer(memory), `step ${step}: ${name}`);
  }
}

/** Copies an answer as JSON without its times, because the clocks of two stores differ. */
const timeless = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value) => (/^(now|begunAt|dueAt|leasedUntil)$/.test(name) ? value && 1 : value)),
  );

function operationsOn(row: StoreRow): Record<string, (store: Store) => Promise<unknown>> {
  const query = { kind: row.kind, states: [row.state] };
  const id = 'payment';
  const reads: RowKey[] = [row, { kind: 'order', id: 'absent' }];
  return {
    write: store => store.write(row),
    'write again': store => store.write(row),
    read: store => store.read(row),
    owner: store => store.owner('p'),
    list: async store => sorted((await store.list(query)).rows),
    due: async store => sorted((await store.due(query, 9, 60_000)).rows),
    /** Counts its runs in the payment, and writes the row over any revision. */
    async effect(store) {
      let seen: unknown;
      const result = await store.effect({ id, about: {}, reads }, async ({ payment, rows }) => {
        seen = [payment, ...rows];
        if (row.state === 'freed') return undefined;
        const { count } = (payment?.data ?? { count: 0 }) as { count: number };
        const mark = { ...newRow({ kind: 'payment', id }), ...payment, state: 'done', data: { count: count + 1 } };
        const { revision, begunAt } = rows[0] ?? newRow();
        return [mark, { ...row, revision, begunAt }];
      });
      return [result, seen];
    },
  };
}

const sorted = (rows: readonly StoreRow[]) => rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
