// Read by the compiler alone (npm run typecheck): each line under @ts-expect-error must be refused, the rest taken.
import {
  ConnectionError,
  type Created,
  createPaymentSchema,
  type DepositMethod,
  type DepositRequest,
  GatewayClient,
  isDepositMethod,
  isFinal,
  isGatewayError,
  isPaid,
  type Payment,
  type PaymentRequest,
  type Terminal,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

declare const number: number;
declare const text: string;
declare const maybe: string | undefined;
interface BlikParameters {
  purpose: string;
}
declare const blik: BlikParameters;
declare const method: DepositMethod;
declare const cents: `0.${number}`;
declare const euros: `${number}.00`;
declare const money: string & { readonly brand: 'money' };
/** A merchant's own, without an index signature. */
interface Shopper {
  firstName: string;
  loyaltyTier: number;
}
declare const shopper: Shopper;
declare const isLucky: boolean;
// biome-ignore lint/suspicious/noExplicitAny: what a merchant's own untyped code gives
declare const anything: any;
declare const paymentType: 'DEPOSIT' | 'WITHDRAWAL';
declare const settings: { terminal: 'standard' | 'onramp' };

const gateway = new GatewayClient();
const onramp = new GatewayClient({ terminal: 'onramp' });
const either = new GatewayClient(settings);
const webhookUrl = 'https://shop.example/callbacks';
const card = { paymentMethod: 'CARD', currency: 'EUR', webhookUrl } as const;

export async function taken(): Promise<void> {
  await gateway.createDeposit({ ...card, amount: 25.5 });
  await gateway.createDeposit({ ...card, amount: '25.50' });
  await gateway.createDeposit({ ...card, amount: 1, webhookUrl: maybe, callbackUrl: webhookUrl });
  // A method that the customer has chosen: with all that Apple Pay demands, any will do.
  await gateway.createDeposit({
    ...card,
    paymentMethod: method,
    amount: 1,
    reference: null,
    returnUrl: null,
    billingAddress: { countryCode: 'DE' },
  });
  await gateway.createDeposit({ ...card, amount: number, description: maybe });
  await gateway.createDeposit({ ...card, amount: text, webhookUrl: null, callbackUrl: webhookUrl });
  await gateway.createDeposit({ ...card, amount: 1, customer: { firstName: null, tier: 'gold' } }, { extra: { a: 1 } });
  await gateway.createDeposit({
    ...card,
    amount: 1,
    paymentMethod: 'APPLEPAY',
    reference: null,
    returnUrl: null,
    billingAddress: { countryCode: 'US' },
  });
  await gateway.createWithdrawal({ ...card, amount: 1, paymentMethod: 'SEPA' });
  await gateway.createNftPurchase({ ...card, amount: 1, paymentMethod: 'OPENBANKING' });
  await gateway.createPayment({ ...card, amount: 1, paymentType: 'WITHDRAWAL', paymentMethod: 'FPS' });
  await onramp.createDeposit({ ...card, amount: 1, paymentMethod: 'ONRAMP_PIX' });
  await onramp.createDeposit({ ...card, amount: 1 });
  await either.createDeposit({ ...card, amount: 1, paymentMethod: 'USER_CHOICE' });
  await new GatewayClient(new Sandbox({ terminal: 'onramp' }).clientOptions).createDeposit({
    ...card,
    amount: 1,
    paymentMethod: 'USER_CHOICE',
  });
  // Parameters and extra fields whose types are the merchant's own interfaces.
  await gateway.createDeposit({ ...card, amount: 1, additionalParameters: blik, browser: blik }, { extra: blik });
  // What a merchant has checked with the schema, or keeps in a variable of the request's type.
  await gateway.createPayment(createPaymentSchema.parse(JSON.parse(text)));
  const request: DepositRequest = { ...card, amount: number };
  await gateway.createDeposit(request);
  // Amounts of every type that may be one, and a customer of the merchant's own type.
  await gateway.createDeposit({ ...card, amount: euros, customer: shopper });
  await gateway.createDeposit({ ...card, amount: cents });
  await gateway.createDeposit({ ...card, amount: money, billingAddress: { countryCode: null, floor: 3 } });
  await gateway.createDeposit({ ...card, amount: '0.05', webhookUrl: maybe, callbackUrl: maybe });
  // A value whose type is any, and a few methods that Apple Pay is not among.
  await gateway.createDeposit({ ...card, amount: 1, paymentMethod: anything });
  await gateway.createDeposit({ ...card, amount: 1, paymentMethod: isLucky ? 'CARD' : 'BLIK' });
  await gateway.createPayment({ ...card, amount: 1, paymentType, paymentMethod: isLucky ? 'CARD' : 'SEPA' });
  // A guard narrows what comes from outside.
  if (isDepositMethod(text)) await gateway.createDeposit({ ...card, amount: 1, paymentMethod: text });
}

/** Functions of a merchant's own around the client. */
export const wrappers = {
  whole: (request: DepositRequest) => gateway.createDeposit(request),
  inEuros: (request: Omit<DepositRequest, 'currency'>) => gateway.createDeposit({ ...request, currency: 'EUR' }),
  calledBack: (request: Omit<DepositRequest, 'webhookUrl' | 'callbackUrl'>) =>
    gateway.createDeposit({ ...request, webhookUrl }),
  parameter: (request: Parameters<typeof gateway.createWithdrawal>[0]) => gateway.createWithdrawal(request),
  either: (request: Omit<PaymentRequest, 'amount'>) => gateway.createPayment({ ...request, amount: number }),
  generic: <T extends Terminal>(client: GatewayClient<T>, request: DepositRequest<T>) => client.createDeposit(request),
  genericPayment: <T extends Terminal>(client: GatewayClient<T>, request: PaymentRequest<T>) =>
    client.createPayment(request),
  anyTerminal: <T extends Terminal>(client: GatewayClient<T>) => client.createDeposit({ ...card, amount: 1 }),
  ofBoth: (client: GatewayClient<Terminal>) =>
    client.createDeposit({ ...card, amount: 1, paymentMethod: 'ONRAMP_PIX' }),
};
wrappers.ofBoth(gateway);
wrappers.ofBoth(onramp);

export async function refused(): Promise<void> {
  // @ts-expect-error an Apple Pay deposit without billingAddress
  await gateway.createDeposit({
    ...card,
    amount: 1,
    paymentMethod: 'APPLEPAY',
    reference: null,
    returnUrl: null,
  });
  const applePay = {
    ...card,
    amount: 1,
    paymentMethod: 'APPLEPAY',
    reference: null,
    returnUrl: null,
  } as const;
  // @ts-expect-error an Apple Pay deposit without billingAddress.countryCode
  await gateway.createDeposit({ ...applePay, billingAddress: { city: 'Łódź' } });
  // @ts-expect-error an Apple Pay deposit whose countryCode is null
  await gateway.createDeposit({ ...applePay, billingAddress: { countryCode: null } });
  // @ts-expect-error an Apple Pay deposit without the key reference
  await gateway.createDeposit({
    ...card,
    amount: 1,
    paymentMethod: 'APPLEPAY',
    returnUrl: null,
    billingAddress: { countryCode: 'US' },
  });
  // @ts-expect-error an Apple Pay deposit without the key returnUrl
  await gateway.createDeposit({
    ...card,
    amount: 1,
    paymentMethod: 'APPLEPAY',
    reference: null,
    billingAddress: { countryCode: 'US' },
  });
  // @ts-expect-error what may be an Apple Pay deposit, without what that demands
  await gateway.createDeposit({ ...card, amount: 1, paymentMethod: isLucky ? 'CARD' : 'APPLEPAY' });
  // @ts-expect-error a method of withdrawals, of what may be a deposit
  await gateway.createPayment({ ...card, amount: 1, paymentType, paymentMethod: 'SEPA' });
  for (const amount of [`-${number}`, `0${number}`, `${number}e3`] as const) {
    // @ts-expect-error amounts that can never be one
    await gateway.createDeposit({ ...card, amount });
  }
  for (const amount of ['0x10', ' 1', '1 ', '+1'] as const) {
    // @ts-expect-error amounts that only JavaScript reads as a number
    await gateway.createDeposit({ ...card, amount });
  }
  // @ts-expect-error a SEPA deposit
  await gateway.createDeposit({ ...card, amount: 1, paymentMethod: 'SEPA' });
  // @ts-expect-error a BLIK withdrawal
  await gateway.createWithdrawal({ ...card, amount: 1, paymentMethod: 'BLIK' });
  // @ts-expect-error a SEPA deposit through createPayment
  await gateway.createPayment({ ...card, amount: 1, paymentType: 'DEPOSIT', paymentMethod: 'SEPA' });
  // @ts-expect-error an on-ramp value on a standard terminal
  await gateway.createDeposit({ ...card, amount: 1, paymentMethod: 'ONRAMP_PIX' });
  // @ts-expect-error an on-ramp value on a standard terminal, through createPayment
  await gateway.createPayment({ ...card, amount: 1, paymentType: 'DEPOSIT', paymentMethod: 'USER_CHOICE' });
  // @ts-expect-error OPENBANKING anywhere but in an NFT purchase
  await gateway.createDeposit({ ...card, amount: 1, paymentMethod: 'OPENBANKING' });
  // @ts-expect-error an NFT purchase by BLIK
  await gateway.createNftPurchase({ ...card, amount: 1, paymentMethod: 'BLIK' });
  // @ts-expect-error no callback URL
  await gateway.createDeposit({ paymentMethod: 'CARD', currency: 'EUR', amount: 1 });
  // @ts-expect-error callback URLs that are null
  await gateway.createDeposit({ ...card, amount: 1, webhookUrl: null });
  // @ts-expect-error a callback URL that may be undefined
  await gateway.createDeposit({ ...card, amount: 1, webhookUrl: maybe });
  // @ts-expect-error amount 0
  await gateway.createDeposit({ ...card, amount: 0 });
  // @ts-expect-error amount 0 as text
  await gateway.createDeposit({ ...card, amount: '0.00' });
  // @ts-expect-error amount 0 with many zeros
  await gateway.createDeposit({ ...card, amount: '0.0000' });
  const zero = 0;
  // @ts-expect-error amount 0 through a constant
  await gateway.createDeposit({ ...card, amount: zero });
  // @ts-expect-error an amount with leading zeros
  await gateway.createDeposit({ ...card, amount: '007' });
  // @ts-expect-error a customer's name of another type
  await gateway.createDeposit({ ...card, amount: 1, customer: { firstName: 5 } });
  // @ts-expect-error a variable of the request's type with a method of the other type
  const request: DepositRequest = { ...card, amount: 1, paymentMethod: 'SEPA' };
  await gateway.createDeposit(request);
  // @ts-expect-error Apple Pay without what it demands, through a variable of the request's type
  const applePayRequest: DepositRequest = { ...card, amount: 1, paymentMethod: 'APPLEPAY' };
  await gateway.createDeposit(applePayRequest);
  // @ts-expect-error no amount at all
  await gateway.createDeposit({ ...card, amount: '25,50' });
  // @ts-expect-error an amount with an exponent
  await gateway.createDeposit({ ...card, amount: '1e5' });
  // @ts-expect-error a negative amount
  await gateway.createWithdrawal({ ...card, paymentMethod: 'SEPA', amount: -5 });
  // @ts-expect-error a negative amount as text
  await gateway.createNftPurchase({ ...card, amount: '-5' });
  // @ts-expect-error amount 0 through createPayment
  await gateway.createPayment({ ...card, paymentType: 'DEPOSIT', amount: 0 });
  // @ts-expect-error a slip in a field's name
  await gateway.createDeposit({ ...card, amount: 1, refrence: 'order-1' });
  // @ts-expect-error a second paymentType
  await gateway.createDeposit({ ...card, amount: 1, paymentType: 'DEPOSIT' });
  // @ts-expect-error an option that is none
  new GatewayClient({ signkey: 'x' });
}

/** Narrowing: each branch sees the fields of its own state, and the switch is exhaustive. */
export function told(payment: Payment): string | number | null | undefined {
  // @ts-expect-error a slip in a field's name
  payment.refrence;
  // @ts-expect-error not before the state is known
  payment.errorMessage;
  if (isPaid(payment)) return payment.settled_crypto_amount;
  if (isFinal(payment)) return payment.errorMessage;
  switch (payment.paymentStatus) {
    case 'PENDING':
    case 'AUTHORIZED':
      return payment.cryptoAmount;
    case 'UNKNOWN':
      return payment.rawPaymentStatus;
    default:
      return payment satisfies never;
  }
}

export function acted({ nextAction }: Created): string {
  switch (nextAction.type) {
    case 'redirect':
      return nextAction.redirectUrl;
    case 'transfer':
      return nextAction.transfer.number;
    case 'wait':
      return '';
    default:
      return nextAction satisfies never;
  }
}

export function caught(error: unknown): string | undefined {
  if (error instanceof ConnectionError) return error.outcome;
  if (!isGatewayError(error)) return undefined;
  switch (error.name) {
    case 'InvalidRequestError':
      return error.issues[0]?.path;
    case 'ApiError':
    case 'PaymentNotFoundError':
    case 'ResponseError':
      return error.body;
    case 'ConnectionError':
    case 'ConfigurationError':
    case 'WebhookError':
      return error.code;
    case 'DuplicateReferenceError':
      return error.differing[0];
    case 'PaymentInDoubtError':
      return error.paymentId ?? error.since.toISOString();
    case 'JournalError':
      return error.outcome;
    case 'WaitTimeoutError':
      return error.lastPayment?.id;
    default:
      return error satisfies never;
  }
}
