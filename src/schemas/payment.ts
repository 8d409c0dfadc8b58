// The payment record: strict on what decides money, lenient on the rest, a union by paymentStatus.
import * as z from 'zod';
import { isFinalStatus, PAYMENT_STATUSES, type PaymentMethod } from './methods.ts';
import { open } from './objects.ts';

/** Text that the gateway may leave out. A number counts; anything else that is no text reads as absent. */
export const text = z
  .string()
  .nullish()
  .catch(({ value }) => (typeof value === 'number' ? String(value) : undefined));

/** For people to read: whatever is no text becomes one, so that nothing is lost and nothing makes a payment unreadable. */
const words = z
  .string()
  .nullish()
  .catch(({ value }) => (typeof value === 'object' ? jsonOf(value) : String(value)));

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // nested so deeply that it cannot be written
  }
}

/** A number the gateway may leave out. A numeric text counts; anything else reads as absent. */
const number = z
  .number()
  .nullish()
  .catch(({ value }) => {
    const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
    return Number.isFinite(read) ? read : undefined;
  });

/** PHP writes an empty map as `[]`; anything else that is no object reads as null. */
const map = <S extends z.ZodRawShape>(shape: S) =>
  open(shape)
    .nullish()
    .catch(({ value }) => (Array.isArray(value) && value.length === 0 ? ({} as never) : null));

/** PHP's `DateTime` as JSON. Read it with {@link createdAt}. */
export const timestampSchema = map({
  /** Wall time in `timezone`: `YYYY-MM-DD HH:MM:SS.ffffff`. */
  date: text,
  /** How `timezone` is written: 1 an offset, 2 an abbreviation, 3 a zone name. */
  timezone_type: number,
  /** An offset, an abbreviation or a zone's name, as `timezone_type` says. */
  timezone: text,
});

/** The customer as recorded. The document shows these names but not their types. */
export const customerSchema = map({
  /** Given name. */
  firstName: words,
  /** Family name. */
  lastName: words,
  /** E-mail address. */
  email: words,
  /** Telephone number. */
  phone: words,
  /** The customer's IP address. The gateway spells the name in lower case. */
  ipaddress: words,
  /** Sent with some methods only. */
  dateOfBirth: words,
  /** The merchant's own id of the customer. */
  referenceId: words,
});

/** Where the customer's bill goes. */
export const billingAddressSchema = map({
  /** Street and number. */
  address1: words,
  /** Town. */
  city: words,
  /** Two letters, as in `DE`. */
  countryCode: words,
  /** Post code. */
  postalCode: words,
  /** Region, where the country has them. */
  state: words,
});

/** The gateway's id of the payment, a UUID: the key of a lookup. */
const id = z.guid();

const record = {
  paymentType: z.enum(['DEPOSIT', 'WITHDRAWAL']),
  /** Units of `currency`, not cents. */
  amount: z.number(),
  /** Currency code of `amount`. */
  currency: z.string().min(1),
  /** When the payment was created; {@link createdAt} reads it. */
  created: timestampSchema,
  /** The merchant's own words, as requested. */
  description: words,
  /** As requested; a record may show `USER_CHOICE`, or a method this SDK does not know. */
  paymentMethod: text as unknown as z.ZodOptional<z.ZodType<PaymentMethod | (string & {}) | null>>,
  /** The merchant's own transaction id. */
  reference: words,
  /** As requested, or null. */
  customer: customerSchema,
  /** As requested. */
  billingAddress: billingAddressSchema,
  /** Where the customer finishes paying. Only creates answer it; use `nextAction`, which has checked it. */
  redirectUrl: text,
  /** Decimal text in units of `cryptoCurrency`, eight places in the observed form. */
  cryptoAmount: text,
  /** Code of the crypto asset. */
  cryptoCurrency: text,
  /** Exchange rate. */
  crypto_fx: number,
  /** Seen on callbacks of GOOGLEPAY. The gateway's document gives it no meaning. */
  fallbackPaymentStatus: number,
};

const failure = {
  /** The processor's reason, for humans. It may be absent on a failure: never branch on it. */
  errorMessage: words,
};

