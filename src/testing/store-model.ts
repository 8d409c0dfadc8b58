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
    const [name, operate] = pick(operations(row));
    const answer = async (store: Store) => operate(store).catch((error: Error) => error.name);
    deepEqual(await answer(pick(stores) as Store), await answer(memory as Store), `step ${step}: ${name}`);
  }
}

/** Makes a generator of numbers from 0 to 1 that repeats the same sequence for a seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Operation = (store: Store) => Promise<unknown>;

function operations(row: StoreRow): readonly (readonly [string, Operation])[] {
  const query = { kind: row.kind, states: [row.state] };
  const write: Operation = async store => {
    const { isWritten, row: stored } = await store.write(row);
    return [isWritten, withoutClock(stored)];
  };
  const id = 'payment';
  /** Counts its runs in the payment, and writes the row over any revision. */
  const effect: Operation = async store => {
    let seen: unknown;
    const result = await store.effect({ id, about: {}, reads: [row, ABSENT] }, async ({ payment, rows }) => {
      seen = [payment, ...rows].map(row => withoutClock(row));
      if (row.state === 'freed') return undefined;
      const { count } = (payment?.data ?? { count: 0 }) as { count: number };
      const mark = { ...newRow({ kind: 'payment', id }), ...payment, state: 'done', data: { count: count + 1 } };
      const { revision, begunAt } = rows[0] ?? newRow();
      return [mark, { ...row, revision, begunAt }];
    });
    return [result, seen];
  };
  return [
    ['write', write],
    ['write again', write],
    ['read', async store => withoutClock((await store.read(row)).row)],
    ['owner', async store => withoutClock((await store.owner('p')).row)],
    ['list', async store => sorted((await store.list(query)).rows)],
    ['due', async store => sorted((await store.due(query, 9, 60_000)).rows)],
    ['effect', effect],
  ];
}

const ABSENT: RowKey = { kind: 'order', id: 'absent' };

/** The clocks of two stores differ. */
const withoutClock = (row?: StoreRow) =>
  row && { ...row, begunAt: 0, dueAt: row.dueAt && 1, leasedUntil: row.leasedUntil && 1 };

const sorted = (rows: readonly StoreRow[]) =>
  rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(row => withoutClock(row));
