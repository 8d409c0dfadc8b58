// Makes each status of a payment take effect once: the contract that every inbox keeps.
import type { Payment } from '../schemas/payment.ts';
import { isFinal, rawStatusOf } from '../schemas/payment-status.ts';

/** A status that a payment has reached, by the gateway's own record. */
export interface InboxEvent {
  /** In lower case. */
  paymentId: string;
  /** As the gateway writes it, also when the SDK does not know it. */
  status: string;
  /** Whether the status is final: no status that is not final takes effect after it. */
  final: boolean;
}

/**
 * What happened to an event: `ran`, it took effect now; `already`, it took effect before, or a final status did; `busy`,
 * another worker has this payment, so try again in a moment.
 */
export type InboxResult = 'ran' | 'already' | 'busy';

/**
 * Remembers which statuses of which payments have taken effect. Per payment one `work` runs at a time; a status whose
 * work has run is skipped for ever, and so is any that is not final after one that is. A different final status still
 * runs once. Work that throws leaves no mark. `inboxSuite` of payment-gateway-sdk/testing proves an inbox.
 */
export interface Inbox<Context extends object = object> {
  run(event: InboxEvent, work: (context: Context) => Promise<unknown>): Promise<InboxResult>;
}

/** A status that has taken effect. */
export type Mark = Pick<InboxEvent, 'status' | 'final'>;

/** Whether an event has had its effect, or comes too late to have one. */
export const isDone = (marks: readonly Mark[], event: InboxEvent): boolean =>
  marks.some(mark => mark.status === event.status || (mark.final && !event.final));

/** The event of a payment that was looked up. */
export const eventOf = (payment: Payment): InboxEvent => ({
  paymentId: payment.id.toLowerCase(),
  status: rawStatusOf(payment),
  final: isFinal(payment),
});
