// Binds the scope of a store to the address of one gateway, so that no client pays for the creates of another.
import { ConfigurationError } from '../errors.ts';
import { isLoopback } from '../schemas/url.ts';
import { bounded } from './change.ts';
import type { Store, StoreRow } from './contract.ts';

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
  let checking: Promise<void> | undefined;
  const checked =
    <A extends unknown[], T>(statement: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      checking ??= expectGateway(store, baseUrl);
      await checking.catch(error => {
        checking = undefined;
        throw error;
      });
      return statement(...args);
    };
  const write = checked((row: StoreRow) => store.write(row));
  return {
    scope: store.scope,
    settleMargin: store.settleMargin,
    read: checked(store.read.bind(store)),
    owner: checked(store.owner.bind(store)),
    list: checked(store.list.bind(store)),
    due: checked(store.due.bind(store)),
    effect: checked(store.effect.bind(store)),
    // In a merchant's transaction the statement is sent immediately.
    write: (row, tx) => (tx === undefined ? write(row) : store.write(row, tx)),
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
