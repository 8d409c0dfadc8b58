// The closed lists of the gateway's document: which methods a payment may use, and which states it can be in.

/** Methods of a deposit on any terminal. */
export const DEPOSIT_METHODS = [
  'APPLEPAY',
  'GOOGLEPAY',
  'BLIK',
  'CARD',
  'ONRAMP',
  'PAYID',
  'IDEAL',
  'BANCONTACT',
  'MULTIBANCO',
  'EPS',
  'P24',
] as const;

/** Methods of a withdrawal. */
export const WITHDRAWAL_METHODS = ['PAYID', 'SEPA', 'FPS', 'CARD'] as const;

/**
 * Further methods of a deposit on a terminal configured for on-ramp. `USER_CHOICE` lets the customer choose
 * inside the hosted widget; an `ONRAMP_*` value pins the widget to that one method.
 */
export const ONRAMP_METHODS = [
  'USER_CHOICE',
  'ONRAMP_PAYID',
  'ONRAMP_PIX',
  'ONRAMP_ZAR',
  'ONRAMP_PSE',
  'ONRAMP_KHIPU',
  'ONRAMP_QRTHWALLET',
  'ONRAMP_CARD',
  'ONRAMP_INTERAC',
  'ONRAMP_OPENBANKING',
  'ONRAMP_GBPBANKTRANSFER',
  'ONRAMP_SPEI',
  'ONRAMP_APPLEPAY',
  'ONRAMP_GOOGLEPAY',
] as const;

/** The only methods of an NFT purchase. `OPENBANKING` exists nowhere else. */
export const NFT_METHODS = ['APPLEPAY', 'GOOGLEPAY', 'OPENBANKING', 'CARD'] as const;

/** Every state the document names. A record with another one becomes an {@link UnknownPayment}. */
export const PAYMENT_STATUSES = ['PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'CANCELED'] as const;

const FINAL_STATUSES: readonly unknown[] = ['COMPLETED', 'FAILED', 'CANCELED'];

/** Whether the gateway is done with a payment in this state. */
export const isFinalStatus = (status: unknown): boolean => FINAL_STATUSES.includes(status);

export type DepositMethod = (typeof DEPOSIT_METHODS)[number];
export type WithdrawalMethod = (typeof WITHDRAWAL_METHODS)[number];
export type OnrampMethod = (typeof ONRAMP_METHODS)[number];
export type NftMethod = (typeof NFT_METHODS)[number];
export type PaymentMethod = DepositMethod | WithdrawalMethod | OnrampMethod | NftMethod;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** `standard` terminals use {@link DEPOSIT_METHODS}; `onramp` terminals add {@link ONRAMP_METHODS}. */
export type Terminal = 'standard' | 'onramp';
