// The public exports of payment-gateway-sdk.
export { GatewayClient } from './client.ts';
export type { CallOptions, ClientOptions, CreateOptions, SettleOptions } from './client-options.ts';
export {
  ApiError,
  ConfigurationError,
  ConnectionError,
  DuplicateReferenceError,
  GatewayError,
  InvalidRequestError,
  isGatewayError,
  PaymentInDoubtError,
  PaymentNotFoundError,
  ResponseError,
  StoreError,
  WaitTimeoutError,
  WebhookError,
} from './errors.ts';
export type { Created } from './payments/create.ts';
export type { NextAction } from './payments/next-action.ts';
export type { Order } from './payments/order-state.ts';
export type { Checkout, CheckoutRequest } from './payments/orders.ts';
export type { PayoutRequest } from './payments/payouts.ts';
export type { Doubt, Entry } from './payments/references.ts';
export { signBody } from './payments/signing/sign.ts';
export type { WaitOptions } from './payments/wait.ts';
export {
  DEPOSIT_METHODS,
  type DepositMethod,
  isDepositMethod,
  isNftMethod,
  isOnrampMethod,
  isPaymentStatus,
  isWithdrawalMethod,
  NFT_METHODS,
  ONRAMP_METHODS,
  PAYMENT_STATUSES,
  type PaymentMethod,
  type PaymentStatus,
  WITHDRAWAL_METHODS,
  type WithdrawalMethod,
} from './schemas/methods.ts';
export { createdAt } from './schemas/records/created-at.ts';
export {
  type CanceledPayment,
  type CompletedPayment,
  type FailedPayment,
  type FinalPayment,
  type Payment,
  paymentSchema,
} from './schemas/records/payment.ts';
export { fundsNotDelivered, isFinal, isPaid } from './schemas/records/payment-status.ts';
export { type Transfer, transferSchema } from './schemas/records/transfer.ts';
export type {
  ApplePayDeposit,
  DepositRequest,
  NftPurchaseRequest,
  OnrampDeposit,
  PaymentRequest,
  PlainDeposit,
  WithdrawalRequest,
} from './schemas/requests/request.ts';
export { createPaymentSchema, depositSchema, nftPurchaseSchema, withdrawalSchema } from './schemas/requests/schema.ts';
export type { Store } from './store/contract.ts';
export { memoryStore } from './store/memory.ts';
export type { Review } from './store/rules/payment-row.ts';
export type { CallbackEvent, GatewayEvent } from './telemetry/events.ts';
export type { Upkeep, UpkeepOptions } from './upkeep/upkeep.ts';
export type { WebhookHandlerOptions } from './webhooks/endpoint.ts';
export type { Context, PaymentOutcome } from './webhooks/functions.ts';
export { createWebhookHandler, type WebhookHandler } from './webhooks/handler.ts';
export { toNodeHandler } from './webhooks/node.ts';
export { parseWebhook, type WebhookPayment } from './webhooks/parse.ts';
