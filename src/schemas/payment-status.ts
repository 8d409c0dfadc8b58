// What a payment's status says. Apart from the schema, because a store needs no more than this.
import { isFinalStatus, type PaymentStatus } from './methods.ts';
import type { CompletedPayment, FinalPayment, Payment } from './payment.ts';

/** Whether no further status is expected: `COMPLETED`, `FAILED` or `CANCELED`. A gateway may still correct one, as after a chargeback. */
export const isFinal = (payment: Payment): payment is FinalPayment => isFinalStatus(payment.paymentStatus);

/**
 * Whether the money moved: `COMPLETED`. That is true of a withdrawal paid out as well as of a deposit paid in, so
 * look at `paymentType` before you credit anyone.
 */
export const isPaid = (payment: Payment): payment is CompletedPayment => payment.paymentStatus === 'COMPLETED';

/** The gateway's reliable sign that no funds were delivered: `FAILED`, and no `crypto_tx_hash`. */
export const fundsNotDelivered = (payment: Payment): boolean =>
  payment.paymentStatus === 'FAILED' && !payment.crypto_tx_hash;

/** How far a payment has come. A status that this SDK does not know may follow a final one, and so counts as one. */
export const progressOf = (status: string): 1 | 2 | 3 => (status === 'PENDING' ? 1 : status === 'AUTHORIZED' ? 2 : 3);

/** The status as the gateway writes it, also one that this SDK does not know, such as `REFUNDED`. */
export const rawStatusOf = (payment: Payment): PaymentStatus | (string & {}) =>
  payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus;
