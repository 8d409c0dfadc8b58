// The contract of a journal: the data of each reference, and the five methods of a store.
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';

/** One reference within one scope, usually that of a terminal. */
export interface JournalKey {
  /** At most 255 bytes of UTF-8, without a NUL. */
  scope: string;
  /** At most 1,020 bytes of UTF-8, without a NUL. */
  reference: string;
}

/** The data that the journal keeps of a request. */
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

/** The journal's data of a reference. Times are milliseconds since 1970 by the store's own clock. */
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
  /** The payment's id, as soon as it is known or suspected. */
  paymentId?: string | undefined;
  /** Ids of other payments that may have this reference. */
  conflictingIds: readonly string[];
  /** The last seen payment and its transfer instructions, once created. Contains no customer data. */
  result?: Envelope | undefined;
  /** The whole request, while it is planned. */
  body?: string | undefined;
  /**
   * Earliest time for a drain to send the row or a sweep to look at it.
   * Absent once the final payment has taken effect or was given up.
   */
  dueAt?: number | undefined;
  /** How often a sweep looked at the row, or the gateway refused it. */
  looks: number;
  /** End of the lease of the sweep or drain that has the row. */
  leasedUntil?: number | undefined;
  /** Counts the changes, starting at 1. */
  revision: number;
}

/** A store's answer with its time, by the store's clock. */
export type Timed<T> = T & { now: number };

/** A selection of rows. */
export interface JournalQuery {
  /** All scopes if absent. */
  scope?: string | undefined;
  states: readonly JournalState[];
}

/** A selection of due rows. */
export interface DueQuery extends JournalQuery {
  /** Minimum age of the attempt in milliseconds. */
  olderThan?: number | undefined;
}

/** Keeps rows unchanged and decides nothing. Test a store with `journalSuite` of payment-gateway-sdk/testing. */
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
  claim(query: DueQuery, limit: number, leaseMs: number): Promise<Timed<{ rows: JournalRow[] }>>;
}

/** A store with the settings of its use. */
export interface Journal extends JournalStore {
  /**
   * The scope within which references are unique: set it per terminal and never change it. In another scope every
   * reference is new and can be paid again. At most 255 bytes of UTF-8.
   * @default a hash of the client's `baseUrl`
   */
  readonly scope?: string | undefined;
  /**
   * Milliseconds after a create's timeout until an operator may settle it as not created, because a packet or a stalled
   * gateway may be late.
   * @default 600_000
   */
  readonly settleMargin?: number | undefined;
  /**
   * Calls back after each plan until the signal is aborted, then resolves. Without this method, a following drain looks
   * every second.
   *
   * @throws the database's error, as soon as notifications stop
   */
  watch?(onPlanned: () => void, signal: AbortSignal): Promise<void>;
}

export const DEFAULT_SETTLE_MARGIN = 600_000;

/** The journal's knowledge of a reference. */
export interface JournalEntry extends JournalKey {
  /** `planned`: waits for a drain. `begun`: running or in doubt. `freed`: made no payment. */
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
  /** Whether the create may still run: its timeout has not passed. */
  underWay: boolean;
  /** The last seen payment, once created. Contains no customer data. */
  payment?: Payment | undefined;
}

/** A create with an unknown outcome: its state is `begun`, and it has no payment yet. */
export type Doubt = Omit<JournalEntry, 'state' | 'payment'>;
