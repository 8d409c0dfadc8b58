// The requests of a merchant.
import type { DepositMethod, NftMethod, OnrampMethod, WithdrawalMethod } from '../methods.ts';
import type { BillingAddress, Customer } from '../records/payment.ts';

/** The customer who pays or is paid. The gateway's document shows these names but not their types. */
export interface CustomerRequest extends Omit<Customer, 'referenceId'> {
  /** The merchant's own id of the customer. */
  referenceId?: string | number | null | undefined;
}

/** The address on the customer's bill. Every value may be null. */
export interface BillingAddressRequest extends BillingAddress {}

/** A billing address with the country that Apple Pay requires. */
interface ApplePayBillingAddress extends BillingAddressRequest {
  /** Two-letter country code, such as `DE`. Apple Pay requires it. */
  countryCode: string;
}

/** The fields of every create request. */
export interface RequestFields {
  /** In units of `currency`, not cents. Greater than 0. {@link GatewayClient} sends a string's digits unchanged. */
  amount: number | string;
  /** Currency code of `amount`, at least three letters or digits. The gateway's document lists none. */
  currency: string;
  /** A field that the gateway's document names without a meaning. */
  externalApiId?: string | null | undefined;
  /** The customer who pays or is paid. */
  customer?: CustomerRequest | null | undefined;
  /** The address on the customer's bill. */
  billingAddress?: BillingAddressRequest | null | undefined;
  /**
   * Parameters of the method, such as the purpose of a BLIK payment, or the crypto destination on an on-ramp terminal.
   * The gateway's document does not name them: ask the gateway.
   */
  additionalParameters?: object | null | undefined;
  /** The merchant's own text. */
  description?: string | null | undefined;
  /**
   * The merchant's own transaction id, repeated in records and callbacks. A store keeps up to 1,020 bytes of UTF-8
   * without NUL.
   */
  reference?: string | null | undefined;
  /** Absolute http(s) URL that receives the status callbacks. {@link ClientOptions.webhookUrl} is its default. */
  webhookUrl?: string | null | undefined;
  /** Another name for `webhookUrl`. */
  callbackUrl?: string | null | undefined;
  /** Absolute URL to which the customer returns after paying. It may have an app's own scheme. */
  returnUrl?: string | null | undefined;
  /** The customer's browser, often needed for wallet methods. The gateway's document does not name its fields. */
  browser?: object | null | undefined;
}

interface DepositFields extends RequestFields {
  /** Only {@link GatewayClient.createPayment} needs it. */
  paymentType?: 'DEPOSIT' | undefined;
}

/** A deposit by any method except Apple Pay. */
export interface PlainDeposit extends DepositFields {
  paymentMethod: Exclude<DepositMethod, 'APPLEPAY'>;
}

/** A deposit by Apple Pay, which requires more fields. */
export interface ApplePayDeposit extends DepositFields {
  paymentMethod: 'APPLEPAY';
  /** The merchant's own transaction id. Apple Pay requires the key, but its value may be null. */
  reference: string | null;
  /** Absolute URL to which the customer returns after paying. Apple Pay requires the key, but its value may be null. */
  returnUrl: string | null;
  /** The address on the customer's bill. Apple Pay requires at least `countryCode`. */
  billingAddress: ApplePayBillingAddress;
}

/** A deposit by one of {@link ONRAMP_METHODS}: the customer pays money and gets crypto. */
export interface OnrampDeposit extends DepositFields {
  paymentMethod: OnrampMethod;
}

/** An NFT purchase by any method except Apple Pay. */
interface PlainNftPurchase extends DepositFields {
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

/** The request of `createNftPurchase`. The gateway's document names no type: `DEPOSIT` is this SDK's assumption. */
export type NftPurchaseRequest = PlainNftPurchase | ApplePayDeposit;

/** The request of `createPayment`. An on-ramp terminal also takes an {@link OnrampDeposit} with its `paymentType`. */
export type PaymentRequest =
  | (DepositRequest & { paymentType: 'DEPOSIT' })
  | (WithdrawalRequest & { paymentType: 'WITHDRAWAL' });
