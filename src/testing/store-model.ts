// Plays the same random operations over a store and over memoryStore, and compares the answers.
import { deepEqual } from 'node:assert/strict';
import type { RowKey, Store, StoreRow } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import { newRow, pick, seeded } from './test-function.ts';

const KINDS = ['create', 'order', 'payment'] as const;
const STATES = ['planned', 'begun', 'created', 'freed'] as const;
const STEPS = 200;

/** @param stores two of one empty scope */
export async function compareWithMemory<Tx>(stores: readonly Store<Tx>[]): Promise<void> {
  const memory = memoryStore({ now: Date.now });
  const random = seeded(20261126);
  for (let step = 0; step < STEPS; step++) {
    const [kind, id, state] = [pick(random, KINDS), pick(random, ['a', 'b', 'c']), pick(random, STATES)];
    const row = newRow({
      kind,
      id,
      state,
      data: { step },
      revision: Math.floor(random() * (2 + step / 25)),
      ...(random() < 0.5 && { dueAt: 1 }),
      ...(random() < 0.2 && { paymentId: pick(random, ['p', 'q']) }),
    });
    const [name, operate] = pick(random, operations(row));
    const answer = async (store: Store) => operate(store).catch((error: Error) => error.name);
    deepEqual(await answer(pick(random, stores) as Store), await answer(memory as Store), `step ${step}: ${name}`);
  }
}

type Operation = (store: Store) => Promise<unknown>;

function operations(row: StoreRow): readonly (readonly [string, Operation])[] {
  const query = { kind: row.kind, states: [row.state] };
  const write: Operation = async store => {
    const { isWritten, row: stored } = await store.write(row);
    return [isWritten, withoutClock(stored)];
  };
  const effect: Operation = store =>
    store.effect({ id: 'payment', about: {}, reads: [row] }, async ({ payment, rows: [found] }) => {
      if (row.state === 'freed') return undefined;
      const next = { ...row, revision: found?.revision ?? 0, begunAt: found?.begunAt ?? 0 };
      const count = Number((payment?.data as { count?: number } | undefined)?.count ?? 0) + 1;
      const mark = { ...newRow({ kind: 'payment', id: 'payment' }), ...payment, state: 'done', data: { count } };
      return [mark, next];
    });
  return [
    ['write', write],
    ['write again', write],
    ['read', async store => withoutClock((await store.read(row)).row)],
    ['read the payment', async store => withoutClock((await store.read(PAYMENT)).row)],
    ['owner', async store => withoutClock((await store.owner('p')).row)],
    ['list', async store => sorted((await store.list(query)).rows)],
    ['due', async store => sorted((await store.due(query, 9, 60_000)).rows)],
    ['effect', effect],
  ];
}

const PAYMENT: RowKey = { kind: 'payment', id: 'payment' };

const sorted = (rows: readonly StoreRow[]) => rows.map(withoutClock).sort((one, other) => (one.id < other.id ? -1 : 1));

/** The clocks of two stores differ. */
const withoutClock = ({ begunAt, dueAt, leasedUntil, ...row }: Partial<StoreRow> = {}) => ({
  ...row,
  id: row.id ?? '',
  isDue: dueAt !== undefined,
  isLeased: leasedUntil !== undefined,
});
