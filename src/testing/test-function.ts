// The suites' interface to a test runner, and their cases and rows.
import { ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RowKey, Store, StoreRow } from '../store/contract.ts';

/** Registers a test: `test` or `it` of Vitest, Jest, node:test and their like. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

export type Cases<Context> = Readonly<Record<string, (context: Context) => Promise<void>>>;

/** Two replicas of one scope, and a store of another scope. */
export interface StoreContext {
  readonly a: Store;
  readonly b: Store;
  readonly other: Store;
  readonly transaction?: ((work: (tx: unknown) => Promise<void>) => Promise<void>) | undefined;
}

export const newRow = (changes: Partial<StoreRow> = {}): StoreRow => ({
  ...{ kind: 'create', id: `id ${randomUUID()}`, state: 'begun', revision: 0, begunAt: 0, data: { amount: '25.50' } },
  ...changes,
});

export async function put(store: Store, row: StoreRow, tx?: unknown) {
  const { isWritten, row: stored } = await store.write(row, tx);
  ok(isWritten && stored, `${row.kind} ${row.id} was not written`);
  return stored;
}

export const rowIn = async (store: Store, key: RowKey) => (await store.read(key)).row;

/** Runs the same concurrently, over both stores in turn. */
export const many = <T>(count: number, stores: [Store, Store], run: (store: Store, index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(stores[index % 2 ? 0 : 1], index)));
