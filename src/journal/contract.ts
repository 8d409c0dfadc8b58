// What a journal keeps of each reference, and the five methods that a store of it has.
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';

/** One reference within one scope: a terminal's, as a rule. */
export interface JournalKey {
  /** At most 255 bytes of UTF-8, without a NUL. */
  scope: string;
  /** At most 1,020 bytes of UTF-8, without a NUL. */
  reference: string;
}

/** What the journal keeps of a request. */
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
 * The state of a reference. `planned`: written down with the merchant's own transaction, and not sent yet. `begun`: running,
 * or in doubt. `created`: it has its payment, for ever. `freed`: the last attempt made no payment, so the next create may
 * begin.
 */
export type JournalState = 'planned' | 'begun' | 'created' | 'freed';

/** Everything that the journal knows of a reference. Times are milliseconds since 1970 by the store's own clock. */
export interface JournalRow extends JournalKey, JournalRequest {
  state: JournalState;
  /** Identifies the attempt, so that a late one cannot change a newer one. */
  attemptId: string;
  /** When the attempt began, or was planned; the store sets it when the row is inserted. */
  begunAt: number;
  /** Milliseconds from then, after which this attempt sends nothing. */
  timeoutMs: number;
  /** An attempt was sent and given up: a failed payment of the reference may be that one's, and not the next one's. */
  isRetry?: boolean | undefined;
  /** The payment's id, as soon as it is known or suspected. */
  paymentId?: string | undefined;
  /** Ids of further payments that may have this reference. */
  conflictingIds: readonly string[];
  /** The payment as it was last seen, and its transfer instructions, once it is created. Without customer data. */
  result?: Envelope | undefined;
  /** The whole request, while it is planned. */
  body?: string | undefined;
  /**
   * From when on a drain sends it, or a sweep looks at it; absent once its payment is final and has taken effect, or was given
   * up.
   */
  dueAt?: number | undefined;
  /** How often it was looked at, or refused. */
  looks: number;
  /** End of the lease of the sweep or drain that has the row. */
  leasedUntil?: number | undefined;
  /** Counts the changes from 1. */
  revision: number;
}

/** What a store answers, with the time at which it did, by its own clock. */
export type Timed<T> = T & { now: number };

/** Which rows are asked for. */
export interface JournalQuery {
  /** Of every scope unless it says one. */
  scope?: string | undefined;
  states: readonly JournalState[];
}

/** Which rows are asked for that are due. */
export interface DueQuery extends JournalQuery {
  /** Milliseconds since the attempt began, at least. */
  olderThan?: number | undefined;
}

/** Keeps rows as they are given, and decides nothing. `journalSuite` of payment-gateway-sdk/testing proves a store. */
export interface JournalStore {
  read(key: JournalKey): Promise<Timed<{ row?: JournalRow | undefined }>>;
  /**
   * Writes the row with revision 1 and the store's own time as `begunAt`, and as `dueAt` if it has one, durably, unless the
   * key is taken.
   *
   * @param tx the merchant's own transaction to write in, which must be open: there the row also takes the place of one that is
   * `freed`, whose `isRetry` it keeps, with the next revision. All that writes is sent at once, before the call returns
   * @returns the row that is there now
   */
  insert(row: JournalRow, tx?: unknown): Promise<Timed<{ row: JournalRow; isInserted: boolean }>>;
  /** Writes the row over the one with that revision, durably, and counts the revision up. Another revision stays. */
  replace(row: JournalRow, revision: number): Promise<Timed<{ isReplaced: boolean }>>;
  /** The rows in these states, those begun first coming first. */
  list(query: JournalQuery): Promise<Timed<{ rows: JournalRow[] }>>;
  /** Leases rows that are due, those due first coming first; no row goes to two callers. A lease is a change. */
  claim(query: DueQuery, limit: number, leaseMs: number): Promise<Timed<{ rows: JournalRow[] }>>;
}

/** A store, and what it is used for. */
export interface Journal extends JournalStore {
  /**
   * What references are unique within: set it per terminal, and never change it. In another scope every reference is new,
   * and is paid again. At most 255 bytes of UTF-8.
   * @default a hash of the client's `baseUrl`
   */
  readonly scope?: string | undefined;
  /**
   * Milliseconds after the time-out of a create until an operator may say that it made no payment: a packet, or a gateway
   * that stood still, may be late.
   * @default 600_000
   */
  readonly settleMargin?: number | undefined;
  /**
   * Calls back when something was planned, until the signal is aborted; resolves then. Without it, a drain that follows looks
   * every second.
   *
   * @throws what the database throws, as soon as it tells no more
   */
  watch?(onPlanned: () => void, signal: AbortSignal): Promise<void>;
}

export const DEFAULT_SETTLE_MARGIN = 600_000;

/** What a journal knows of a reference. */
export interface JournalEntry extends JournalKey {
  /** `planned` is not sent yet; `begun` is under way or in doubt; `freed` made no payment. */
  state: JournalState;
  /** When its create began, or was planned. */
  since: Date;
  paymentType: JournalRequest['paymentType'];
  paymentMethod: string;
  /** A plain decimal without trailing zeros, in units of `currency`. */
  amount: string;
  currency: string;
  /** The payment's id, if it is known or suspected: an error's body may have named it. */
  paymentId?: string | undefined;
  /** Ids of further payments that may have this reference. */
  conflictingIds: readonly string[];
  /** Whether its time-out has not passed. */
  underWay: boolean;
  /** The payment as it was last seen, once it is created: without customer data. */
  payment?: Payment | undefined;
}

/** A create whose outcome is unknown: its state is `begun`, and it has no payment yet. */
export type Doubt = Omit<JournalEntry, 'state' | 'payment'>;
