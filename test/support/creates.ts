// A memory store whose statements on creates a test can replace, count or delay.
import { memoryStore, type Payment, type Store } from 'payment-gateway-sdk';
import type { MemoryStoreOptions } from '../../src/store/memory.ts';
import { type CreateRow, createOf, storeRowOf } from '../../src/store/rules/create-row.ts';
import { CLIENT, type ClientLink } from '../../src/webhooks/client-link.ts';

/** The statements of a store on its creates: replace a method, or copy the object to get another process. */
export type Creates = ReturnType<typeof memoryCreates>;

export function memoryCreates(options?: MemoryStoreOptions) {
  const inner = memoryStore(options);
  type Answer = { row?: CreateRow | undefined; now: number };
  const one = <A extends Awaited<ReturnType<typeof inner.read>>>({ row, ...answer }: A): Omit<A, 'row'> & Answer => ({
    ...answer,
    row: row && createOf(row),
  });
  const all = ({ rows, now }: Awaited<ReturnType<typeof inner.list>>) => ({
    rows: rows.map(row => createOf(row)),
    now,
  });
  const replace = async (row: CreateRow, revision: number, tx?: unknown): Promise<Answer & { isWritten: boolean }> =>
    one(await inner.write({ ...storeRowOf(row), revision }, tx as object));
  return {
    inner,
    read: async ({ reference }: Pick<CreateRow, 'reference'>): Promise<Answer> =>
      one(await inner.read({ kind: 'create', id: reference })),
    owner: async (paymentId: string): Promise<Answer> => one(await inner.owner(paymentId)),
    insert: (row: CreateRow, tx?: unknown) => replace(row, 0, tx),
    replace,
    list: async (query: { states: readonly string[] }) => all(await inner.list({ kind: 'create', ...query })),
    claim: async (query: { states: readonly string[] }, limit: number, leaseMs: number) =>
      all(await inner.due({ kind: 'create', ...query }, limit, leaseMs)),
  };
}

const STORES = new WeakMap<Creates, Store<object>>();

/** The store that asks these creates, as they are at each statement. */
export function storeOf(creates: Creates): Store<object> {
  const known = STORES.get(creates);
  if (known) return known;
  const { inner } = creates;
  const one = <A extends { row?: CreateRow | undefined }>(answer: A) => ({
    ...answer,
    row: answer.row && storeRowOf(answer.row),
  });
  const all = ({ rows, now }: { rows: CreateRow[]; now: number }) => ({ rows: rows.map(storeRowOf), now });
  const store: Store<object> = {
    ...inner,
    read: async key => (key.kind === 'create' ? one(await creates.read({ reference: key.id })) : inner.read(key)),
    owner: async paymentId => one(await creates.owner(paymentId)),
    async write(row, tx) {
      if (row.kind !== 'create') return inner.write(row, tx);
      const create = createOf(row);
      return one(await (row.revision > 0 ? creates.replace(create, row.revision, tx) : creates.insert(create, tx)));
    },
    list: async query => (query.kind === 'create' ? all(await creates.list(query)) : inner.list(query)),
    due: async (query, limit, leaseMs) =>
      query.kind === 'create' ? all(await creates.claim(query, limit, leaseMs)) : inner.due(query, limit, leaseMs),
  };
  STORES.set(creates, store);
  return store;
}

/** Records a confirmed payment, as its callback would. */
export const reconcile = async (gateway: { readonly [CLIENT]: ClientLink }, payment: Payment): Promise<void> =>
  void (await gateway[CLIENT].reconcile(payment));

/** Notes each call of these methods. @returns their names in order */
export function noted<T extends object>(target: T, ...names: (keyof T & string)[]): string[] {
  const asked: string[] = [];
  for (const name of names) {
    const ask = target[name] as (...given: unknown[]) => unknown;
    target[name] = ((...given: unknown[]) => {
      asked.push(name);
      return ask(...given);
    }) as T[typeof name];
  }
  return asked;
}
