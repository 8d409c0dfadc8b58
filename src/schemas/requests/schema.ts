// The zod schemas of requests, with messages that suggest a correction.
import * as z from 'zod';
import { amountSchema } from '../amount.ts';
import { closedObject, each, type FieldsOf } from '../fields-of.ts';
import { lettersOf, nearest } from '../hints.ts';
import { DEPOSIT_METHODS, isOnrampMethod, NFT_METHODS, ONRAMP_METHODS, WITHDRAWAL_METHODS } from '../methods.ts';
import { ADDRESS, CUSTOMER } from '../records/payment.ts';
import { httpUrl, textThat } from '../url.ts';
import type { ApplePayDeposit, DepositRequest, NftPurchaseRequest, PaymentRequest, RequestFields } from './request.ts';

type Deposit = DepositRequest & { paymentType: 'DEPOSIT' };
type NftPurchase = NftPurchaseRequest & { paymentType: 'DEPOSIT' };
type Withdrawal = Extract<PaymentRequest, { paymentType: 'WITHDRAWAL' }>;

const optionalText = z.string('must be a string').nullish();
const textLike = (pattern: RegExp, error: string) => z.string(error).regex(pattern, error);
const countryCode = textLike(/^[A-Za-z]{2}$/, 'must be a two-letter country code');

/** An object that may have extra fields. A known name in another spelling is a slip. */
const openObject = <S extends z.ZodRawShape>(shape: S, error?: string) =>
  z.looseObject(shape, error).check(({ value, issues }) => {
    for (const name of Object.keys(value)) {
      const meant = Object.keys(shape).find(known => known !== name && lettersOf(known) === lettersOf(name));
      if (meant) issues.push({ code: 'custom', path: [name], message: `did you mean "${meant}"?`, input: name });
    }
  });

const customer = openObject({
  ...each(CUSTOMER, optionalText),
  referenceId: z.union([z.string(), z.number()], 'must be a string or a number').nullish(),
});

const address = { ...each(ADDRESS, optionalText), countryCode: countryCode.nullish() };

/** Any scheme, even an app's own, except those of scripts. */
const returnUrl = textThat(
  text => /^[a-z][a-z\d+.-]*:\S+$/i.test(text) && !/^(?:javascript|data|vbscript):/i.test(text) && URL.canParse(text),
  'must be an absolute URL, or null',
);

/** The gateway's document does not show the fields. */
const anyObject: z.ZodType<object, object> = z.record(z.string(), z.unknown(), 'must be a plain object');

const fields = {
  amount: amountSchema,
  currency: textLike(/^[A-Za-z\d]{3,}$/, 'must be a currency code such as "EUR"'),
  externalApiId: optionalText,
  customer: customer.nullish(),
  billingAddress: openObject(address).nullish(),
  additionalParameters: anyObject.nullish(),
  ...each(['description', 'reference'], optionalText),
  ...each(['webhookUrl', 'callbackUrl'], httpUrl.nullish()),
  returnUrl: returnUrl.nullish(),
  browser: anyObject.nullish(),
} satisfies FieldsOf<RequestFields>;

const applePayFields = {
  ...fields,
  reference: z.string('must be a string for Apple Pay, or null').nullable(),
  returnUrl: returnUrl.nullable(),
  billingAddress: openObject({ ...address, countryCode }, 'must be an object with a countryCode for Apple Pay'),
} satisfies Omit<FieldsOf<ApplePayDeposit>, 'paymentType' | 'paymentMethod'>;

export const REQUEST_FIELDS: readonly string[] = ['paymentType', 'paymentMethod', ...Object.keys(fields)];

const NOT_AN_OBJECT = 'must be an object of request fields';

const requestBy = <P extends string, M extends string, F extends z.ZodRawShape>(
  type: P,
  methods: readonly M[],
  own: F,
) =>
  closedObject(
    'field',
    {
      paymentType: z.literal(type, `must be ${type} here`),
      paymentMethod: z.enum(methods, { error: ({ input }) => wrongMethod(input, methods) }),
      ...own,
    },
    NOT_AN_OBJECT,
    '; to send one this SDK does not know, use the call option `extra`',
  ).refine(({ webhookUrl, callbackUrl }: Record<string, unknown>) => (webhookUrl ?? callbackUrl) != null, {
    error: "is missing: set webhookUrl or callbackUrl in the request, or webhookUrl in the client's options",
    path: ['webhookUrl'],
  });

const depositBy = <M extends string>(methods: readonly M[]) =>
  z.discriminatedUnion(
    'paymentMethod',
    [
      requestBy('DEPOSIT', ['APPLEPAY'], applePayFields),
      requestBy('DEPOSIT', methods.filter(method => method !== 'APPLEPAY') as Exclude<M, 'APPLEPAY'>[], fields),
    ],
    {
      error: ({ code, input }) =>
        code === 'invalid_union' ? wrongMethod(Object(input).paymentMethod, methods) : NOT_AN_OBJECT,
    },
  );

const withdrawal = requestBy('WITHDRAWAL', WITHDRAWAL_METHODS, fields);
const nftPurchase = depositBy(NFT_METHODS);

const schemasFor = <M extends string>(depositMethods: readonly M[]) => {
  const deposit = depositBy(depositMethods);
  const payment = z.discriminatedUnion('paymentType', [deposit, withdrawal], {
    error: ({ code }) => (code === 'invalid_union' ? 'must be DEPOSIT or WITHDRAWAL' : NOT_AN_OBJECT),
  });
  return { deposit, withdrawal, nftPurchase, payment };
};

export const SCHEMAS = {
  standard: schemasFor(DEPOSIT_METHODS),
  onramp: schemasFor([...DEPOSIT_METHODS, ...ONRAMP_METHODS]),
};

/** The schema of a {@link DepositRequest} with its `paymentType`. */
export const depositSchema: z.ZodType<Deposit, Deposit> = SCHEMAS.standard.deposit;
/** The schema of a {@link WithdrawalRequest} with its `paymentType`. */
export const withdrawalSchema: z.ZodType<Withdrawal, Withdrawal> = withdrawal;
/** The schema of an {@link NftPurchaseRequest} with its `paymentType`. */
export const nftPurchaseSchema: z.ZodType<NftPurchase, NftPurchase> = nftPurchase;
/** The schema of a {@link PaymentRequest}. */
export const createPaymentSchema: z.ZodType<PaymentRequest, PaymentRequest> = SCHEMAS.standard.payment;

function wrongMethod(given: unknown, accepted: readonly string[]) {
  const list = `accepted here: ${accepted.join(', ')}`;
  if (given === undefined) return `is missing; ${list}`;
  if (accepted === DEPOSIT_METHODS && isOnrampMethod(given))
    return `${given} needs an on-ramp terminal: new GatewayClient({ terminal: 'onramp' })`;
  const near = typeof given === 'string' && nearest(given, accepted);
  return `${near ? `did you mean ${near}?` : 'is not a method of this call'}; ${list}`;
}
