// What a merchant may send: one schema per kind of creation request, nested by paymentType, then paymentMethod.
import * as z from 'zod';
import { otherCapitals, unknownFields, wrongMethod } from './hints.ts';
import { DEPOSIT_METHODS, NFT_METHODS, ONRAMP_METHODS, WITHDRAWAL_METHODS } from './methods.ts';
import { loose, strict } from './objects.ts';

const PLAIN_DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** A double keeps 15 digits of what the caller meant; from the 16th on, arithmetic noise shows. */
const TRUSTED_DIGITS = 15;

/** Characters: more than any amount of money has, and few enough to look at. */
const LONGEST_AMOUNT = 100;

function amountProblem(amount: number | string): string | undefined {
  const text = String(amount);
  if (text.length > LONGEST_AMOUNT) return `has more than ${LONGEST_AMOUNT} characters`;
  if (text.startsWith('-') || (text.trim() !== '' && Number(text) === 0)) return 'must be greater than 0';
  if (!PLAIN_DECIMAL.test(text) || !Number.isFinite(Number(text))) {
    return 'must be a plain decimal without sign or exponent: pass a string such as "25.50"';
  }
  const significant = text.replace('.', '').replace(/^0+|0+$/g, '');
  if (typeof amount === 'number' && significant.length > TRUSTED_DIGITS) {
    return `has more than ${TRUSTED_DIGITS} significant digits, the mark of floating-point noise: pass a string such as "25.50"`;
  }
  return undefined;
}

/**
 * Units of `currency`, not cents; greater than 0. A string's digits enter the JSON exactly as they stand
 * (`'25.50'` is sent as `25.50`); a number must print without exponent and without floating-point noise.
 */
export const amountSchema = z
  .union([z.number(), z.string()], { error: 'must be a number, or a plain decimal string such as "25.50"' })
  .check(context => {
    const problem = amountProblem(context.value);
    if (problem) context.issues.push({ code: 'custom', message: problem, input: context.value });
  });

/** Whether a value is an absolute http(s) URL, as it stands. */
export const isHttpUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/\S+$/i.test(value) && URL.canParse(value);

const HTTP_URL = { error: 'must be an absolute http(s) URL, as a string' };
const httpUrl = z.string(HTTP_URL).refine(isHttpUrl, HTTP_URL);

/** Any scheme, so that an app may pass its own, but none that runs as a script in the customer's browser. */
const returnUrl = z
  .string({ error: 'must be an absolute URL, or null' })
  .refine(
    text =>
      /^[a-z][a-z\d+.-]*:\S+$/i.test(text) &&
      !/^(?:javascript|data|vbscript):/i.test(text) &&
      URL.canParse(text),
    { error: 'must be an absolute URL, or null' },
  );

const COUNTRY_CODE = { error: 'must be a two-letter country code' };
const countryCode = z.string(COUNTRY_CODE).regex(/^[A-Za-z]{2}$/, COUNTRY_CODE);

/** Text that may be left out, or null. */
const text = z.string({ error: 'must be a string' }).nullish();

const customerFields = {
  /** Given name. */
  firstName: text,
  /** Family name. */
  lastName: text,
  /** E-mail address. */
  email: text,
  /** Telephone number. */
  phone: text,
  /** The customer's IP address. The gateway spells the name in lower case. */
  ipaddress: text,
  /** Demanded by some methods: ask the gateway for its form. */
  dateOfBirth: text,
  /** The merchant's own id of the customer. */
  referenceId: z.union([z.string(), z.number()], { error: 'must be a string or a number' }).nullish(),
};

const billingAddressFields = {
  /** Street and number. */
  address1: text,
  /** Town. */
  city: text,
  /** Two letters, as in `DE`. */
  countryCode: countryCode.nullish(),
  /** Post code. */
  postalCode: text,
  /** Region, where the country has them. */
  state: text,
};

/**
 * Names in other capitals are slips; any other unknown name may be one that the gateway knows. A function has no JSON,
 * and as `toJSON` would take the place of all that was checked.
 */
const inOrder = (fields: object) => (context: z.core.ParsePayload<object>) => {
  for (const [name, value] of Object.entries(context.value)) {
    if (typeof value === 'function') {
      context.issues.push({ code: 'custom', path: [name], message: 'must not be a function', input: name });
    }
    const meant = otherCapitals(name, Object.keys(fields));
    if (meant)
      context.issues.push({ code: 'custom', path: [name], message: `did you mean "${meant}"?`, input: name });
  }
};

/** The paying or paid customer. The document shows these names but not their types; further fields pass. */
export const customerRequestSchema = loose(customerFields).check(inOrder(customerFields));

