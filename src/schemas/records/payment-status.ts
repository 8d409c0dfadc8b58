// The meaning of a payment's status, apart from the schemas because stores need only this.
import { isFinalStatus, type PaymentStatus } from '../methods.ts';
import type { CompletedPayment, FinalPayment, Payment } from './payment.ts';

/** Checks for `COMPLETED`, `FAILED` or `CANCELED`. A chargeback, for example, may still change it. */
export const isFinal = (payment: Payment): payment is FinalPayment => isFinalStatus(payment.paymentStatus);

/** Checks whether the money moved: `COMPLETED`. Check `paymentType` before you credit anyone: a withdrawal was paid out. */
export const isPaid = (payment: Payment): payment is CompletedPayment => payment.paymentStatus === 'COMPLETED';

/** Checks for the gateway's reliable sign of undelivered funds: `FAILED` without a `crypto_tx_hash`. */
export const fundsNotDelivered = (payment: Payment): boolean =>
  payment.paymentStatus === 'FAILED' && !payment.crypto_tx_hash;

/** Ranks a status by progress. An unknown status may follow a final one, so it counts as final. */
export const progressOf = (status: string): 1 | 2 | 3 => (status === 'PENDING' ? 1 : status === 'AUTHORIZED' ? 2 : 3);

/** Returns the status as the gateway writes it, even an unknown one such as `REFUNDED`. */
export const rawStatusOf = (payment: Payment): PaymentStatus | (string & {}) =>
  payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus;
