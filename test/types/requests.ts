// Read by the compiler alone (npm run typecheck): each line under @ts-expect-error must be refused, the rest taken.
import {
  ConnectionError,
  type Created,
  createPaymentSchema,
  type DepositMethod,
  type DepositRequest,
  GatewayClient,
  isFinal,
  isGatewayError,
  isPaid,
  type NftPurchaseRequest,
  type Payment,
  type PaymentRequest,
  type PlainDeposit,
  type WithdrawalRequest,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

declare const text: string;
declare const maybe: string | undefined;
declare const method: DepositMethod;
declare const isLucky: boolean;
// biome-ignore lint/suspicious/noExplicitAny: a merchant's untyped code
declare const anything: any;
declare const settings: { terminal: 'standard' | 'onramp' };
/** A merchant's own interfaces, without an index signature. */
interface Shopper {
  firstName: string;
  loyaltyTier: number;
}
declare const shopper: Shopper;
interface BlikParameters {
  purpose: string;
}
declare const blik: BlikParameters;

const gateway = new GatewayClient({ webhookUrl: 'https://shop.example/callbacks' });
const onramp = new GatewayClient({ terminal: 'onramp' });
const either = new GatewayClient(settings);
const card = { paymentMethod: 'CARD', currency: 'EUR', amount: '25.50' } as const;
const applePay = { ...card, paymentMethod: 'APPLEPAY', reference: null, returnUrl: null } as const;
const billingAddress = { countryCode: 'DE' };

export async function taken(): Promise<void> {
  await gateway.createDeposit({ ...card, amount: 25.5, paymentType: 'DEPOSIT' });
  await gateway.createDeposit({ ...card, amount: text, webhookUrl: maybe, callbackUrl: null, description: maybe });
  await gateway.createDeposit({ ...card, customer: shopper, browser: blik }, { extra: blik });
  await gateway.createDeposit({ ...card, paymentMethod: anything, additionalParameters: blik });
  await gateway.createDeposit({ ...card, paymentMethod: isLucky ? 'CARD' : 'BLIK' });
  await gateway.createDeposit({ ...applePay, billingAddress });
  // A method that the customer has chosen, with the fields that Apple Pay demands.
  await gateway.createDeposit({ ...applePay, paymentMethod: method, billingAddress });
  await gateway.createNftPurchase({ ...card, paymentMethod: 'OPENBANKING' });
  await gateway.createPayment({ ...card, paymentType: 'WITHDRAWAL', paymentMethod: 'FPS' });
  await gateway.createPayment(createPaymentSchema.parse(JSON.parse(text)));
  await onramp.createDeposit({ ...card, paymentMethod: 'ONRAMP_PIX' });
  await onramp.createDeposit(card);
  await onramp.createPayment({ ...card, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' });
  await either.createDeposit({ ...card, paymentMethod: 'USER_CHOICE' });
  const sandbox = new Sandbox({ terminal: 'onramp' });
  await new GatewayClient(sandbox.clientOptions).createDeposit({ ...card, paymentMethod: 'USER_CHOICE' });
}

/** Variables of the named types, and functions around the client. */
const withdrawal: WithdrawalRequest = {
  paymentMethod: 'SEPA',
  amount: '120.00',
  currency: 'EUR',
  reference: 'payout-77',
};
const deposit: DepositRequest = card;
const nft: NftPurchaseRequest = { ...card, paymentMethod: 'OPENBANKING' };
const payment: PaymentRequest = { ...withdrawal, paymentType: 'WITHDRAWAL' };

export const wrappers = {
  variables: () => [
    gateway.createWithdrawal(withdrawal),
    gateway.createDeposit(deposit),
    gateway.createNftPurchase(nft),
    gateway.createPayment(payment),
  ],
  whole: (request: DepositRequest) => gateway.createDeposit(request),
  spread: (request: DepositRequest) => gateway.createDeposit({ ...request, currency: 'EUR' }),
  omitted: (request: Omit<WithdrawalRequest, 'currency'>) => gateway.createWithdrawal({ ...request, currency: 'EUR' }),
  plain: (request: Omit<PlainDeposit, 'currency' | 'webhookUrl'>) =>
    gateway.createDeposit({ ...request, currency: 'EUR' }),
  changed: (request: Partial<WithdrawalRequest>) => gateway.createWithdrawal({ ...withdrawal, ...request }),
  parameter: (request: Parameters<typeof gateway.createPayment>[0]) => gateway.createPayment(request),
  generic: <T extends 'standard' | 'onramp'>(client: GatewayClient<T>, request: DepositRequest) =>
    client.createDeposit(request),
  genericPayment: <T extends 'standard' | 'onramp'>(client: GatewayClient<T>, request: PaymentRequest) =>
    client.createPayment(request),
  ofBoth: (client: GatewayClient<'standard' | 'onramp'>) =>
    client.createDeposit({ ...card, paymentMethod: 'ONRAMP_PIX' }),
};
wrappers.ofBoth(gateway);
wrappers.ofBoth(onramp);

export async function refused(): Promise<void> {
  // @ts-expect-error an Apple Pay deposit without billingAddress
  await gateway.createDeposit(applePay);
  // @ts-expect-error an Apple Pay deposit whose countryCode is null
  await gateway.createDeposit({ ...applePay, billingAddress: { countryCode: null } });
  // @ts-expect-error a possible Apple Pay deposit without the fields that Apple Pay demands
  await gateway.createDeposit({ ...card, paymentMethod: isLucky ? 'CARD' : 'APPLEPAY' });
  // @ts-expect-error a BLIK withdrawal
  await gateway.createWithdrawal({ ...card, paymentMethod: 'BLIK' });
  // @ts-expect-error a SEPA deposit through createPayment
  await gateway.createPayment({ ...card, paymentType: 'DEPOSIT', paymentMethod: 'SEPA' });
  // @ts-expect-error a payment without paymentType
  await gateway.createPayment(card);
  // @ts-expect-error an on-ramp method on a standard terminal
  await gateway.createDeposit({ ...card, paymentMethod: 'ONRAMP_PIX' });
  // @ts-expect-error OPENBANKING anywhere but in an NFT purchase
  await gateway.createDeposit({ ...card, paymentMethod: 'OPENBANKING' });
  // @ts-expect-error an unknown option
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
    case 'StoreError':
      return error.outcome;
    case 'WaitTimeoutError':
      return error.lastPayment?.id;
    default:
      return error satisfies never;
  }
}