const settlement = {
  /** Settled crypto, a number. Absent from callbacks of the card methods. */
  settled_crypto_amount: number,
  /** The settlement's transaction on its chain. */
  crypto_tx_hash: text,
  /** The wallet that the crypto was sent to. */
  destination_wallet: text,
};

/** Created; the customer or the processor has not finished. */
export const pendingPaymentSchema = open({ id, paymentStatus: z.literal('PENDING'), ...record });
/** Authorised but not captured: not paid yet. */
export const authorizedPaymentSchema = open({ id, paymentStatus: z.literal('AUTHORIZED'), ...record });
/** Paid. Final. */
export const completedPaymentSchema = open({
  id,
  paymentStatus: z.literal('COMPLETED'),
  ...record,
  ...settlement,
});
/** Failed. Final. Whether funds moved is told by {@link fundsNotDelivered}. */
export const failedPaymentSchema = open({
  id,
  paymentStatus: z.literal('FAILED'),
  ...record,
  ...settlement,
  ...failure,
});
/** Canceled. Final. */
export const canceledPaymentSchema = open({
  id,
  paymentStatus: z.literal('CANCELED'),
  ...record,
  ...failure,
});
/** In a state that this version of the SDK does not know: neither final nor paid. */
export const unknownPaymentSchema = open({
  id,
  paymentStatus: z.literal('UNKNOWN'),
  /** The state as the gateway wrote it. */
  rawPaymentStatus: z.string(),
  ...record,
  ...settlement,
  ...failure,
});

const KNOWN_STATUSES: ReadonlySet<unknown> = new Set(PAYMENT_STATUSES);

/** Done before the union is told apart, so that a new state is a variant and not a failure to parse. */
function withKnownStatus(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('paymentStatus' in value)) return value;
  const { paymentStatus } = value;
  if (typeof paymentStatus !== 'string' || KNOWN_STATUSES.has(paymentStatus)) return value;
  return { ...value, paymentStatus: 'UNKNOWN', rawPaymentStatus: paymentStatus };
}

/** A payment as the gateway records it. */
export const paymentSchema = z.preprocess(
  withKnownStatus,
  z.discriminatedUnion('paymentStatus', [
    pendingPaymentSchema,
    authorizedPaymentSchema,
    completedPaymentSchema,
    failedPaymentSchema,
    canceledPaymentSchema,
    unknownPaymentSchema,
  ]),
);

export interface PendingPayment extends z.output<typeof pendingPaymentSchema> {}
export interface AuthorizedPayment extends z.output<typeof authorizedPaymentSchema> {}
export interface CompletedPayment extends z.output<typeof completedPaymentSchema> {}
export interface FailedPayment extends z.output<typeof failedPaymentSchema> {}
export interface CanceledPayment extends z.output<typeof canceledPaymentSchema> {}
export interface UnknownPayment extends z.output<typeof unknownPaymentSchema> {}
export type FinalPayment = CompletedPayment | FailedPayment | CanceledPayment;
export type Payment = PendingPayment | AuthorizedPayment | FinalPayment | UnknownPayment;
export type Timestamp = z.output<typeof timestampSchema>;
export type Customer = z.output<typeof customerSchema>;
export type BillingAddress = z.output<typeof billingAddressSchema>;

/** Whether the gateway is done with the payment: `COMPLETED`, `FAILED` or `CANCELED`. */
export const isFinal = (payment: Payment): payment is FinalPayment => isFinalStatus(payment.paymentStatus);

/**
 * Whether the money moved: `COMPLETED`. That holds for a withdrawal paid out as well as for a deposit paid in, so
 * look at `paymentType` before you credit anyone.
 */
export const isPaid = (payment: Payment): payment is CompletedPayment =>
  payment.paymentStatus === 'COMPLETED';

/** The gateway's reliable sign that no funds were delivered: `FAILED`, and no `crypto_tx_hash`. */
export const fundsNotDelivered = (payment: Payment): boolean =>
  payment.paymentStatus === 'FAILED' && !payment.crypto_tx_hash;
