// Binds the scope of a store to the address of one gateway, so that no client pays for the creates of another.
import { ConfigurationError } from '../../errors.ts';
import { isLoopback } from '../../schemas/url.ts';
import type { Store } from '../contract.ts';
import { bounded } from './change.ts';

/** One for each store and gateway, because clients of one process share their running creates. */
const BOUND = new WeakMap<Store, Map<string, Store>>();

/** Stands for every address on loopback, because a sandbox may listen on another port each time. */
const LOOPBACK = 'http://127.0.0.1';

/** Returns the store for one gateway. Its first statement checks that the scope belongs to that gateway. */
export function bindStore(store: Store, baseUrl: string): Store {
  const gateway = isLoopback(new URL(baseUrl).hostname) ? LOOPBACK : baseUrl;
  const stores = BOUND.get(store) ?? new Map<string, Store>();
  BOUND.set(store, stores);
  const bound = stores.get(gateway) ?? checkedStore(store, gateway);
  stores.set(gateway, bound);
  return bound;
}

function checkedStore(store: Store, baseUrl: string): Store {
  let binding: Promise<void> | undefined;
  const bound = async <T>(statement: () => Promise<T>): Promise<T> => {
    binding ??= bind(store, baseUrl);
    await binding.catch(error => {
      binding = undefined;
      throw error;
    });
    return statement();
  };
  return {
    scope: store.scope,
    settleMargin: store.settleMargin,
    read: key => bound(() => store.read(key)),
    owner: paymentId => bound(() => store.owner(paymentId)),
    list: query => bound(() => store.list(query)),
    due: (...which) => bound(() => store.due(...which)),
    effect: (...effect) => bound(() => store.effect(...effect)),
    async write(row, tx) {
      if (tx === undefined) return bound(() => store.write(row));
      // A merchant's transaction may have the pool's only connection, so it does not wait. Upkeep checks the scope.
      bound(async () => {}).catch(() => {});
      return store.write(row, tx);
    },
    ...(store.watch && { watch: store.watch.bind(store) }),
    migrate: () => store.migrate(),
    ddl: () => store.ddl(),
  };
}

async function bind(store: Store, baseUrl: string): Promise<void> {
  const key = { kind: 'gateway', id: '' } as const;
  const { row } = await bounded(store.read(key));
  const first = { ...key, state: 'bound', revision: 0, begunAt: 0, data: { baseUrl } };
  const bound = row ?? (await bounded(store.write(first))).row;
  const { baseUrl: known = baseUrl } = (bound?.data ?? {}) as { baseUrl?: string };
  if (known === baseUrl) return;
  throw new ConfigurationError(
    `The store's scope ${JSON.stringify(store.scope)} belongs to the gateway ${known}, not to ${baseUrl}. Nothing was sent. Use one scope for each terminal, and another for a sandbox.`,
    { outcome: 'not_sent' },
  );
}
