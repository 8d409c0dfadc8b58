// The create of a reference: an attempt, and its row in the store.
import { isSamePayment } from '../../schemas/id.ts';
import type { Envelope } from '../../schemas/records/response.ts';
import type { StoreRow, WithNow } from '../contract.ts';

export interface Attempt {
  reference: string;
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  /** A plain decimal without trailing zeros, in units of `currency`. */
  amount: string;
  currency: string;
  /** Hash of the whole body in a canonical form. */
  bodyHash: string;
  /** Identifies the attempt, so that a late one cannot change a newer one. */
  attemptId: string;
  /** Milliseconds after its begin until this attempt stops sending. */
  timeoutMs: number;
  /** The order that it is an attempt of. */
  order?: string | undefined;
}

/**
 * `planned`: written in the merchant's own transaction and not sent yet. `begun`: running, or in doubt. `created`: has
 * its payment permanently. `freed`: the last attempt made no payment, so the next create may begin.
 */
type CreateState = 'planned' | 'begun' | 'created' | 'freed';

/** The row of a reference. It is due until its final payment has taken effect or was given up. */
export interface CreateRow extends Attempt, Pick<StoreRow, 'revision' | 'begunAt' | 'dueAt' | 'leasedUntil'> {
  state: CreateState;
  /** A sent attempt was given up, so a failed payment may belong to that attempt instead of the next one. */
  isRetry?: boolean | undefined;
  /** The attempt ended with an unknown outcome, or its payment is known without the page of its own answer. */
  isAnswerLost?: boolean | undefined;
  /** The payment that paid this reference, or was paid out by it. Null after a reversal. An order has its own. */
  paidBy?: string | null | undefined;
  /** As soon as it is known or suspected. */
  paymentId?: string | undefined;
  conflictingIds: readonly string[];
  /** The last seen payment and its transfer instructions, once created. Contains no customer data. */
  result?: Envelope | undefined;
  /** The whole request, while it is planned. */
  body?: string | undefined;
  /** Time of the effect of a paid payment. Until a sweep has scheduled its rechecks, its due time. */
  effectAt?: number | undefined;
  /** How often upkeep looked at the row, or the gateway refused it. */
  looks: number;
}

/** A row with the store's time when it was read. `storeRowOf` drops that time. */
export type ReadRow = WithNow<CreateRow>;

export const createOf = ({ kind, id, paymentId, data, ...row }: StoreRow) =>
  ({ ...data, reference: id, ...row }) as CreateRow;

/** Only a confirmed payment is the create's for the store. */
export function storeRowOf(row: CreateRow & Partial<ReadRow>): StoreRow {
  const { reference, state, revision, begunAt, dueAt, leasedUntil, now, ...data } = row;
  const paymentId = state === 'created' ? data.paymentId?.toLowerCase() : undefined;
  return { kind: 'create', id: reference, state, revision, begunAt, dueAt, leasedUntil, paymentId, data };
}

/** The row of an attempt, possibly over an earlier one, which may have paid. The store sets the time of a new row. */
export function newRow(attempt: Attempt, earlier?: ReadRow): CreateRow {
  const { isRetry, paidBy, revision = 0, now: begunAt = 0 } = earlier ?? {};
  return { ...attempt, state: 'begun', begunAt, conflictingIds: [], looks: 0, isRetry, paidBy, revision };
}

/** Its own id comes first. */
export const knownIds = ({ paymentId, conflictingIds }: CreateRow): readonly string[] =>
  paymentId ? [paymentId, ...conflictingIds] : conflictingIds;

export const isOwnPayment = ({ paymentId }: CreateRow, id: string): boolean =>
  paymentId !== undefined && isSamePayment(paymentId, id);

/** Whether the create may still run: it has not ended, and its timeout has not passed. */
export const isUnderWay = (row: ReadRow): boolean =>
  row.state === 'begun' && !row.isAnswerLost && row.begunAt + row.timeoutMs >= row.now;
