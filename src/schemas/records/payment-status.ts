// The meaning of a payment's status, apart from the schema because stores need only this.
import { isFinalStatus, type PaymentStatus } from '../methods.ts';
import type { CompletedPayment, FinalPayment, Payment } from './payment.ts';

/** Checks whether a payment is `COMPLETED`, `FAILED` or `CANCELED`. A chargeback, for example, may still change it. */
export const isFinal = (payment: Payment): payment is FinalPayment => isFinalStatus(payment.paymentStatus);

/**
 * Checks whether the money moved: `COMPLETED`. That includes a withdrawal paid out, so check `paymentType` before you
 * credit anyone.
 */
export const isPaid = (payment: Payment): payment is CompletedPayment => payment.paymentStatus === 'COMPLETED';

/** Checks for the gateway's reliable sign of undelivered funds: `FAILED` without a `crypto_tx_hash`. */
export const fundsNotDelivered = (payment: Payment): boolean =>
  payment.paymentStatus === 'FAILED' && !payment.crypto_tx_hash;

/** Ranks a status by progress. A status that this SDK does not know may follow a final one, so it counts as final. */
export const progressOf = (status: string): 1 | 2 | 3 => (status === 'PENDING' ? 1 : status === 'AUTHORIZED' ? 2 : 3);

/** Returns the status as the gateway writes it, even one that this SDK does not know, such as `REFUNDED`. */
export const rawStatusOf = (payment: Payment): PaymentStatus | (string & {}) =>
  payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus;
