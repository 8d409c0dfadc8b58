// A memory store whose statements on creates a test can replace, count or delay.
import { memoryStore, type Payment, type Store } from 'payment-gateway-sdk';
import { createOf, createsOf, type Journal, storeRowOf } from '../../src/store/creates.ts';
import { CLIENT, type ClientLink } from '../../src/store/link.ts';
import type { MemoryStoreOptions } from '../../src/store/memory.ts';

/** The creates of a store: replace a method, or copy the object to get another process. */
export type Creates = Journal & { readonly inner: Store<object> };

export const memoryCreates = (options?: MemoryStoreOptions): Creates => {
  const inner = memoryStore(options);
  return { ...createsOf(inner), inner };
};

const STORES = new WeakMap<Creates, Store<object>>();

/** The store that asks these creates, as they are at each statement. */
export function storeOf(creates: Creates): Store<object> {
  const known = STORES.get(creates);
  if (known) return known;
  const { inner } = creates;
  const { scope } = inner;
  const keyOf = (reference: string) => ({ scope, reference });
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
        const { isReplaced, now } = await creates.replace(create, row.revision);
        const next = { ...row, revision: row.revision + 1 };
        return { isWritten: isReplaced, row: isReplaced ? next : undefined, now };
      }
      const { row: written, isInserted, now } = await creates.insert({ ...create, revision: 1 }, tx);
      return { isWritten: isInserted, row: storeRowOf(written), now };
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
