// Plays the same random operations over a store and over memoryStore, and compares the answers.
import { deepEqual } from 'node:assert/strict';
import type { RowKey, Store, StoreRow } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import { newRow } from './test-function.ts';

const KINDS = ['create', 'order', 'payment'] as const;
const STATES = ['planned', 'begun', 'created', 'freed'] as const;
const STEPS = 200;

/** @param stores two of one empty scope */
export async function compareWithMemory<Tx>(stores: readonly Store<Tx>[]): Promise<void> {
  const memory = memoryStore({ now: Date.now });
  const random = seeded(20261126);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  for (let step = 0; step < STEPS; step++) {
    const row = newRow({
      ...{ kind: pick(KINDS), id: pick(['a', 'b', 'c']), state: pick(STATES), data: { step } },
      revision: Math.floor(random() * (2 + step / 25)),
      ...(random() < 0.5 && { dueAt: 1 }),
      ...(random() < 0.2 && { paymentId: pick(['p', 'q']) }),
    });
    const [name, operate] = pick(Object.entries(operationsOn(row)));
    const answer = async (store: Store) => timeless(await operate(store).catch((error: Error) => error.name));
    deepEqual(await answer(pick(stores) as Store), await answer(memory as Store), `step ${step}: ${name}`);
  }
}

const TIMES = /^(now|begunAt|dueAt|leasedUntil)$/;
/** Copies an answer as JSON without its times, because the clocks of two stores differ. */
const timeless = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (name, value) => (TIMES.test(name) ? value && 1 : value)));

/** Makes a generator of numbers from 0 to 1 that repeats the same sequence for a seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Operation = (store: Store) => Promise<unknown>;

function operationsOn(row: StoreRow): Readonly<Record<string, Operation>> {
  const query = { kind: row.kind, states: [row.state] };
  const id = 'payment';
  const reads: RowKey[] = [row, { kind: 'order', id: 'absent' }];
  const write: Operation = store => store.write(row);
  return {
    write,
    'write again': write,
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
