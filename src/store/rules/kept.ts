// Selects the fields of a payment that the store keeps: its identity and next action, without customer data.
import type { Payment } from '../../schemas/records/payment.ts';
import { isFinal, progressOf } from '../../schemas/records/payment-status.ts';
import type { Envelope } from '../../schemas/records/response.ts';

type FieldOf<P> = P extends unknown ? keyof P : never;

/** Whether the store keeps a field unchanged. It keeps no customer, address, wallet or free text. */
const IS_KEPT: Record<FieldOf<Payment>, boolean> = {
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
  created: true,
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

/** Merges a payment with its state in the store: the later status, and the next action of the create's answer. */
export function mergeKept(known: Envelope | undefined, seen: Envelope): Envelope {
  // The gateway's record may be out of date.
  const isBehind = known && progressOf(seen.payment.paymentStatus) < progressOf(known.payment.paymentStatus);
  const fields = Object.entries(isBehind ? known.payment : seen.payment).filter(([name]) => IS_KEPT[name as never]);
  // As JSON, like the stores, so that the same record is no change.
  const payment = JSON.parse(JSON.stringify(Object.fromEntries(fields)));
  return withNextAction(known ?? seen, withNextAction(seen, { payment }));
}

/** The payment with its next action, or else that of another record. A final payment has none. */
export function withNextAction(other: Envelope, { payment, transfer = other.transfer }: Envelope): Envelope {
  if (isFinal(payment)) return { payment };
  const redirectUrl = payment.redirectUrl ?? other.payment.redirectUrl;
  return { payment: { ...payment, ...(redirectUrl && { redirectUrl }) }, ...(transfer && { transfer }) };
}
