// The requests that a merchant sends, as plain interfaces.
import type { DepositMethod, NftMethod, OnrampMethod, WithdrawalMethod } from './methods.ts';
import type { BillingAddress, Customer } from './payment.ts';

/** Who pays, or is paid. The gateway's document shows these names but not their types. */
export interface CustomerRequest extends Omit<Customer, 'referenceId'> {
  /** The merchant's own id of the customer. */
  referenceId?: string | number | null | undefined;
}

/** The address on the customer's bill. Every value may be null. */
export interface BillingAddressRequest extends BillingAddress {}

/** A billing address with the country that Apple Pay demands. */
export interface ApplePayBillingAddress extends BillingAddressRequest {
  /** Two letters, as in `DE`. Apple Pay demands it. */
  countryCode: string;
}

/** The fields of every creation request. */
export interface RequestFields {
  /** In units of `currency`, not cents; greater than 0. {@link GatewayClient} sends the digits of a string unchanged. */
  amount: number | string;
  /** Currency code of `amount`: three letters or digits, or more. The gateway's document lists none. */
  currency: string;
  /** The gateway's document names it, and gives it no meaning. */
  externalApiId?: string | null | undefined;
  /** Who pays, or is paid. */
  customer?: CustomerRequest | null | undefined;
  /** The address on the customer's bill. */
  billingAddress?: BillingAddressRequest | null | undefined;
  /**
   * Parameters of the method, such as the purpose of a BLIK payment; on on-ramp terminals also the crypto
   * destination. The gateway's document does not name them: ask the gateway.
   */
  additionalParameters?: object | null | undefined;
  /** The merchant's own text. */
  description?: string | null | undefined;
  /**
   * The merchant's own transaction id. It comes back in every record and callback. A journal keeps up to 1,020 bytes of
   * UTF-8, without a NUL.
   */
  reference?: string | null | undefined;
  /** Receives the status callbacks: an http(s) URL. {@link ClientOptions.webhookUrl} is its default. */
  webhookUrl?: string | null | undefined;
  /** Another name of `webhookUrl`. */
  callbackUrl?: string | null | undefined;
  /** Where the customer returns after paying: an absolute URL, of an app's own scheme too. */
  returnUrl?: string | null | undefined;
  /** The customer's browser, often needed for wallet methods. The gateway's document does not name its fields. */
  browser?: object | null | undefined;
}

/** A deposit by any method except Apple Pay. */
export interface PlainDeposit extends RequestFields {
  /** Only {@link GatewayClient.createPayment} needs it. */
  paymentType?: 'DEPOSIT' | undefined;
  paymentMethod: Exclude<DepositMethod, 'APPLEPAY'>;
}

/** A deposit by Apple Pay: the gateway demands more fields. */
export interface ApplePayDeposit extends RequestFields {
  /** Only {@link GatewayClient.createPayment} needs it. */
  paymentType?: 'DEPOSIT' | undefined;
  paymentMethod: 'APPLEPAY';
  /** The merchant's own transaction id. Apple Pay demands the key; its value may be null. */
  reference: string | null;
  /** Where the customer returns after paying. Apple Pay demands the key; its value may be null. */
  returnUrl: string | null;
  /** Apple Pay demands at least `countryCode`. */
  billingAddress: ApplePayBillingAddress;
}

/** A deposit by one of {@link ONRAMP_METHODS}: the customer pays money and gets crypto. */
export interface OnrampDeposit extends RequestFields {
  /** Only {@link GatewayClient.createPayment} needs it. */
  paymentType?: 'DEPOSIT' | undefined;
  paymentMethod: OnrampMethod;
}

/** An NFT purchase by any method except Apple Pay. */
export interface PlainNftPurchase extends RequestFields {
  /** Only {@link GatewayClient.createPayment} needs it. */
  paymentType?: 'DEPOSIT' | undefined;
  paymentMethod: Exclude<NftMethod, 'APPLEPAY'>;
}

/** The request of `createWithdrawal`: the merchant pays the customer. */
export interface WithdrawalRequest extends RequestFields {
  /** Only {@link GatewayClient.createPayment} needs it. */
  paymentType?: 'WITHDRAWAL' | undefined;
  paymentMethod: WithdrawalMethod;
}

/** The request of `createDeposit`. An on-ramp terminal also takes an {@link OnrampDeposit}. */
export type DepositRequest = PlainDeposit | ApplePayDeposit;

/** The request of `createNftPurchase`. That it is a deposit is this SDK's assumption: the gateway's document does not say. */
export type NftPurchaseRequest = PlainNftPurchase | ApplePayDeposit;

/** The request of `createPayment`. An on-ramp terminal also takes an {@link OnrampPayment}. */
export type PaymentRequest =
  | (DepositRequest & { paymentType: 'DEPOSIT' })
  | (WithdrawalRequest & { paymentType: 'WITHDRAWAL' });

/** An {@link OnrampDeposit} for `createPayment`. */
export interface OnrampPayment extends OnrampDeposit {
  paymentType: 'DEPOSIT';
}
