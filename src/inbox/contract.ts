// Makes each status of a payment take effect once: the contract that every inbox keeps.
import { createHash } from 'node:crypto';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, progressOf, rawStatusOf } from '../schemas/payment-status.ts';

/** A status that a payment has reached, by the gateway's own record. */
export interface InboxEvent {
  /** In lower case. */
  paymentId: string;
  /**
   * As the gateway writes it, also when the SDK does not know it: at most 64 characters of text, without NUL. Of anything else it
   * is the SHA-256, as hex.
   */
  status: string;
  /** Whether the status is final: `PENDING` and `AUTHORIZED` have no effect after it. */
  final: boolean;
  /** The marks that `run` answered before: the caller has looked the payment up again since. */
  seen?: readonly Mark[] | undefined;
}

/** A status that has taken effect. */
export interface Mark {
  status: string;
  final: boolean;
  /**
   * The effect has begun, and somebody other than the inbox ended its transaction: nobody knows how much of it was done.
   * Only stores in a database of the merchant's can have such marks.
   */
  begun?: true | undefined;
}

/**
 * What happened to an event: `ran`, it took effect now; `already`, it took effect before, or is out of date; `busy`,
 * another worker has this payment, so try again in a moment.
 */
export type InboxResult = 'ran' | 'already' | 'busy';

/** How a payment was processed, after its callback or by a sweep. */
export interface Processed {
  /** What the inbox did with its status. */
  result: InboxResult;
  /** The gateway's own record. */
  payment: Payment;
}

/**
 * Remembers which statuses of which payments have taken effect. Per payment one `work` runs at a time; a status whose
 * work has run is skipped for ever. Work that throws leaves no mark. `inboxSuite` of payment-gateway-sdk/testing proves
 * an inbox.
 */
export interface Inbox<Context extends object = object> {
  /**
   * Runs the work, unless the marks of the payment say otherwise.
   *
   * @returns all marks of the payment, if they may say that the event is out of date: look the payment up again, and run
   * what you find with these marks as `seen`
   */
  run(event: InboxEvent, work: (context: Context) => Promise<unknown>): Promise<InboxResult | readonly Mark[]>;
}

/**
 * What an inbox does with an event, by the marks of its payment: skips what is done, and `PENDING` and `AUTHORIZED` after
 * a final status. After a final status, or one that this SDK does not know, any other may be the newer or the older one:
 * it runs only if the caller has looked the payment up since it was told these marks.
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

/** The event of a payment that was looked up. */
export const eventOf = (payment: Payment): InboxEvent => ({
  paymentId: payment.id.toLowerCase(),
  status: statusMark(rawStatusOf(payment)),
  final: isFinal(payment),
});

const LONGEST_MARK = 64;

/** What a status is marked as. Databases refuse NUL, and replace what is no text: such a status would run at each delivery. */
export const statusMark = (status: string): string =>
  status.length <= LONGEST_MARK && status.isWellFormed() && !status.includes('\0')
    ? status
    : createHash('sha256').update(status, 'utf16le').digest('hex');

/** Milliseconds before each further try for the lock of a payment that a worker of another process has. */
export const LOCK_PAUSES: readonly number[] = [20, 40, 80, 160, 320, 640];
