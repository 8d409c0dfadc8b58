// What a journal keeps of a payment: what tells it and its next action, and nothing of the customer.
import { isDeepStrictEqual } from 'node:util';
import type { Payment, Timestamp } from '../schemas/payment.ts';
import { isFinal, progressOf } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';

/** Neither customer nor address nor wallet nor free text, and no field that a gateway adds one day. */
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
 * A payment and its next action as the journal keeps them: the later status, and the redirect URL or the transfer that only
 * the answer to a create has. A final payment has no next action.
 *
 * @param known as it is kept already
 * @param seen as it is now, unless the gateway's record is behind
 */
export function keep(known: Envelope | undefined, seen: Envelope): Envelope {
  const latest = furtherOn(known?.payment, seen.payment);
  const { created } = latest;
  const payment = {
    ...pick(latest, PAYMENT_FIELDS),
    ...(created && { created: pick(created, CREATED_FIELDS) }),
  } as Payment;
  if (isFinal(payment)) return { payment };
  const { redirectUrl, transfer } = nextStepOf(known, seen);
  return { payment: { ...payment, ...(redirectUrl && { redirectUrl }) }, ...(transfer && { transfer }) };
}

/** The payment as it was just looked up, with the next action that the journal has kept. */
export function withNextAction(known: Envelope, { payment }: Envelope): Envelope {
  if (isFinal(payment)) return { payment };
  const { redirectUrl, transfer } = nextStepOf(known, { payment });
  return { payment: { ...payment, ...(redirectUrl && { redirectUrl }) }, ...(transfer && { transfer }) };
}

/** Whether nothing of what is kept changes. */
export function isUnchanged(known: Envelope, seen: Envelope): boolean {
  return isDeepStrictEqual(known, keep(known, seen));
}

const nextStepOf = (known: Envelope | undefined, seen: Envelope) => ({
  redirectUrl: seen.payment.redirectUrl ?? known?.payment.redirectUrl,
  transfer: seen.transfer ?? known?.transfer,
});

const furtherOn = (known: Payment | undefined, seen: Payment): Payment =>
  known && progressOf(seen.paymentStatus) < progressOf(known.paymentStatus) ? known : seen;

const pick = (from: object, names: readonly string[]): object =>
  Object.fromEntries(names.flatMap(name => (from[name as never] === undefined ? [] : [[name, from[name as never]]])));
