// The payment record: strict on what decides money, lenient on the rest, a union by paymentStatus.
import * as z from 'zod';
import { PAYMENT_STATUSES, type PaymentMethod } from './methods.ts';

/** Keeps unknown fields at run time, without an index signature that would let a mistyped field compile. */
const open = <S extends z.ZodRawShape>(shape: S) =>
  z.looseObject(shape) as unknown as z.ZodObject<S, z.core.$strip>;

/** Text the gateway may leave out. What is not text must not make a payment unreadable, so it becomes its text. */
export const text = z
  .string()
  .nullish()
  .catch(({ value }) => (typeof value === 'object' ? JSON.stringify(value) : String(value)));

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
  timezone: text,
});

export const customerSchema = map({
  firstName: text,
  lastName: text,
  email: text,
  phone: text,
  /** The customer's IP address. The gateway spells the name in lower case. */
  ipaddress: text,
  dateOfBirth: text,
  /** The merchant's own id of the customer. */
  referenceId: text,
});

export const billingAddressSchema = map({
  address1: text,
  city: text,
  /** Two letters, as in `DE`. */
  countryCode: text,
  postalCode: text,
  state: text,
});

/** The gateway's id of the payment, a UUID: the key of a lookup. */
const id = z.guid();

const record = {
  paymentType: z.enum(['DEPOSIT', 'WITHDRAWAL']),
  /** Units of `currency`, not cents. */
  amount: z.number(),
  /** Currency code of `amount`. */
  currency: z.string().min(1),
  created: timestampSchema,
  description: text,
  /** As requested; a record may show `USER_CHOICE`, or a method this SDK does not know. */
  paymentMethod: text as unknown as z.ZodType<PaymentMethod | (string & {}) | null | undefined>,
  /** The merchant's own transaction id. */
  reference: text,
  customer: customerSchema,
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
  errorMessage: text,
};

const settlement = {
  /** Settled crypto, a number. Absent from callbacks of the card methods. */
  settled_crypto_amount: number,
  /** The settlement's transaction on its chain. */
  crypto_tx_hash: text,
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
export const isFinal = (payment: Payment): payment is FinalPayment =>
  payment.paymentStatus === 'COMPLETED' ||
  payment.paymentStatus === 'FAILED' ||
  payment.paymentStatus === 'CANCELED';

/**
 * Whether the money moved: `COMPLETED`. That holds for a withdrawal paid out as well as for a deposit paid in, so
 * look at `paymentType` before you credit anyone.
 */
export const isPaid = (payment: Payment): payment is CompletedPayment =>
  payment.paymentStatus === 'COMPLETED';

/** The gateway's reliable sign that no funds were delivered: `FAILED`, and no `crypto_tx_hash`. */
export const fundsNotDelivered = (payment: Payment): boolean =>
  payment.paymentStatus === 'FAILED' && !payment.crypto_tx_hash;
