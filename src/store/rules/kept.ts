// Selects the fields of a payment that the store keeps: its identity and next action, without customer data.
import type { Payment } from '../../schemas/records/payment.ts';
import { isFinal, progressOf } from '../../schemas/records/payment-status.ts';
import type { Envelope } from '../../schemas/records/response.ts';

type FieldOf<P> = P extends unknown ? keyof P : never;

/** Whether the store keeps a field, or which fields of its object: no customer, address, wallet or free text. */
const IS_KEPT: Record<FieldOf<Payment>, boolean | readonly string[]> = {
  id: true,
  paymentStatus: true,
  rawPaymentStatus: true,
  paymentType: true,
  paymentMethod: true,
  reference: true,
  amount: true,
  currency: true,
  cryptoAmount: true,
  cryptoCurrency: true,
  crypto_fx: true,
  settled_crypto_amount: true,
  crypto_tx_hash: true,
  created: ['date', 'timezone_type', 'timezone'],
  // Kept as the next action.
  redirectUrl: false,
  // Not kept.
  customer: false,
  billingAddress: false,
  description: false,
  destination_wallet: false,
  errorMessage: false,
  fallbackPaymentStatus: false,
};
/** At every depth, so without the fields that a gateway may add later. */
const KEPT = Object.entries(IS_KEPT).flatMap(([name, kept]) => (kept ? [name, ...(kept === true ? [] : kept)] : []));

/** Merges a payment with its state in the store: the later status, and the next action of the create's answer. */
export function mergeKept(known: Envelope | undefined, seen: Envelope): Envelope {
  // The gateway's record may be out of date.
  const isBehind = known && progressOf(seen.payment.paymentStatus) < progressOf(known.payment.paymentStatus);
  // As JSON, like the stores, so that the same record is no change.
  const payment = JSON.parse(JSON.stringify(isBehind ? known.payment : seen.payment, KEPT));
  return withNextAction(known ?? seen, withNextAction(seen, { payment }));
}

/** The payment with its next action, or else that of another record. A final payment has none. */
export function withNextAction(other: Envelope, { payment, transfer = other.transfer }: Envelope): Envelope {
  if (isFinal(payment)) return { payment };
  const redirectUrl = payment.redirectUrl ?? other.payment.redirectUrl;
  return { payment: { ...payment, ...(redirectUrl && { redirectUrl }) }, ...(transfer && { transfer }) };
}
