// The public list of payment-gateway-sdk.
export type { Fetch, FetchAnswer, FetchInit } from './attempts.ts';
export type { CallOptions, CreateOptions } from './call-options.ts';
export { type Created, GatewayClient } from './client.ts';
export type { DepositRequest, NftPurchaseRequest, PaymentRequest, WithdrawalRequest } from './creation.ts';
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
} from './errors.ts';
export type { EventListener, GatewayEvent, WarningCode } from './events.ts';
export type { NextAction, TransferInstructions } from './next-action.ts';
export type { Inbox, InboxEvent, InboxResult } from './once/inbox.ts';
export type {
  Acceptance,
  Doubt,
  Journal,
  JournalAttempt,
  JournalKey,
  JournalRecord,
  JournalResult,
} from './once/journal.ts';
export { memoryInbox, memoryJournal } from './once/memory.ts';
export type { ClientOptions } from './options.ts';
export { type Envelope, envelopeSchema } from './schemas/envelope.ts';
export {
  DEPOSIT_METHODS,
  type DepositMethod,
  NFT_METHODS,
  type NftMethod,
  ONRAMP_METHODS,
  type OnrampMethod,
  PAYMENT_STATUSES,
  type PaymentMethod,
  type PaymentStatus,
  type Terminal,
  WITHDRAWAL_METHODS,
  type WithdrawalMethod,
} from './schemas/methods.ts';
export {
  type AuthorizedPayment,
  authorizedPaymentSchema,
  type BillingAddress,
  billingAddressSchema,
  type CanceledPayment,
  type CompletedPayment,
  type Customer,
  canceledPaymentSchema,
  completedPaymentSchema,
  customerSchema,
  type FailedPayment,
  type FinalPayment,
  failedPaymentSchema,
  fundsNotDelivered,
  isFinal,
  isPaid,
  type Payment,
  type PendingPayment,
  paymentSchema,
  pendingPaymentSchema,
  type Timestamp,
  timestampSchema,
  type UnknownPayment,
  unknownPaymentSchema,
} from './schemas/payment.ts';
export {
  type Amount,
  type ApplePayDeposit,
  amountSchema,
  applePayDepositSchema,
  billingAddressRequestSchema,
  createPaymentSchema,
  customerRequestSchema,
  type Deposit,
  depositSchema,
  type NftPurchase,
  nftPurchaseSchema,
  type OnrampDeposit,
  type OnrampTerminalDeposit,
  onrampDepositSchema,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  type PlainDeposit,
  plainDepositSchema,
  type Withdrawal,
  withdrawalSchema,
} from './schemas/request.ts';
export { createdAt } from './schemas/timestamp.ts';
export { type Transfer, transferSchema } from './schemas/transfer.ts';
export { type SignatureEncoding, signBody } from './signing.ts';
export type { WaitOptions } from './wait.ts';
export type { ConfirmedWebhook, WebhookClaim } from './webhooks/confirm.ts';
export {
  createWebhookHandler,
  type WebhookGateway,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './webhooks/handler.ts';
export { type NodeRequest, type NodeResponse, toNodeHandler } from './webhooks/node.ts';
export { parseWebhook, type WebhookPayment } from './webhooks/parse.ts';
