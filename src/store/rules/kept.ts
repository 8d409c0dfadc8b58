// Selects the fields of a payment that the store keeps: its identity and next action, without customer data.
import { isDeepStrictEqual } from 'node:util';
import type { Payment, Timestamp } from '../../schemas/records/payment.ts';
import { isFinal, progressOf } from '../../schemas/records/payment-status.ts';
import type { Envelope } from '../../schemas/records/response.ts';

/** Excludes customer, address, wallet, free text and every field that a gateway may add later. */
const PAYMENT_FIELDS = [
  'id',
  'paymentStatus',
  'rawPaymentStatus',
  'paymentType',
  'paymentMethod',
  'reference',
  'amount',
  'currency',
  'cryptoAmount',
  'cryptoCurrency',
  'crypto_fx',
  'settled_crypto_amount',
  'crypto_tx_hash',
];
const CREATED_FIELDS: (keyof Timestamp)[] = ['date', 'timezone_type', 'timezone'];

/**
 * Merges a payment with its kept state: the later status, and the redirect URL or transfer of the create's answer. A
 * final payment has no next action.
 *
 * @param known the state in the store
 * @param seen the current state, unless the gateway's record is out of date
 */
export function mergeKept(known: Envelope | undefined, seen: Envelope): Envelope {
  const latest = furtherOn(known?.payment, seen.payment);
  const { created } = latest;
  const payment = {
    ...pick(latest, PAYMENT_FIELDS),
    ...(created && { created: pick(created, CREATED_FIELDS) }),
  } as Payment;
  const transfer = seen.transfer ?? known?.transfer;
  const redirectUrl = seen.payment.redirectUrl ?? known?.payment.redirectUrl;
  return withNextAction({ payment: { ...payment, redirectUrl } as Payment, transfer }, { payment });
}

/** The payment from the latest lookup, with the next action from the store. */
export function withNextAction(known: Envelope, { payment }: Envelope): Envelope {
  if (isFinal(payment)) return { payment };
  const { transfer } = known;
  const redirectUrl = payment.redirectUrl ?? known.payment.redirectUrl;
  return { payment: { ...payment, ...(redirectUrl && { redirectUrl }) }, ...(transfer && { transfer }) };
}

/** Whether the kept fields are unchanged. */
export function isUnchanged(known: Envelope, seen: Envelope): boolean {
  return isDeepStrictEqual(known, mergeKept(known, seen));
}

const furtherOn = (known: Payment | undefined, seen: Payment): Payment =>
  known && progressOf(seen.paymentStatus) < progressOf(known.paymentStatus) ? known : seen;

const pick = (from: object, names: readonly string[]): object =>
  Object.fromEntries(names.flatMap(name => (from[name as never] === undefined ? [] : [[name, from[name as never]]])));
