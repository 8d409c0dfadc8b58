// What a merchant may send: one interface and one schema per kind of creation request.
import * as z from 'zod';
import { type Amount, amountSchema } from './amount.ts';
import {
  type ApplePayBillingAddress,
  applePayBillingAddress,
  type BillingAddressRequest,
  billingAddressRequestSchema,
  type CustomerRequest,
  customerRequestSchema,
  optionalText,
} from './customer-request.ts';
import { unknownNames, wrongMethod } from './hints.ts';
import { isJsonMap } from './json.ts';
import {
  DEPOSIT_METHODS,
  type DepositMethod,
  NFT_METHODS,
  type NftMethod,
  ONRAMP_METHODS,
  type OnrampMethod,
  type PaymentType,
  WITHDRAWAL_METHODS,
  type WithdrawalMethod,
} from './methods.ts';
import { publishRequest, type SchemaOf } from './objects.ts';
import { httpUrl } from './url.ts';

/** What every creation request can hold. */
interface RequestFields {
  /** In units of `currency`, not cents; greater than 0. A string keeps its digits: see {@link Amount}. */
  amount: Amount;
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
  /** Receives the status callbacks: an http(s) URL. At least one of `webhookUrl` and `callbackUrl` is needed. */
  webhookUrl?: string | null | undefined;
  /** Another name of `webhookUrl`. */
  callbackUrl?: string | null | undefined;
  /** Where the customer returns after paying: an absolute URL, of an app's own scheme too. */
  returnUrl?: string | null | undefined;
  /** The customer's browser, often needed for wallet methods. The gateway's document does not name its fields. */
  browser?: object | null | undefined;
}

/** What Apple Pay demands beyond that. */
export interface ApplePayDemands {
  /** The merchant's own transaction id. Apple Pay demands the key; its value may be null. */
  reference: string | null;
  /** Where the customer returns after paying. Apple Pay demands the key; its value may be null. */
  returnUrl: string | null;
  /** Apple Pay demands at least `countryCode`. */
  billingAddress: ApplePayBillingAddress;
}

/** A creation request by one of the methods `M`. */
export interface RequestBy<M> extends RequestFields {
  paymentMethod: M;
}
/** A deposit by Apple Pay. */
export interface ApplePayRequest extends Omit<RequestBy<'APPLEPAY'>, keyof ApplePayDemands>, ApplePayDemands {}

/** A deposit by any other method. */
export type PlainDepositRequest = RequestBy<Exclude<DepositMethod, 'APPLEPAY'>>;
/** An NFT purchase by any other method. */
export type PlainNftPurchaseRequest = RequestBy<Exclude<NftMethod, 'APPLEPAY'>>;

/** The two addresses of a creation request, at least one of which the gateway demands. */
export type CallbackAddress =
  | { webhookUrl: string; callbackUrl?: string | null | undefined }
  | { webhookUrl?: null | undefined; callbackUrl: string };

/** A whole creation request of one type. */
type Request<P extends PaymentType, Fields> = Fields & { paymentType: P } & CallbackAddress;

/** An Apple Pay deposit: the gateway demands more keys of it. */
export type ApplePayDeposit = Request<'DEPOSIT', ApplePayRequest>;
/** A deposit by any other method. */
export type PlainDeposit = Request<'DEPOSIT', PlainDepositRequest>;
/** A deposit by one of {@link ONRAMP_METHODS}: the customer pays money and gets crypto. */
export type OnrampDeposit = Request<'DEPOSIT', RequestBy<OnrampMethod>>;
/** A withdrawal: the merchant pays the customer. */
export type Withdrawal = Request<'WITHDRAWAL', RequestBy<WithdrawalMethod>>;
/** A deposit on a standard terminal. */
export type Deposit = ApplePayDeposit | PlainDeposit;
/** A deposit on an on-ramp terminal: by a standard method, or by one of {@link ONRAMP_METHODS}. */
export type OnrampTerminalDeposit = Deposit | OnrampDeposit;
/** An NFT purchase. That it is a deposit is this SDK's assumption: the gateway's document does not say. */
export type NftPurchase = ApplePayDeposit | Request<'DEPOSIT', PlainNftPurchaseRequest>;

const RETURN_URL = {
  error: ({ input }: { input?: unknown }) =>
    input === undefined ? 'is missing: pass an absolute URL, or null' : 'must be an absolute URL, or null',
};

/** Any scheme, so that an app may pass its own, but none that runs as a script in the customer's browser. */
const returnUrl = z
  .string(RETURN_URL)
  .refine(
    text => /^[a-z][a-z\d+.-]*:\S+$/i.test(text) && !/^(?:javascript|data|vbscript):/i.test(text) && URL.canParse(text),
    RETURN_URL,
  );

const CURRENCY = { error: 'must be a currency code such as "EUR"' };

/** For objects whose fields the gateway's document does not show. */
const anyObject: z.ZodType<object> = z.record(z.string(), z.unknown(), { error: 'must be a plain object' });

