// What the client's methods take: the types that refuse a wrong request at compile time, and the check at run time.
import { InvalidRequestError, issuesOf } from '../errors.ts';
import type { Amount, PlainAmount } from './amount.ts';
import { fieldsOf } from './fields.ts';
import type { DepositMethod, NftMethod, OnrampMethod, PaymentType, Terminal, WithdrawalMethod } from './methods.ts';
import type { RequestSchemaOf } from './objects.ts';
import {
  type ApplePayDemands,
  type ApplePayRequest,
  type CallbackAddress,
  createPaymentSchema,
  type Deposit,
  depositSchema,
  type NftPurchase,
  nftPurchaseSchema,
  type OnrampTerminalDeposit,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  type PlainDepositRequest,
  type PlainNftPurchaseRequest,
  REQUEST_FIELDS,
  type RequestBy,
  type Withdrawal,
  withdrawalSchema,
} from './request.ts';

interface DepositRequests {
  standard: (ApplePayRequest | PlainDepositRequest) & CallbackAddress;
  onramp: (ApplePayRequest | PlainDepositRequest | RequestBy<OnrampMethod>) & CallbackAddress;
}
interface PaymentRequests {
  standard: Deposit | Withdrawal;
  onramp: OnrampTerminalDeposit | Withdrawal;
}

/** What `createDeposit` takes on a terminal of that kind. */
export type DepositRequest<T extends Terminal = 'standard'> = DepositRequests[T];
/** What `createPayment` takes on a terminal of that kind. */
export type PaymentRequest<T extends Terminal = 'standard'> = PaymentRequests[T];
/** What `createWithdrawal` takes. */
export type WithdrawalRequest = RequestBy<WithdrawalMethod> & CallbackAddress;
/** What `createNftPurchase` takes. */
export type NftPurchaseRequest = (ApplePayRequest | PlainNftPurchaseRequest) & CallbackAddress;

// The methods of the client take these looser forms, because `Omit`, a spread and a wrapper keep them. Beyond that they
// demand what the compiler can see as it is written: see Written.

interface LoosePayment<M> extends RequestBy<M> {
  paymentType: PaymentType;
}
// Deposits by the kind of terminal.
export interface LooseDeposits {
  standard: RequestBy<DepositMethod>;
  onramp: RequestBy<DepositMethod | OnrampMethod>;
}
// Payments by the kind of terminal.
export interface LoosePayments {
  standard: LoosePayment<DepositMethod | WithdrawalMethod>;
  onramp: LoosePayment<DepositMethod | OnrampMethod | WithdrawalMethod>;
}
export type LooseWithdrawal = RequestBy<WithdrawalMethod>;
export type LooseNftPurchase = RequestBy<NftMethod>;

// An address as a request may write it.
export type Address = string | null | undefined;

// Any text, inferred beside a literal so that the compiler names a wrong one as such.
type Text = string & {};

// What a request must have by what is written in it: the method `M`, the amount `A`, the currency `K`, `webhookUrl` W and
// `callbackUrl` C. The names of what is missing are the first line of the compiler's message.
export type Written<M, A extends Amount, K, W, C> = MissingOf<M, A, K> &
  WrittenMethod<M> &
  WrittenAmount<A> &
  WrittenCurrency<K> &
  DemandsOf<M> &
  Addresses<W, C>;

// As {@link Written}, where the request says the type `P` as well.
export type WrittenPayment<P, M, A extends Amount, K, W, C> = ([P] extends [never]
  ? PaymentTypeIsMissing
  : Written<M, A, K, W, C>) & { paymentType: P | Text } & MethodsOf<P, M>;

// One property each: from an object that lacks one of them, the compiler infers nothing of the others.
interface WrittenMethod<M> {
  paymentMethod: M | Text;
}
interface WrittenAmount<A extends Amount> {
  amount: PlainAmount<A>;
}
interface WrittenCurrency<K> {
  currency: K | Text;
}

