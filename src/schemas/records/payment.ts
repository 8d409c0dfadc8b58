// The payment record: strict on fields that decide money, lenient on the rest, one type per paymentStatus.
import * as z from 'zod';
import { recordedAmount } from '../amount.ts';
import { each, type FieldsOf } from '../fields-of.ts';
import { isPaymentStatus, type PaymentMethod, type PaymentType } from '../methods.ts';

/** PHP's `DateTime` as JSON. Read it with {@link createdAt}. */
export interface Timestamp {
  /** Local time in `timezone`: `YYYY-MM-DD HH:MM:SS.ffffff`. */
  date?: string | null | undefined;
  /** Form of `timezone`: 1 an offset, 2 an abbreviation, 3 a zone name. */
  timezone_type?: number | null | undefined;
  /** An offset, an abbreviation or a zone name, as `timezone_type` says. */
  timezone?: string | null | undefined;
}

/** The customer. The gateway's document shows these names but not their types. */
export interface Customer {
  /** Given name. */
  firstName?: string | null | undefined;
  /** Family name. */
  lastName?: string | null | undefined;
  /** E-mail address. */
  email?: string | null | undefined;
  /** Telephone number. */
  phone?: string | null | undefined;
  /** The customer's IP address. The gateway spells the name in lower case. */
  ipaddress?: string | null | undefined;
  /** Date of birth, required and sent with some methods only. Ask the gateway for its form. */
  dateOfBirth?: string | null | undefined;
  /** The merchant's own id of the customer. */
  referenceId?: string | null | undefined;
}

/** The address on the customer's bill. */
export interface BillingAddress {
  /** Street and number. */
  address1?: string | null | undefined;
  /** Town or city. */
  city?: string | null | undefined;
  /** Two-letter country code, such as `DE`. */
  countryCode?: string | null | undefined;
  /** Postal code. */
  postalCode?: string | null | undefined;
  /** Region, in countries that have regions. */
  state?: string | null | undefined;
}

/** Fields of a record in every status. */
interface PaymentFields {
  /** The gateway's id of the payment, a UUID: the key of a lookup. */
  id: string;
  paymentType: PaymentType;
  /** In units of `currency`, not cents. */
  amount: number;
  /** Currency code of `amount`. */
  currency: string;
  /** Creation time. {@link createdAt} reads it. */
  created?: Timestamp | null | undefined;
  /** The merchant's text, as requested. */
  description?: string | null | undefined;
  /** As requested, or `USER_CHOICE`, or a method that the gateway's document does not name. */
  paymentMethod?: PaymentMethod | (string & {}) | null | undefined;
  /** The merchant's own transaction id. */
  reference?: string | null | undefined;
  /** As requested, or null. */
  customer?: Customer | null | undefined;
  /** As requested. */
  billingAddress?: BillingAddress | null | undefined;
  /** Page where the customer finishes paying, in the answer to a redirect deposit. {@link NextAction} checks it. */
  redirectUrl?: string | null | undefined;
  /** Decimal text in units of `cryptoCurrency`, observed with eight decimals. */
  cryptoAmount?: string | null | undefined;
  /** Code of the crypto asset. */
  cryptoCurrency?: string | null | undefined;
  /** Exchange rate. */
  crypto_fx?: number | null | undefined;
  /** Seen on callbacks of GOOGLEPAY. The gateway's document gives it no meaning. */
  fallbackPaymentStatus?: number | null | undefined;
}

/** Fields of a payment settled in crypto. */
interface SettlementFields {
  /** Settled crypto, a number. Absent from callbacks of the card methods. */
  settled_crypto_amount?: number | null | undefined;
  /** Id of the settlement on its blockchain. */
  crypto_tx_hash?: string | null | undefined;
  /** The wallet that received the crypto. */
  destination_wallet?: string | null | undefined;
}

interface FailureFields {
  /** The processor's reason, for people. It may be missing, so never branch on it. */
  errorMessage?: string | null | undefined;
}