/** Where the customer's bill goes. Every value may be null; further fields pass. */
export const billingAddressRequestSchema = loose(billingAddressFields).check(inOrder(billingAddressFields));

const CURRENCY = { error: 'must be a currency code such as "EUR"' };

/** For objects whose fields the gateway's document does not show. */
const openObject: z.ZodType<object> = z.record(z.string(), z.unknown(), { error: 'must be a plain object' });

/** The fields that every creation request has. */
const common = {
  /** Units of `currency`, not cents; greater than 0. A string such as `'25.50'` keeps its digits. */
  amount: amountSchema,
  /** Currency code of `amount`. */
  currency: z.string(CURRENCY).regex(/^[A-Za-z\d]{3,}$/, CURRENCY),
  /** The gateway's document names it, and gives it no meaning. */
  externalApiId: text,
  /** Who pays, or is paid. */
  customer: customerRequestSchema.nullish(),
  /** Where the customer's bill goes. */
  billingAddress: billingAddressRequestSchema.nullish(),
  /**
   * Parameters of the method, such as the purpose of a BLIK payment; on on-ramp terminals also the crypto
   * destination. The gateway's document does not name them: ask the gateway.
   */
  additionalParameters: openObject.nullish(),
  /** The merchant's own words. */
  description: text,
  /** The merchant's own transaction id. It comes back in every record and callback. */
  reference: text,
  /** Receives the status callbacks. At least one of `webhookUrl` and `callbackUrl` is needed. */
  webhookUrl: httpUrl.nullish(),
  /** Another name of `webhookUrl`. */
  callbackUrl: httpUrl.nullish(),
  /** Where the customer returns after paying. */
  returnUrl: returnUrl.nullish(),
  /** The customer's browser, commonly needed for wallet methods. The gateway's document does not name its fields. */
  browser: openObject.nullish(),
};

const REQUEST_FIELDS: ReadonlySet<string> = new Set(['paymentType', 'paymentMethod', ...Object.keys(common)]);

/** Whether the request itself has a field of this name, so that `extra` may not carry it. */
export const isRequestField = (name: string): boolean => REQUEST_FIELDS.has(name);

/** The two addresses of a creation request, at least one of which the gateway demands. */
export type CallbackAddress =
  | { webhookUrl: string; callbackUrl?: string | null | undefined }
  | { webhookUrl?: null | undefined; callbackUrl: string };

const NOT_AN_OBJECT = 'must be an object of request fields';

const fieldsOf = <S extends z.ZodRawShape>(shape: S) =>
  strict(shape, {
    error: issue =>
      issue.code === 'unrecognized_keys'
        ? `${unknownFields(issue.keys, REQUEST_FIELDS)}; to send one this SDK does not know, use the call option \`extra\``
        : NOT_AN_OBJECT,
  });

const paymentType = z.literal('DEPOSIT', { error: 'must be DEPOSIT here' });

const applePayFields = fieldsOf({
  paymentType,
  paymentMethod: z.literal('APPLEPAY'),
  ...common,
  /** The merchant's own transaction id. Apple Pay demands the key; its value may be null. */
  reference: z.string({ error: 'must be a string for Apple Pay, or null' }).nullable(),
  /** Where the customer returns after paying. Apple Pay demands the key; its value may be null. */
  returnUrl: returnUrl.nullable(),
  /** Apple Pay demands at least `countryCode`. */
  billingAddress: loose(
    {
      ...billingAddressFields,
      /** Two letters, as in `DE`. Apple Pay demands it. */
      countryCode,
    },
    { error: 'must be an object with a countryCode for Apple Pay' },
  ).check(inOrder(billingAddressFields)),
});
const plainDepositFields = fieldsOf({
  paymentType,
  paymentMethod: z.enum(DEPOSIT_METHODS).exclude(['APPLEPAY']),
  ...common,
});
const onrampDepositFields = fieldsOf({ paymentType, paymentMethod: z.enum(ONRAMP_METHODS), ...common });
const plainNftPurchaseFields = fieldsOf({
  paymentType,
  paymentMethod: z.enum(NFT_METHODS).exclude(['APPLEPAY']),
  ...common,
});
const withdrawalFields = fieldsOf({
  paymentType: z.literal('WITHDRAWAL', { error: 'must be WITHDRAWAL here' }),
  paymentMethod: z.enum(WITHDRAWAL_METHODS, {
    error: issue => wrongMethod(issue.input, WITHDRAWAL_METHODS, 'withdrawals'),
  }),
  ...common,
});

