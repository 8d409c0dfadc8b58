// The lists of the gateway's document: payment methods and statuses.

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
 * Additional methods of a deposit on a terminal configured for on-ramp. With `USER_CHOICE` the customer chooses in the
 * hosted widget. An `ONRAMP_*` value pins the widget to that method.
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

/** The only methods of an NFT purchase. `OPENBANKING` is usable nowhere else. */
export const NFT_METHODS = ['APPLEPAY', 'GOOGLEPAY', 'OPENBANKING', 'CARD'] as const;

/** Every status of the document. A record with another gets the status `UNKNOWN`. */
export const PAYMENT_STATUSES = ['PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'CANCELED'] as const;

/** One of {@link DEPOSIT_METHODS}. */
export type DepositMethod = (typeof DEPOSIT_METHODS)[number];
/** One of {@link WITHDRAWAL_METHODS}. */
export type WithdrawalMethod = (typeof WITHDRAWAL_METHODS)[number];
/** One of {@link ONRAMP_METHODS}. */
export type OnrampMethod = (typeof ONRAMP_METHODS)[number];
/** One of {@link NFT_METHODS}. */
export type NftMethod = (typeof NFT_METHODS)[number];
/** Every method that the document names. */
export type PaymentMethod = DepositMethod | WithdrawalMethod | OnrampMethod | NftMethod;
/** One of {@link PAYMENT_STATUSES}. */
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
/** The customer pays a `DEPOSIT`. The merchant pays a `WITHDRAWAL`. */
export type PaymentType = 'DEPOSIT' | 'WITHDRAWAL';

/** A `standard` terminal has {@link DEPOSIT_METHODS}. An `onramp` terminal adds {@link ONRAMP_METHODS}. */
export type Terminal = 'standard' | 'onramp';

const isOneOf =
  <V>(values: readonly V[]) =>
  (value: unknown): value is V =>
    (values as readonly unknown[]).includes(value);

/** Checks for one of {@link DEPOSIT_METHODS}. */
export const isDepositMethod: (value: unknown) => value is DepositMethod = isOneOf(DEPOSIT_METHODS);
/** Checks for one of {@link WITHDRAWAL_METHODS}. */
export const isWithdrawalMethod: (value: unknown) => value is WithdrawalMethod = isOneOf(WITHDRAWAL_METHODS);
/** Checks for one of {@link ONRAMP_METHODS}. */
export const isOnrampMethod: (value: unknown) => value is OnrampMethod = isOneOf(ONRAMP_METHODS);
/** Checks for one of {@link NFT_METHODS}. */
export const isNftMethod: (value: unknown) => value is NftMethod = isOneOf(NFT_METHODS);
/** Checks for one of {@link PAYMENT_STATUSES}. */
export const isPaymentStatus: (value: unknown) => value is PaymentStatus = isOneOf(PAYMENT_STATUSES);

export const isFinalStatus = isOneOf(['COMPLETED', 'FAILED', 'CANCELED'] as const);
