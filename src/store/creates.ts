// The creates in a store: the data of each reference, and the statements on it.
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import type { Store, StoreRow, Timed } from './contract.ts';

/** One reference within one scope, usually that of a terminal. */
export interface JournalKey {
  /** At most 255 bytes of UTF-8, without a NUL. */
  scope: string;
  /** At most 1,020 bytes of UTF-8, without a NUL. */
  reference: string;
}

/** The data that the store keeps of a request. */
export interface JournalRequest {
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  /** A plain decimal without trailing zeros. */
  amount: string;
  currency: string;
  /** Hash of the whole body in a canonical form. */
  bodyHash: string;
}

/**
 * The state of a reference. `planned`: written in the merchant's own transaction and not sent yet. `begun`: running, or
 * in doubt. `created`: has its payment permanently. `freed`: the last attempt made no payment, so the next create may
 * begin.
 */
export type JournalState = 'planned' | 'begun' | 'created' | 'freed';

/** The store's data of a reference. Times are milliseconds since 1970 by the store's own clock. */
export interface JournalRow extends JournalKey, JournalRequest {
  state: JournalState;
  /** Identifies the attempt, so that a late one cannot change a newer one. */
  attemptId: string;
  /** Time when the attempt began or was planned. The store sets it when it inserts the row. */
  begunAt: number;
  /** Milliseconds after `begunAt` until this attempt stops sending. */
  timeoutMs: number;
  /** A sent attempt was given up, so a failed payment may belong to that attempt instead of the next one. */
  isRetry?: boolean | undefined;
  /** The order that this create is an attempt of. */
  order?: string | undefined;
  /** The attempt ended with an unknown outcome before its timeout. */
  isEnded?: boolean | undefined;
  /** The payment is known without the page or transfer of the create's own answer, so the customer never got it. */
  isPageLost?: boolean | undefined;
  /** The payment that paid this reference, or was paid out by it. */
  paidBy?: string | undefined;
  /** The payment's id, as soon as it is known or suspected. */
  paymentId?: string | undefined;
  /** Ids of other payments that may have this reference. */
  conflictingIds: readonly string[];
  /** The last seen payment and its transfer instructions, once created. Contains no customer data. */
  result?: Envelope | undefined;
  /** The whole request, while it is planned. */
  body?: string | undefined;
  /**
   * Earliest time for upkeep to send the row or to look at it.
   * Absent once the final payment has taken effect or was given up.
   */
  dueAt?: number | undefined;
  /** The due time at which a paid payment took effect. Later due times are rechecks. */
  effectAt?: number | undefined;
  /** How often upkeep looked at the row, or the gateway refused it. */
  looks: number;
  /** End of the lease of the upkeep that has the row. */
  leasedUntil?: number | undefined;
  /** Counts the changes, starting at 1. */
  revision: number;
}

/** A selection of rows. */
export interface JournalQuery {
  states: readonly JournalState[];
}

/** A selection of due rows. */
export interface DueCreates extends JournalQuery {
  /** Minimum age of the attempt in milliseconds. */
  olderThan?: number | undefined;
}

/** The creates in a store. */
export interface JournalStore {
  read(key: JournalKey): Promise<Timed<{ row?: JournalRow | undefined }>>;
  /**
   * Writes the row durably with revision 1, unless the key is taken. The store's time becomes `begunAt`, and `dueAt` if
   * set.
   *
   * @param tx the merchant's own open transaction to write in. There the row also replaces a `freed` one, with the next
   * revision and the same `isRetry`. All its statements are sent before the call returns
   * @returns the row now stored
   */
  insert(row: JournalRow, tx?: unknown): Promise<Timed<{ row: JournalRow; isInserted: boolean }>>;
  /** Replaces the row with that revision durably, and increments the revision. Does nothing for another revision. */
  replace(row: JournalRow, revision: number): Promise<Timed<{ isReplaced: boolean }>>;
  /** Returns the rows in these states, the earliest begun first. */
  list(query: JournalQuery): Promise<Timed<{ rows: JournalRow[] }>>;
  /** Leases due rows, the longest due first. Two callers never get the same row. A lease is a change. */
  claim(query: DueCreates, limit: number, leaseMs: number): Promise<Timed<{ rows: JournalRow[] }>>;
}

/** The creates of a store. */
export interface Journal extends JournalStore {
  readonly scope: string;
  readonly settleMargin?: number | undefined;
  watch?: Store['watch'] | undefined;
  /** Returns the create that has this payment. */
  owner(paymentId: string): Promise<Timed<{ row?: JournalRow | undefined }>>;
}