export interface ApplePayFields extends z.output<typeof applePayFields> {}
export interface PlainDepositFields extends z.output<typeof plainDepositFields> {}
export interface OnrampDepositFields extends z.output<typeof onrampDepositFields> {}
export interface PlainNftPurchaseFields extends z.output<typeof plainNftPurchaseFields> {}
export interface WithdrawalFields extends z.output<typeof withdrawalFields> {}

/** Units of `currency`, greater than 0; see {@link amountSchema} for what is refused at run time. */
export type Amount = z.output<typeof amountSchema>;
export type ApplePayDeposit = ApplePayFields & CallbackAddress;
export type PlainDeposit = PlainDepositFields & CallbackAddress;
export type OnrampDeposit = OnrampDepositFields & CallbackAddress;
export type Withdrawal = WithdrawalFields & CallbackAddress;
export type Deposit = ApplePayDeposit | PlainDeposit;
export type OnrampTerminalDeposit = Deposit | OnrampDeposit;
export type NftPurchase = ApplePayDeposit | (PlainNftPurchaseFields & CallbackAddress);

type Schema<T> = z.ZodType<T, T>;

const hasCallbackAddress = ({ webhookUrl, callbackUrl }: Record<string, unknown>) =>
  (webhookUrl ?? callbackUrl ?? undefined) !== undefined;

/** The fields, and the rule over two of them that no single field can hold. */
const addressed = <S extends z.ZodObject>(fields: S) =>
  fields.refine(hasCallbackAddress, {
    error: 'is missing, and so is callbackUrl: the gateway reports the outcome to one of them',
    path: ['webhookUrl'],
    // Also when another field is wrong, so that one error tells all there is to mend.
    when: ({ value }) => typeof value === 'object' && value !== null,
  }) as S & Schema<z.output<S> & CallbackAddress>;

const applePayDeposit = addressed(applePayFields);
const plainDeposit = addressed(plainDepositFields);
const onrampDeposit = addressed(onrampDepositFields);
const withdrawal = addressed(withdrawalFields);

const methodError: z.core.$ZodErrorMap = issue => {
  if (issue.code !== 'invalid_union') return NOT_AN_OBJECT;
  const { options } = issue as { options?: readonly unknown[] };
  return wrongMethod((issue.input as { paymentMethod?: unknown }).paymentMethod, options ?? [], 'deposits');
};
const typeError: z.core.$ZodErrorMap = issue =>
  issue.code === 'invalid_union' ? 'must be DEPOSIT or WITHDRAWAL' : NOT_AN_OBJECT;

const deposit = z.discriminatedUnion('paymentMethod', [applePayDeposit, plainDeposit], {
  error: methodError,
});
const onrampTerminalDeposit = z.discriminatedUnion(
  'paymentMethod',
  [applePayDeposit, plainDeposit, onrampDeposit],
  { error: methodError },
);

/** An Apple Pay deposit: the gateway demands more keys of it. */
export const applePayDepositSchema: Schema<ApplePayDeposit> = applePayDeposit;

/** A deposit by any other method. */
export const plainDepositSchema: Schema<PlainDeposit> = plainDeposit;

/** A deposit by one of {@link ONRAMP_METHODS}: the customer pays money and gets crypto. */
export const onrampDepositSchema: Schema<OnrampDeposit> = onrampDeposit;

/** A withdrawal: the merchant pays the customer. */
export const withdrawalSchema: Schema<Withdrawal> = withdrawal;

/** A deposit on a standard terminal. */
export const depositSchema: Schema<Deposit> = deposit;

/** A deposit on an on-ramp terminal: by a standard method, or by one of {@link ONRAMP_METHODS}. */
export const onrampTerminalDepositSchema: Schema<OnrampTerminalDeposit> = onrampTerminalDeposit;

/** An NFT purchase. That it is a deposit is this SDK's reading: the gateway's document does not say. */
export const nftPurchaseSchema: Schema<NftPurchase> = z.discriminatedUnion(
  'paymentMethod',
  [applePayDeposit, addressed(plainNftPurchaseFields)],
  { error: methodError },
);

/** Any payment that a standard terminal can create. */
export const createPaymentSchema: Schema<Deposit | Withdrawal> = z.discriminatedUnion(
  'paymentType',
  [deposit, withdrawal],
  { error: typeError },
);

/** Any payment that an on-ramp terminal can create. */
export const onrampTerminalPaymentSchema: Schema<OnrampTerminalDeposit | Withdrawal> = z.discriminatedUnion(
  'paymentType',
  [onrampTerminalDeposit, withdrawal],
  { error: typeError },
);