/** Created. The customer or the processor has not finished. */
interface PendingPayment extends PaymentFields {
  paymentStatus: 'PENDING';
}
/** Authorised, but neither captured nor paid yet. */
export interface AuthorizedPayment extends PaymentFields {
  paymentStatus: 'AUTHORIZED';
}
/** Paid. Final. */
export interface CompletedPayment extends PaymentFields, SettlementFields {
  paymentStatus: 'COMPLETED';
}
/** Failed. Final. If `crypto_tx_hash` is missing, no funds were delivered. {@link fundsNotDelivered} checks that. */
export interface FailedPayment extends PaymentFields, SettlementFields, FailureFields {
  paymentStatus: 'FAILED';
}
/** Canceled. Final. */
export interface CanceledPayment extends PaymentFields, FailureFields {
  paymentStatus: 'CANCELED';
}
/** In a status that this version of the SDK does not know. Neither final nor paid. */
interface UnknownPayment extends PaymentFields, SettlementFields, FailureFields {
  paymentStatus: 'UNKNOWN';
  /** The status as the gateway wrote it. */
  rawPaymentStatus: string;
}
/** A payment in a final status. */
export type FinalPayment = CompletedPayment | FailedPayment | CanceledPayment;
/** A payment as the gateway records it. */
export type Payment = PendingPayment | AuthorizedPayment | FinalPayment | UnknownPayment;

/** Converts all values that the schema refuses: an optional field must not make a payment unreadable. */
const readable = <S extends z.ZodType, T>(schema: S, read: (value: unknown) => T) =>
  z.union([schema.nullish(), z.unknown().transform(read).optional()]);

/** Text, or a number as text. Any other value counts as absent. */
export const text = readable(z.string(), value =>
  // JSON.parse loses digits of longer numbers, so two references could become one.
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : undefined,
);

/** A number, or numeric text. Any other value counts as absent. */
const number = readable(z.number(), value => {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(read) ? read : undefined;
});

/** An object, which PHP writes as `[]` if empty. Any other value counts as null. */
const map = <S extends z.ZodRawShape>(shape: S) =>
  readable(z.looseObject(shape), value => (Array.isArray(value) && value.length === 0 ? ({} as never) : null));

export const CUSTOMER = ['firstName', 'lastName', 'email', 'phone', 'ipaddress', 'dateOfBirth', 'referenceId'] as const;
export const ADDRESS = ['address1', 'city', 'countryCode', 'postalCode', 'state'] as const;

const recordSchema = z.looseObject(
  {
    id: z.guid(),
    paymentStatus: z.string('is missing, or is not text'),
    paymentType: z.enum(['DEPOSIT', 'WITHDRAWAL']),
    amount: recordedAmount,
    currency: z.string().min(1),
    created: map({ date: text, timezone_type: number, timezone: text } satisfies FieldsOf<Timestamp>),
    ...each(['description', 'paymentMethod', 'reference'], text),
    customer: map(each(CUSTOMER, text) satisfies FieldsOf<Customer>),
    billingAddress: map(each(ADDRESS, text) satisfies FieldsOf<BillingAddress>),
    ...each(['redirectUrl', 'cryptoAmount', 'cryptoCurrency'], text),
    ...each(['crypto_fx', 'fallbackPaymentStatus', 'settled_crypto_amount'], number),
    ...each(['crypto_tx_hash', 'destination_wallet', 'errorMessage'], text),
  } satisfies FieldsOf<PaymentFields & SettlementFields & FailureFields & { paymentStatus: string }>,
  'must be a payment record',
);

/** The schema of a {@link Payment}. It accepts a record as the gateway writes it. */
export const paymentSchema: z.ZodType<Payment> = recordSchema.transform(record => {
  const { paymentStatus } = record;
  if (isPaymentStatus(paymentStatus)) return { ...record, paymentStatus };
  return { ...record, paymentStatus: 'UNKNOWN' as const, rawPaymentStatus: paymentStatus };
});

/** Parses. Compiling takes milliseconds and saves microseconds a parse. */
const WORTH_COMPILING = 1_000;
let parses = 0;
let current = paymentSchema;

export function parsePayment(record: unknown): z.ZodSafeParseResult<Payment> {
  parses += 1;
  if (parses === WORTH_COMPILING) current = z.compile(paymentSchema);
  return current.safeParse(record);
}
