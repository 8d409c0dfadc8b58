// Binds the scope of a store to one gateway, so that no client pays for another's creates. Gives each statement a timeout.
import { withTimeout } from '../../deadline.ts';
import { ConfigurationError } from '../../errors.ts';
import { isLoopback } from '../../schemas/url.ts';
import type { Store, StoreRow } from '../contract.ts';

/** By store and gateway, because clients of one process share their running creates. */
const BOUND = new WeakMap<Store, Map<string, Store>>();

/** Any address on loopback, because a sandbox may listen on another port each time. */
const LOOPBACK = 'http://127.0.0.1';

/** Milliseconds for one statement: a pool without a free connection may keep it waiting permanently. */
const LONGEST_STATEMENT = 5_000;

const inTime = <T>(statement: Promise<T>): Promise<T> =>
  withTimeout(statement, LONGEST_STATEMENT, `The store did not answer within ${LONGEST_STATEMENT} ms.`);

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
  let checking: Promise<void> | undefined;
  const check = (): Promise<void> => {
    checking ??= bind(store, baseUrl).catch(error => {
      checking = undefined;
      throw error;
    });
    return checking;
  };
  const ask = <T>(statement: () => Promise<T>): Promise<T> => check().then(() => inTime(statement()));
  return {
    scope: store.scope,
    settleMargin: store.settleMargin,
    read: key => ask(() => store.read(key)),
    owner: paymentId => ask(() => store.owner(paymentId)),
    list: query => ask(() => store.list(query)),
    due: (...which) => ask(() => store.due(...which)),
    effect: (...effect) => check().then(() => store.effect(...effect)),
    async write(row, tx) {
      if (tx === undefined) return ask(() => store.write(row));
      // A merchant's transaction may have the pool's only connection, so it does not wait. Upkeep checks the scope.
      check().catch(() => {});
      // Without a timeout, because a late write could still be committed.
      return store.write(row, tx);
    },
    ...(store.watch && { watch: store.watch.bind(store) }),
    migrate: () => store.migrate(),
    ddl: () => store.ddl(),
  };
}

async function bind(store: Store, baseUrl: string): Promise<void> {
  const first: StoreRow = { kind: 'gateway', id: '', state: 'bound', revision: 0, begunAt: 0, data: { baseUrl } };
  const { row } = await inTime(store.read(first));
  const bound = row ?? (await inTime(store.write(first))).row ?? first;
  const { baseUrl: known } = bound.data as { baseUrl: string };
  if (known === baseUrl) return;
  throw new ConfigurationError(
    `The store's scope ${JSON.stringify(store.scope)} belongs to the gateway ${known}, not to ${baseUrl}. Nothing was sent. Use one scope for each terminal, and another for a sandbox.`,
    { outcome: 'not_sent' },
  );
}