const fields = {
  amount: amountSchema,
  currency: z.string(CURRENCY).regex(/^[A-Za-z\d]{3,}$/, CURRENCY),
  externalApiId: optionalText,
  customer: customerRequestSchema.nullish(),
  billingAddress: billingAddressRequestSchema.nullish(),
  additionalParameters: anyObject.nullish(),
  description: optionalText,
  reference: optionalText,
  webhookUrl: httpUrl.nullish(),
  callbackUrl: httpUrl.nullish(),
  returnUrl: returnUrl.nullish(),
  browser: anyObject.nullish(),
};

const applePayDemands = {
  reference: z.string({ error: 'must be a string for Apple Pay, or null' }).nullable(),
  returnUrl: returnUrl.nullable(),
  billingAddress: applePayBillingAddress,
};

/** The names of the fields that the request itself has. */
export const REQUEST_FIELDS: ReadonlySet<string> = new Set(['paymentType', 'paymentMethod', ...Object.keys(fields)]);

const NOT_AN_OBJECT = 'must be an object of request fields';

/** A whole request of one type and some methods, with the rule over two fields that no single field can hold. */
function requestSchema<P extends PaymentType, F extends z.ZodRawShape>(paymentType: P, fields: F) {
  const schema = z.strictObject(
    { paymentType: z.literal(paymentType, { error: `must be ${paymentType} here` }), ...fields },
    {
      error: issue =>
        issue.code === 'unrecognized_keys'
          ? `${unknownNames('field', issue.keys, REQUEST_FIELDS)}; to send one this SDK does not know, use the call option \`extra\``
          : NOT_AN_OBJECT,
    },
  );
  type Schema = typeof schema;
  return schema.refine(({ webhookUrl, callbackUrl }: Record<string, unknown>) => (webhookUrl ?? callbackUrl) != null, {
    error: 'is required, or callbackUrl: the gateway reports the outcome to one of them',
    path: ['webhookUrl'],
    // Also when another field is wrong, so that one error names everything that is wrong.
    when: ({ value }) => isJsonMap(value),
  }) as Schema & SchemaOf<z.output<Schema> & CallbackAddress>;
}

const applePayDeposit = requestSchema('DEPOSIT', {
  paymentMethod: z.literal('APPLEPAY'),
  ...fields,
  ...applePayDemands,
});
const plainDeposit = requestSchema('DEPOSIT', {
  paymentMethod: z.enum(DEPOSIT_METHODS).exclude(['APPLEPAY']),
  ...fields,
});
const onrampDeposit = requestSchema('DEPOSIT', { paymentMethod: z.enum(ONRAMP_METHODS), ...fields });
const plainNftPurchase = requestSchema('DEPOSIT', {
  paymentMethod: z.enum(NFT_METHODS).exclude(['APPLEPAY']),
  ...fields,
});
const withdrawal = requestSchema('WITHDRAWAL', {
  paymentMethod: z.enum(WITHDRAWAL_METHODS, {
    error: issue => wrongMethod(issue.input, WITHDRAWAL_METHODS, 'withdrawals'),
  }),
  ...fields,
});

const methodError: z.core.$ZodErrorMap = issue => {
  if (issue.code !== 'invalid_union') return NOT_AN_OBJECT;
  const { options } = issue as { options?: readonly unknown[] };
  return wrongMethod((issue.input as { paymentMethod?: unknown }).paymentMethod, options ?? [], 'deposits');
};
const byMethod = <const S extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]>(
  schemas: S,
) => z.discriminatedUnion('paymentMethod', schemas, { error: methodError });

const deposit = byMethod([applePayDeposit, plainDeposit]);
const onrampTerminalDeposit = byMethod([applePayDeposit, plainDeposit, onrampDeposit]);

const typeError: z.core.$ZodErrorMap = issue =>
  issue.code === 'invalid_union' ? 'must be DEPOSIT or WITHDRAWAL' : NOT_AN_OBJECT;

/** The schema of an {@link ApplePayDeposit}. */
export const applePayDepositSchema = publishRequest<ApplePayDeposit>()(applePayDeposit);
/** The schema of a {@link PlainDeposit}. */
export const plainDepositSchema = publishRequest<PlainDeposit>()(plainDeposit);
/** The schema of an {@link OnrampDeposit}. */
export const onrampDepositSchema = publishRequest<OnrampDeposit>()(onrampDeposit);
/** The schema of a {@link Withdrawal}. */
export const withdrawalSchema = publishRequest<Withdrawal>()(withdrawal);
/** The schema of a {@link Deposit}. */
export const depositSchema = publishRequest<Deposit>()(deposit);
/** The schema of an {@link OnrampTerminalDeposit}. */
export const onrampTerminalDepositSchema = publishRequest<OnrampTerminalDeposit>()(onrampTerminalDeposit);
/** The schema of an {@link NftPurchase}. */
export const nftPurchaseSchema = publishRequest<NftPurchase>()(byMethod([applePayDeposit, plainNftPurchase]));
/** The schema of any payment that a standard terminal can create. */
export const createPaymentSchema = publishRequest<Deposit | Withdrawal>()(
  z.discriminatedUnion('paymentType', [deposit, withdrawal], { error: typeError }),
);
/** The schema of any payment that an on-ramp terminal can create. */
export const onrampTerminalPaymentSchema = publishRequest<OnrampTerminalDeposit | Withdrawal>()(
  z.discriminatedUnion('paymentType', [onrampTerminalDeposit, withdrawal], { error: typeError }),
);
