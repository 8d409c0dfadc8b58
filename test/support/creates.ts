// A memory store whose statements on creates a test can replace, count or delay.
import { memoryStore, type Payment, type Store } from 'payment-gateway-sdk';
import type { StoreRow } from '../../src/store/contract.ts';
import { type CreateRow, createOf, storeRowOf } from '../../src/store/creates.ts';
import { CLIENT, type ClientLink } from '../../src/store/link.ts';
import type { MemoryStoreOptions } from '../../src/store/memory.ts';

/** The statements of a store on its creates. */
export interface CreateStore {
  read(key: Pick<CreateRow, 'reference'>): Promise<{ row?: CreateRow | undefined; now: number }>;
  owner(paymentId: string): Promise<{ row?: CreateRow | undefined; now: number }>;
  insert(row: CreateRow, tx?: unknown): Promise<{ row: CreateRow; isInserted: boolean; now: number }>;
  replace(row: CreateRow, revision: number, tx?: unknown): Promise<{ isReplaced: boolean; now: number }>;
  list(query: { states: readonly string[] }): Promise<{ rows: CreateRow[]; now: number }>;
  claim(
    query: { states: readonly string[]; olderThan?: number | undefined },
    limit: number,
    leaseMs: number,
  ): Promise<{ rows: CreateRow[]; now: number }>;
}

/** The creates of a store: replace a method, or copy the object to get another process. */
export type Creates = CreateStore & { readonly inner: Store<object> };

export const memoryCreates = (options?: MemoryStoreOptions): Creates => {
  const inner = memoryStore(options);
  return { ...createsOf(inner), inner };
};

export function createsOf(store: Store<object>): CreateStore {
  const entered = (row: StoreRow) => createOf(store.scope, row);
  const write = (row: CreateRow, revision: number, tx?: unknown) =>
    store.write({ ...storeRowOf(row), revision }, tx as object | undefined);
  return {
    async read({ reference }) {
      const { row, now } = await store.read({ kind: 'create', id: reference });
      return { row: row && entered(row), now };
    },
    async owner(paymentId) {
      const { row, now } = await store.owner(paymentId.toLowerCase());
      return { row: row && entered(row), now };
    },
    async insert(row, tx) {
      const { isWritten, row: found, now } = await write(row, 0, tx);
      return { row: entered(found as StoreRow), isInserted: isWritten, now };
    },
    async replace(row, revision, tx) {
      const { isWritten, now } = await write(row, revision, tx);
      return { isReplaced: isWritten, now };
    },
    async list({ states }) {
      const { rows, now } = await store.list({ kind: 'create', states });
      return { rows: rows.map(entered), now };
    },
    async claim(query, limit, leaseMs) {
      const { rows, now } = await store.due({ kind: 'create', ...query }, limit, leaseMs);
      return { rows: rows.map(entered), now };
    },
  };
}

const STORES = new WeakMap<Creates, Store<object>>();

/** The store that asks these creates, as they are at each statement. */
export function storeOf(creates: Creates): Store<object> {
  const known = STORES.get(creates);
  if (known) return known;
  const { inner } = creates;
  const { scope } = inner;
  const keyOf = (reference: string) => ({ reference });
  const store: Store<object> = {
    ...inner,
    async read(key) {
      if (key.kind !== 'create') return inner.read(key);
      const { row, now } = await creates.read(keyOf(key.id));
      return { row: row && storeRowOf(row), now };
    },
    async write(row, tx) {
      if (row.kind !== 'create') return inner.write(row, tx);
      const create = createOf(scope, row);
      if (row.revision > 0) {
        const { isReplaced, now } = await creates.replace(create, row.revision, tx);
        const next = { ...row, revision: row.revision + 1 };
        return { isWritten: isReplaced, row: isReplaced ? next : undefined, now };
      }
      const { row: written, isInserted, now } = await creates.insert({ ...create, revision: 1 }, tx);
      return { isWritten: isInserted, row: storeRowOf(written), now };
    },
    async owner(paymentId) {
      const { row, now } = await creates.owner(paymentId);
      return { row: row && storeRowOf(row), now };
    },
    async list(query) {
      if (query.kind !== 'create') return inner.list(query);
      const { rows, now } = await creates.list(query as never);
      return { rows: rows.map(storeRowOf), now };
    },
    async due(query, limit, leaseMs) {
      if (query.kind !== 'create') return inner.due(query, limit, leaseMs);
      const { rows, now } = await creates.claim(query as never, limit, leaseMs);
      return { rows: rows.map(storeRowOf), now };
    },
  };
  STORES.set(creates, store);
  return store;
}

/** Records a confirmed payment, as its callback would. */
export async function reconcile(
  gateway: { readonly [CLIENT]: Pick<ClientLink, 'reconcile'> },
  payment: Payment,
): Promise<void> {
  await gateway[CLIENT].reconcile(payment);
}
