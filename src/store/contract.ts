// The contract of a store: rows of four kinds, and effects that run once in the merchant's own transaction.

/**
 * `create`: a reference and the state of its create. `order`: an order, and the payment that pays it. `payment`: the
 * handled status and reviews of a payment or refused payout. `gateway`: the gateway's address, and its outage.
 */
export type RowKind = 'create' | 'order' | 'payment' | 'gateway';

/** The key of a row in the store's scope. */
export interface RowKey {
  kind: RowKind;
  /** At most 1,020 bytes of UTF-8, without a NUL. */
  id: string;
}

/** A row. The store reads only these fields, and keeps `data` unchanged. Times are milliseconds by the store's clock. */
export interface StoreRow extends RowKey {
  state: string;
  /** Counts the writes, starting at 1. 0 in a row that is not written yet. */
  revision: number;
  /** Time of the first write. The store sets it. */
  begunAt: number;
  /** Earliest time to work on the row. In a new row the store replaces any value by its own time. */
  dueAt?: number | undefined;
  /** End of the lease of the process that works on the row. */
  leasedUntil?: number | undefined;
  /** The payment of a create. In one scope, no two rows can have the same. */
  paymentId?: string | undefined;
  /** Plain JSON, without the keys whose value is undefined. */
  data: object;
  /** For a payment whose effect has begun and not ended: the `about` of that effect. */
  about?: object | undefined;
}

/** A store's answer, with the store's current time. */
export type WithNow<T> = T & { now: number };

/** A selection of rows of one kind. */
export interface RowQuery {
  kind: RowKind;
  states: readonly string[];
}

/** A selection of due rows. */
export interface DueQuery extends RowQuery {
  /** Minimum milliseconds since `begunAt`. */
  olderThan?: number | undefined;
}

/** The result of a write. */
export type Written = WithNow<{
  /** In MySQL also false if another process has replaced the written row already. */
  isWritten: boolean;
  /** The row now stored. After a failed replacement it may be absent: read it again. */
  row?: StoreRow | undefined;
}>;

/** An effect on one payment. */
export interface StoreEffect {
  /** The id of its row: the payment's id in lower case, or the reference of a refused payout. */
  id: string;
  /** Facts that the row keeps while the effect runs, as plain JSON. They describe an effect that was cut off. */
  about: object;
  /** Further rows to lock and read in the same transaction. */
  reads: readonly RowKey[];
}

/** The argument of an effect's work. */
export interface LockedRows<Tx> {
  /** The transaction in which the work writes. */
  tx: Tx;
  /** The payment's row before this effect. */
  payment?: StoreRow | undefined;
  /** The rows of `reads`, in their order. */
  rows: readonly (StoreRow | undefined)[];
}

/**
 * The result of an effect. `done`: committed. `skipped`: the work wrote nothing. `busy`: another worker has the
 * payment, so retry shortly. `uncertain`: an earlier effect was cut off, so its writes may be incomplete.
 */
export type EffectResult = 'done' | 'skipped' | 'busy' | 'uncertain';

/**
 * Keeps all state of the SDK in one place. A store keeps rows and decides nothing. `postgresStore`, `mysqlStore` and
 * `memoryStore` make one. Prove your own with `storeSuite` of payment-gateway-sdk/testing.
 *
 * @typeParam Tx the transaction that effects get, and in which payouts are planned
 */
export interface Store<Tx = unknown> {
  /** The scope within which references are unique. Set it per terminal and never change it. */
  readonly scope: string;
  /** Milliseconds after a create's timeout until an operator may settle it as not created. @default 600_000 */
  readonly settleMargin?: number | undefined;
  read(key: RowKey): Promise<WithNow<{ row?: StoreRow | undefined }>>;
  /** Returns the create that has this payment. */
  owner(paymentId: string): Promise<WithNow<{ row?: StoreRow | undefined }>>;
  /**
   * Writes a row durably, if the stored row has its revision. Revision 0 inserts. The next revision is one higher.
   *
   * @param tx the merchant's own open transaction, in which the row is written
   * @throws {PaymentTaken} if another row has the `paymentId`
   */
  write(row: StoreRow, tx?: Tx): Promise<Written>;
  /** Returns the rows in these states, oldest first. */
  list(query: RowQuery): Promise<WithNow<{ rows: StoreRow[] }>>;
  /** Leases due rows, the longest due first. Two callers never get the same row. A lease is a write. */
  due(query: DueQuery, limit: number, leaseMs: number): Promise<WithNow<{ rows: StoreRow[] }>>;
  /**
   * Runs one effect per payment at a time. Its writes and the rows that it returns are committed together, or not at
   * all.
   *
   * @param work returns the rows to write, the payment's among them, or undefined to undo everything
   * @throws the work's error, after a rollback; `EffectCutOff` if the transaction ended too early; Error if it was not
   * committed
   */
  effect(
    effect: StoreEffect,
    work: (locked: LockedRows<Tx>) => Promise<readonly StoreRow[] | undefined>,
  ): Promise<EffectResult>;
  /**
   * Calls back after each planned payout until the signal is aborted, then resolves.
   *
   * @throws the database's error, as soon as notifications stop
   */
  watch?(onPlanned: () => void, signal: AbortSignal): Promise<void>;
  /** Creates the tables unless they exist. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** Returns the SQL of `migrate`, for separate migration tools. */
  ddl(): string;
}

/** Another row of the scope has the payment. */
export class PaymentTaken extends Error {
  override readonly name = 'PaymentTaken';
}

/** The transaction of an effect ended before its work, so a part of the work may be committed. */
export class EffectCutOff extends Error {
  override readonly name = 'EffectCutOff';
}

/** Milliseconds before each retry for a payment that a worker of another process has. */
export const LOCK_PAUSES: readonly number[] = [20, 40, 80, 160, 320, 640];
