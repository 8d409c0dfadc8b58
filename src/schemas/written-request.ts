// What the compiler demands of a request as it is written: by these types the client's methods refuse a wrong one.
//
// They take forms that are looser than the named requests, because `Omit`, a spread and a wrapper keep them, and beyond that
// demand what the compiler can see. The declarations of whoever exports such a method name them, so they are public.
import type { Amount, PlainAmount } from './amount.ts';
import type { DepositMethod, NftMethod, OnrampMethod, PaymentType, WithdrawalMethod } from './methods.ts';
import type { ApplePayDemands, RequestBy } from './request.ts';

/** A deposit by any method of each kind of terminal. */
export interface LooseDeposits {
  standard: RequestBy<DepositMethod>;
  onramp: RequestBy<DepositMethod | OnrampMethod>;
}
/** A payment of either type by any method of each kind of terminal. */
export interface LoosePayments {
  standard: LoosePayment<DepositMethod | WithdrawalMethod>;
  onramp: LoosePayment<DepositMethod | OnrampMethod | WithdrawalMethod>;
}
type LoosePayment<M> = RequestBy<M> & { paymentType: PaymentType };

// Any text, inferred beside a literal so that the compiler names a wrong one as such.
type Text = string & {};

/**
 * What a request must have by what is written in it: the method `M`, the amount `A`, the currency `K`, `webhookUrl` W and
 * `callbackUrl` C. The names of what is missing are the first line of the compiler's message.
 */
export type WrittenRequest<M, A extends Amount, K, W, C> = MissingOf<M, A, K> &
  WrittenMethod<M> &
  WrittenAmount<A> &
  WrittenCurrency<K> &
  DemandsOf<M> &
  Addresses<W, C>;

/** As {@link WrittenRequest}, where the request says the type `P` as well. */
export type WrittenPayment<P, M, A extends Amount, K, W, C> = ([P] extends [never]
  ? PaymentTypeIsMissing
  : WrittenRequest<M, A, K, W, C>) & { paymentType: P | Text } & MethodsOf<P, M>;

// One property each: from an object that lacks one of them, the compiler infers nothing of the others.
type WrittenMethod<M> = { paymentMethod: M | Text };
type WrittenAmount<A extends Amount> = { amount: PlainAmount<A> };
type WrittenCurrency<K> = { currency: K | Text };

type MissingOf<M, A, K> = [M] extends [never]
  ? PaymentMethodIsMissing
  : [A] extends [never]
    ? AmountIsMissing
    : [K] extends [never]
      ? CurrencyIsMissing
      : unknown;

/** The request has no `paymentType`. */
export interface PaymentTypeIsMissing {
  paymentType: string;
}
/** The request has no `paymentMethod`. */
export interface PaymentMethodIsMissing {
  paymentMethod: string;
}
/** The request has no `amount`. */
export interface AmountIsMissing {
  amount: Amount;
}
/** The request has no `currency`. */
export interface CurrencyIsMissing {
  currency: string;
}
/** Neither address is a text. */
export interface WebhookUrlOrCallbackUrlIsMissing {
  webhookUrl: string;
}
/** A deposit by Apple Pay lacks what the gateway demands of it. */
export interface ApplePayNeedsReferenceReturnUrlAndBillingAddress extends ApplePayDemands {}

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

type AddressFields<W, C> = { webhookUrl?: W; callbackUrl?: C };

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
