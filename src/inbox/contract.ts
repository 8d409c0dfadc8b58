// The contract of every inbox: each status of a payment takes effect once.
import { createHash } from 'node:crypto';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, progressOf, rawStatusOf } from '../schemas/payment-status.ts';

/** A status that a payment has reached, from the gateway's own record. */
export interface InboxEvent {
  /** The gateway's id of the payment, in lower case. */
  paymentId: string;
  /**
   * The status as the gateway writes it, known to the SDK or not, with at most 64 characters of well-formed text. Any
   * other text, or one with NUL, is replaced by its SHA-256 as hex.
   */
  status: string;
  /** Whether the status is final: `PENDING` and `AUTHORIZED` have no effect after it. */
  final: boolean;
  /** The marks that `run` returned before. The caller has looked the payment up since. */
  seen?: readonly Mark[] | undefined;
}

/** A status that has taken effect. */
export interface Mark {
  status: string;
  final: boolean;
  /**
   * Set if the effect began and other code ended its transaction, so that the effect may be incomplete. Only stores in
   * the merchant's database can have such marks.
   */
  begun?: true | undefined;
}

/**
 * Result of an event. `ran`: it took effect now. `already`: it took effect before, or is out of date. `busy`: another
 * worker has this payment, so retry shortly.
 */
export type InboxResult = 'ran' | 'already' | 'busy';

/** Result of processing a payment, after its callback or by a sweep. */
export interface Processed {
  /** The inbox's result for its status. */
  result: InboxResult;
  /** The gateway's own record. */
  payment: Payment;
}

/**
 * Remembers the statuses of payments that have taken effect. One `work` per payment runs at a time. A status whose work
 * has run is skipped permanently. Work that throws leaves no mark. Prove your own inbox with `inboxSuite` of
 * payment-gateway-sdk/testing.
 */
export interface Inbox<Context extends object = object> {
  /**
   * Runs the work, unless the payment's marks make it unnecessary.
   *
   * @returns all marks of the payment if the event may be out of date. Look the payment up again, and run its event
   * with these marks as `seen`
   */
  run(event: InboxEvent, work: (context: Context) => Promise<unknown>): Promise<InboxResult | readonly Mark[]>;
}

/**
 * Decides on an event by its payment's marks. Finished statuses are skipped, and `PENDING` and `AUTHORIZED` after a
 * final one. After a final status, or one that this SDK does not know, any other may be newer or older. It runs only if
 * the caller has looked the payment up since it got these marks.
 */
export function decide(marks: readonly Mark[], { status, seen }: InboxEvent): 'run' | 'already' | readonly Mark[] {
  const own = marks.find(mark => mark.status === status);
  if (own) return own.begun ? marks : 'already';
  if (marks.every(mark => isEarly(mark.status))) return 'run';
  if (isEarly(status) && marks.some(mark => mark.final)) return 'already';
  return seen && isSame(seen, marks) ? 'run' : marks;
}

const isEarly = (status: string): boolean => progressOf(status) < 3;

const isSame = (seen: readonly Mark[], marks: readonly Mark[]): boolean =>
  seen.length === marks.length && marks.every(({ status }) => seen.some(mark => mark.status === status));

/** Returns the event of a looked-up payment. */
export const eventOf = (payment: Payment): InboxEvent => ({
  paymentId: payment.id.toLowerCase(),
  status: statusMark(rawStatusOf(payment)),
  final: isFinal(payment),
});

const LONGEST_MARK = 64;

/** Returns the mark of a status. Databases refuse NUL and replace malformed text: such a status would run each time. */
export const statusMark = (status: string): string =>
  status.length <= LONGEST_MARK && status.isWellFormed() && !status.includes('\0')
    ? status
    : createHash('sha256').update(status, 'utf16le').digest('hex');

/** Milliseconds before each retry for the lock of a payment that a worker of another process has. */
export const LOCK_PAUSES: readonly number[] = [20, 40, 80, 160, 320, 640];
