// Binds the scope of a store to the address of one gateway, so that no client pays for the creates of another.
import { ConfigurationError } from '../errors.ts';
import { isLoopback } from '../schemas/url.ts';
import { bounded } from './change.ts';
import type { Store } from './contract.ts';

/** One for each store and gateway, because clients of one process share their running creates. */
const BOUND = new WeakMap<Store, Map<string, Store>>();

/** Returns the store for one gateway. Its first statement checks that the scope belongs to that gateway. */
export function bindStore(store: Store, baseUrl: string): Store {
  if (isLoopback(new URL(baseUrl).hostname)) return store;
  const stores = BOUND.get(store) ?? new Map<string, Store>();
  BOUND.set(store, stores);
  const bound = stores.get(baseUrl) ?? checkedStore(store, baseUrl);
  stores.set(baseUrl, bound);
  return bound;
}

function checkedStore(store: Store, baseUrl: string): Store {
  let isOwn = false;
  let checking: Promise<void> | undefined;
  const check = async () => {
    await expectGateway(store, baseUrl);
    isOwn = true;
  };
  /** Asks the store until it has succeeded once. */
  const checked = async <T>(work: () => Promise<T>): Promise<T> => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    await checking;
    return work();
  };
  const once =
    <A extends unknown[], T>(statement: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      isOwn ? statement(...args) : checked(() => statement(...args));
  const { scope, settleMargin } = store;
  return {
    scope,
    ...(settleMargin !== undefined && { settleMargin }),
    read: once(store.read.bind(store)),
    owner: once(store.owner.bind(store)),
    list: once(store.list.bind(store)),
    due: once(store.due.bind(store)),
    effect: once(store.effect.bind(store)),
    // In a merchant's transaction the statement is sent immediately.
    write: (row, tx) => (isOwn || tx !== undefined ? store.write(row, tx) : checked(() => store.write(row))),
    ...(store.watch && { watch: store.watch.bind(store) }),
    migrate: () => store.migrate(),
    ddl: () => store.ddl(),
  };
}

async function expectGateway(store: Store, baseUrl: string): Promise<void> {
  const key = { kind: 'gateway', id: '' } as const;
  const { row } = await bounded(store.read(key));
  const first = { ...key, state: 'bound', revision: 0, begunAt: 0, data: { baseUrl } };
  const bound = row ?? (await bounded(store.write(first))).row;
  const { baseUrl: known = baseUrl } = (bound?.data ?? {}) as { baseUrl?: string };
  if (known === baseUrl) return;
  throw new ConfigurationError(
    `The store's scope ${JSON.stringify(store.scope)} belongs to the gateway ${known}, not to ${baseUrl}. Nothing was sent. Use one scope for each terminal.`,
    { outcome: 'not_sent' },
  );
}
