// A store in the memory of this process, for development and tests.
import { aborted, delay } from '../deadline.ts';
import { warnInProduction } from '../telemetry/events.ts';
import { LOCK_PAUSES, PaymentTaken, type RowKey, type RowQuery, type Store, type StoreRow } from './contract.ts';
import { scopeProblem } from './key.ts';
import { functionProblem, marginProblem, storeOptions } from './options.ts';

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The scope within which references are unique. At most 255 bytes of UTF-8. @default 'memory' */
  scope?: string | undefined;
  /**
   * Milliseconds after the timeout of a create until `settle(reference, 'not_created')` is accepted.
   * @default 600_000
   */
  settleMargin?: number | undefined;
  /** The clock in milliseconds since 1970, for tests. @default Date.now */
  now?: (() => number) | undefined;
}

/**
 * Makes a store in memory. Its data is lost when the process ends. It has no transactions: `tx` is an empty object, and
 * `payOut` takes effect immediately. In production use `postgresStore` or `mysqlStore`.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store<object> {
  warnInProduction(FORGETTING);
  const problems = { scope: scopeProblem, settleMargin: marginProblem, now: functionProblem };
  const { scope = 'memory', settleMargin, now = Date.now } = storeOptions('memoryStore', options, problems);
  const { get, ownerOf, select, writeAll } = rowsInMemory(now);
  /** The rows of running effects, each until its effect ends. */
  const locks = new Map<string, Promise<void>>();
  const watchers = new Set<() => void>();

  return {
    scope,
    settleMargin,
    read: async key => ({ row: get(key), now: now() }),
    owner: async paymentId => ({ row: structuredClone(ownerOf(paymentId)), now: now() }),
    async write(row) {
      while (locks.has(nameOf(row))) await locks.get(nameOf(row));
      const isWritten = writeAll([row]);
      if (isWritten && row.state === 'planned') for (const wake of watchers) wake();
      return { isWritten, row: get(row), now: now() };
    },
    async list(query) {
      const rows = select(query).sort((one, other) => one.begunAt - other.begunAt);
      return { rows: structuredClone(rows), now: now() };
    },
    async due({ olderThan = 0, ...query }, limit, leaseMs) {
      const at = now();
      const due = select(query)
        .filter(({ dueAt = Number.POSITIVE_INFINITY, leasedUntil = 0 }) => dueAt <= at && leasedUntil <= at)
        .filter(row => row.begunAt <= at - olderThan && !locks.has(nameOf(row)))
        .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
        .slice(0, limit);
      writeAll(due.map(row => ({ ...row, leasedUntil: at + leaseMs })));
      return { rows: due.map(row => get(row) as StoreRow), now: at };
    },
    async effect({ id, reads }, work) {
      const payment = { kind: 'payment', id } as const;
      const names = [payment, ...reads].map(nameOf);
      for (const pause of LOCK_PAUSES) if (locks.has(nameOf(payment))) await delay(pause);
      if (locks.has(nameOf(payment))) return 'busy';
      while (names.some(name => locks.has(name))) await Promise.all(names.map(name => locks.get(name)));
      const { promise, resolve } = Promise.withResolvers<void>();
      for (const name of names) locks.set(name, promise);
      try {
        const rows = await work({ tx: {}, payment: get(payment), rows: reads.map(get) });
        if (!rows) return 'skipped';
        if (writeAll(rows)) return 'done';
        throw new Error('Another process changed a row of this effect, so none of its rows was written.');
      } finally {
        for (const name of names) locks.delete(name);
        resolve();
      }
    },
    watch(onPlanned, signal) {
      watchers.add(onPlanned);
      return aborted(signal).then(() => void watchers.delete(onPlanned));
    },
    migrate: async () => {},
    ddl: () => '',
  };
}

const nameOf = ({ kind, id }: RowKey) => `${kind} ${id}`;

function rowsInMemory(now: () => number) {
  const stored = new Map<string, StoreRow>();
  const get = (key: RowKey) => structuredClone(stored.get(nameOf(key)));
  const ownerOf = (paymentId: string) => [...stored.values()].find(row => row.paymentId === paymentId);
  const select = ({ kind, states }: RowQuery) =>
    [...stored.values()].filter(row => row.kind === kind && states.includes(row.state));
  const isCurrent = (row: StoreRow): boolean => {
    if ((stored.get(nameOf(row))?.revision ?? 0) !== row.revision) return false;
    const owner = row.paymentId && ownerOf(row.paymentId);
    if (owner && nameOf(owner) !== nameOf(row)) throw new PaymentTaken('Another create already has this payment.');
    return true;
  };
  const writeAll = (rows: readonly StoreRow[]): boolean => {
    if (!rows.every(isCurrent)) return false;
    const at = now();
    for (const row of rows) {
      // The times of a new row are the store's.
      const times = row.revision === 0 && { begunAt: at, ...(row.dueAt !== undefined && { dueAt: at }) };
      // As JSON, like every other store.
      stored.set(nameOf(row), JSON.parse(JSON.stringify({ ...row, ...times, revision: row.revision + 1 })));
    }
    return true;
  };
  return { get, ownerOf, select, writeAll };
}

const FORGETTING =
  'memoryStore, or a handler without a store, forgets payments when the process ends, and other replicas do not know them. In production use postgresStore or mysqlStore.';