/** One for each store, because calls of one process share a running create. */
const JOURNALS = new WeakMap<Store, Journal>();

/** Returns the creates of a store. */
export function createsOf(store: Store): Journal {
  const journal = JOURNALS.get(store) ?? journalOver(store);
  JOURNALS.set(store, journal);
  return journal;
}

function journalOver(store: Store): Journal {
  const { scope, settleMargin } = store;
  const keyOf = ({ reference }: Pick<JournalKey, 'reference'>) => ({ kind: 'create', id: reference }) as const;
  const entered = (row: StoreRow) => createOf(scope, row);
  const write = async (row: JournalRow, revision: number, tx?: unknown) =>
    store.write({ ...storeRowOf(row), revision }, tx);
  return {
    scope,
    settleMargin,
    watch: store.watch?.bind(store),
    async read(key) {
      const { row, now } = await store.read(keyOf(key));
      return { row: row && entered(row), now };
    },
    async owner(paymentId) {
      const { row, now } = await store.owner(paymentId.toLowerCase());
      return { row: row && entered(row), now };
    },
    async insert(row, tx) {
      const { isWritten, row: found, now } = await write(row, 0, tx);
      if (!found) throw new Error(NEITHER(row.reference));
      if (isWritten || tx === undefined || found.state !== 'freed')
        return { row: entered(found), isInserted: isWritten, now };
      const { isRetry, paidBy } = entered(found);
      const times = { begunAt: now, ...(row.dueAt !== undefined && { dueAt: now }) };
      const next = { ...row, ...times, ...(isRetry && { isRetry }), ...(paidBy && { paidBy }) };
      const over = await write(next, found.revision, tx);
      if (!over.isWritten || !over.row) throw new Error(FREED_MEANWHILE(row.reference));
      return { row: entered(over.row), isInserted: true, now };
    },
    async replace(row, revision) {
      const { isWritten, now } = await write(row, revision);
      return { isReplaced: isWritten, now };
    },
    async list({ states }) {
      const { rows, now } = await store.list({ kind: 'create', states });
      return { rows: rows.map(entered), now };
    },
    async claim({ states, olderThan }, limit, leaseMs) {
      const { rows, now } = await store.due({ kind: 'create', states, olderThan }, limit, leaseMs);
      return { rows: rows.map(entered), now };
    },
  };
}

/** Returns the create in a row of the store. */
export const createOf = (scope: string, { id, state, revision, begunAt, dueAt, leasedUntil, data }: StoreRow) =>
  ({
    ...data,
    scope,
    reference: id,
    state,
    revision,
    begunAt,
    ...(dueAt !== undefined && { dueAt }),
    ...(leasedUntil !== undefined && { leasedUntil }),
  }) as JournalRow;

/** Returns the store's row of a create. Only a confirmed payment is the create's for the store. */
export function storeRowOf(row: JournalRow): StoreRow {
  const { scope, reference, state, revision, begunAt, dueAt, leasedUntil, ...data } = row;
  const paymentId = state === 'created' ? data.paymentId?.toLowerCase() : undefined;
  return { kind: 'create', id: reference, state, revision, begunAt, dueAt, leasedUntil, paymentId, data };
}

const NEITHER = (reference: string) =>
  `Reference ${JSON.stringify(reference)} could neither be written nor found. A trigger on the table, or another program that deletes its rows, prevents it.`;

const FREED_MEANWHILE = (reference: string) =>
  `Reference ${JSON.stringify(reference)} was changed while it was planned, so nothing was planned: roll back, and call payOut again.`;

/** The store's entry of a reference. */
export interface CreateEntry extends JournalKey {
  /** `planned`: waits for upkeep. `begun`: running or in doubt. `freed`: made no payment. */
  state: JournalState;
  /** Time when its create began, or was planned. */
  since: Date;
  paymentType: JournalRequest['paymentType'];
  paymentMethod: string;
  /** A plain decimal without trailing zeros, in units of `currency`. */
  amount: string;
  currency: string;
  /** The payment's id, if known or suspected: an error's body may have named it. */
  paymentId?: string | undefined;
  /** Ids of other payments that may have this reference. */
  conflictingIds: readonly string[];
  /** Whether the create may still run: it has not ended, and its timeout has not passed. */
  underWay: boolean;
  /** The last seen payment, once created. Contains no customer data. */
  payment?: Payment | undefined;
}

/** A create with an unknown outcome: its state is `begun`, and it has no payment yet. */
export type Doubt = Omit<CreateEntry, 'state' | 'payment'>;