type MissingOf<M, A, K> = [M] extends [never]
  ? PaymentMethodIsMissing
  : [A] extends [never]
    ? AmountIsMissing
    : [K] extends [never]
      ? CurrencyIsMissing
      : unknown;

interface PaymentTypeIsMissing {
  paymentType: string;
}
interface PaymentMethodIsMissing {
  paymentMethod: string;
}
interface AmountIsMissing {
  amount: Amount;
}
interface CurrencyIsMissing {
  currency: string;
}
interface WebhookUrlOrCallbackUrlIsMissing {
  webhookUrl: string;
}
interface ApplePayNeedsReferenceReturnUrlAndBillingAddress extends ApplePayDemands {}

// Where the method may be any, the check at run time decides.
type DemandsOf<M> = 'APPLEPAY' extends M
  ? [DepositMethod] extends [M]
    ? unknown
    : [NftMethod] extends [M]
      ? unknown
      : ApplePayNeedsReferenceReturnUrlAndBillingAddress
  : unknown;

// One method must be one of each type that the request may have.
type MethodsOf<P, M> = [M] extends [never]
  ? unknown
  : ('DEPOSIT' extends P ? MethodOf<M, DepositMethod | OnrampMethod> : unknown) &
      ('WITHDRAWAL' extends P ? MethodOf<M, WithdrawalMethod> : unknown);
type MethodOf<M, Accepted> = [Extract<M, Accepted>] extends [never] ? { paymentMethod: Accepted } : unknown;

interface AddressFields<W, C> {
  webhookUrl?: W;
  callbackUrl?: C;
}

// One address is a text, or both may be.
type Addresses<W, C> = [W] extends [string]
  ? AddressFields<W, C>
  : [C] extends [string]
    ? AddressFields<W, C>
    : [Extract<W, string>] extends [never]
      ? WebhookUrlOrCallbackUrlIsMissing
      : [Extract<C, string>] extends [never]
        ? WebhookUrlOrCallbackUrlIsMissing
        : AddressFields<W, C>;

/** Which of the client's methods was called. */
export type RequestKind = 'deposit' | 'withdrawal' | 'nftPurchase' | 'payment';

/** A request that the schemas have checked. */
export type CheckedRequest = OnrampTerminalDeposit | NftPurchase | Withdrawal;

type RequestSchema = RequestSchemaOf<CheckedRequest>;

const ANY_TERMINAL = { withdrawal: withdrawalSchema, nftPurchase: nftPurchaseSchema };
const SCHEMAS: Record<Terminal, Record<RequestKind, RequestSchema>> = {
  standard: { ...ANY_TERMINAL, deposit: depositSchema, payment: createPaymentSchema },
  onramp: { ...ANY_TERMINAL, deposit: onrampTerminalDepositSchema, payment: onrampTerminalPaymentSchema },
};

/** The methods whose name says the type add it; a request that says another is refused. */
const TYPES: Record<RequestKind, { paymentType?: PaymentType }> = {
  deposit: { paymentType: 'DEPOSIT' },
  withdrawal: { paymentType: 'WITHDRAWAL' },
  nftPurchase: { paymentType: 'DEPOSIT' },
  payment: {},
};

/** @throws {InvalidRequestError} naming every field that is wrong */
export function parseRequest(kind: RequestKind, terminal: Terminal, input: unknown): CheckedRequest {
  const { success, data, error } = safeParse(SCHEMAS[terminal][kind], TYPES[kind], input);
  if (!success) throw new InvalidRequestError(issuesOf(error), 'not_sent');
  return data;
}

function safeParse(schema: RequestSchema, type: object, input: unknown) {
  try {
    const fields = fieldsOf(input, REQUEST_FIELDS);
    return schema.safeParse(typeof fields === 'object' && fields !== null ? { ...type, ...fields } : fields);
  } catch {
    // What a getter throws may hold anything.
    const message = 'a field cannot be read: its getter throws';
    throw new InvalidRequestError([{ path: '', message }], 'not_sent');
  }
}
