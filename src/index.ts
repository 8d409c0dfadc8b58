// The public exports of payment-gateway-sdk.
export { GatewayClient } from './client.ts';
export type { CallOptions, ClientOptions, CreateOptions, SettleOptions, SignatureEncoding } from './client-options.ts';
export {
  type AnyGatewayError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  DuplicateReferenceError,
  GatewayError,
  InvalidRequestError,
  type Issue,
  isGatewayError,
  JournalError,
  type Outcome,
  PaymentInDoubtError,
  PaymentNotFoundError,
  ResponseError,
  WaitTimeoutError,
  WebhookError,
  type WebhookErrorCode,
} from './errors.ts';
export type { Fetch, FetchAnswer, FetchInit } from './http/own-fetch.ts';
export type { BodyReader, BodyStream } from './http/read-body.ts';
export type { Inbox, InboxEvent, InboxResult, Mark, Processed } from './inbox/contract.ts';
export { memoryInbox } from './inbox/memory.ts';
export type {
  Doubt,
  DueQuery,
  Journal,
  JournalEntry,
  JournalKey,
  JournalQuery,
  JournalRequest,
  JournalRow,
  JournalState,
  JournalStore,
  Timed,
} from './journal/contract.ts';
export { type MemoryJournal, type MemoryJournalOptions, memoryJournal } from './journal/memory.ts';
export type { Planning, PlanOptions } from './journal/plan.ts';
export type { SweepHandler, Swept } from './journal/sweep.ts';
export type { SweepOptions } from './journal/sweep-options.ts';
export type { Created } from './payments/create.ts';
export type { Drained, DrainOptions } from './payments/drain-options.ts';
export type { FoundEntry } from './payments/journal-calls.ts';
export type { LookUp } from './payments/lookup.ts';
export type { NextAction, TransferInstructions } from './payments/next-action.ts';
export { signBody } from './payments/sign.ts';
export type { WaitOptions } from './payments/wait.ts';
export { createdAt } from './schemas/created-at.ts';
export type { Difference } from './schemas/matching.ts';
export {
  DEPOSIT_METHODS,
  type DepositMethod,
  isDepositMethod,
  isNftMethod,
  isOnrampMethod,
  isPaymentStatus,
  isWithdrawalMethod,
  NFT_METHODS,
  type NftMethod,
  ONRAMP_METHODS,
  type OnrampMethod,
  PAYMENT_STATUSES,
  type PaymentMethod,
  type PaymentStatus,
  type PaymentType,
  type Terminal,
  WITHDRAWAL_METHODS,
  type WithdrawalMethod,
} from './schemas/methods.ts';
export {
  type AuthorizedPayment,
  type BillingAddress,
  type CanceledPayment,
  type CompletedPayment,
  type Customer,
  type FailedPayment,
  type FinalPayment,
  type Payment,
  type PendingPayment,
  paymentSchema,
  type Timestamp,
  type UnknownPayment,
} from './schemas/payment.ts';
export { fundsNotDelivered, isFinal, isPaid, rawStatusOf } from './schemas/payment-status.ts';
export type {
  ApplePayBillingAddress,
  ApplePayDeposit,
  BillingAddressRequest,
  CustomerRequest,
  DepositRequest,
  NftPurchaseRequest,
  OnrampDeposit,
  OnrampPayment,
  PaymentRequest,
  PlainDeposit,
  PlainNftPurchase,
  WithdrawalRequest,
} from './schemas/request.ts';
export {
  createPaymentSchema,
  depositSchema,
  nftPurchaseSchema,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  withdrawalSchema,
} from './schemas/request-schema.ts';
export type { Envelope } from './schemas/response.ts';
export { type Transfer, transferSchema } from './schemas/transfer.ts';
export type { CallOutcome, CallTrace } from './telemetry/channels.ts';
export type {
  CallbackEvent,
  CallbackStep,
  CallbackWarningCode,
  CallFacts,
  EventListener,
  Failure,
  GatewayEvent,
  JournalChange,
  Operation,
  Success,
  WarningCode,
} from './telemetry/events.ts';
export type { CallbackContext } from './webhooks/effect.ts';
export { createWebhookHandler, type WebhookHandler, type WebhookHandlerOptions } from './webhooks/handler.ts';
export { type NodeRequest, type NodeResponse, toNodeHandler } from './webhooks/node.ts';
export { parseWebhook, type WebhookPayment } from './webhooks/parse.ts';
export type { ProcessOptions, WebhookGateway } from './webhooks/process.ts';
