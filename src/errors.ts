// Every error of the SDK: one class for each next step of the merchant.
import type * as z from 'zod';
import type { Payment } from './schemas/records/payment.ts';

/**
 * Meaning of a failed create for the money. `not_sent`: nothing left this machine. `rejected`: the gateway refused it,
 * so no payment exists. `unknown`: a payment may exist, so retry only with a store, and keep reference and provider.
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** Returns the last sentences of a failed create's message. */
export function adviceOn(outcome: Outcome, paymentId?: string) {
  if (outcome === 'not_sent') return 'Nothing was sent: it is safe to create it again.';
  if (outcome === 'rejected') return 'No payment was created.';
  const first = paymentId
    ? `Payment ${paymentId} may exist: look it up before you create another.`
    : 'A payment may exist: wait for its callback, or ask the gateway, before you create another.';
  return `${first} With a store, repeat the create with the same reference: the SDK sends it once.`;
}

/** One mistake in a request, an answer or a callback, without the value. */
export interface Issue {
  /** The field, such as `billingAddress.countryCode`, or empty for the whole. */
  path: string;
  /** The mistake, for people. The text may change. */
  message: string;
}

export const issuesOf = (error: z.core.$ZodError) =>
  error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));

export const listOf = (issues: readonly Issue[]) =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');

interface Details {
  cause?: unknown;
  outcome?: Outcome | undefined;
  paymentId?: string | undefined;
}

const BRAND = Symbol.for('payment-gateway-sdk.error');

/** Base class of all errors of the SDK. An error never contains a key or signature. Printing it hides customer data. */
export abstract class GatewayError extends Error {
  abstract override readonly name: string;
  /** Stable code for programs, unlike the message. */
  abstract readonly code: string;
  /** Meaning for the money, after a create, `payOut` or `settle`. */
  declare readonly outcome?: Outcome;
  /** The payment's id, if known from an answer, the store, or your own call. */
  declare readonly paymentId?: string;

  constructor(message: string, { cause, outcome, paymentId }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (outcome) this.outcome = outcome;
    if (paymentId) this.paymentId = paymentId;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Returns the part that may be logged, without body and customer data. */
  toJSON(): object {
    return Object.assign({ name: this.name, message: this.message }, this);
  }

  /** Leaves accessors unread, even with `getters: true`. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: object, inspect: Inspect): string {
    return inspect(this, { ...options, customInspect: false, getters: false });
  }
}

type Inspect = (value: unknown, options: object) => string;

/** The SDK refused the request and sent nothing. Correct every mistake in `issues`. */
export class InvalidRequestError extends GatewayError {
  override readonly name = 'InvalidRequestError';
  readonly code = 'invalid_request';
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[], outcome?: 'not_sent') {
    const message = `Invalid request: ${listOf(issues)}.`;
    super(outcome ? `${message} Nothing was sent.` : message, { outcome });
    this.issues = issues;
  }
}

abstract class AnswerError extends GatewayError {
  /** HTTP status. */
  readonly status: number;
  /** The `x-request-id` or `request-id` header, for the gateway's support. */
  declare readonly requestId?: string;
  readonly #body: string;
  constructor(message: string, answer: FailedAnswer, details?: Details) {
    super(message, details);
    this.status = answer.status;
    if (answer.requestId) this.requestId = answer.requestId;
    this.#body = answer.body;
  }
  /** Text of the answer, hidden from printing and JSON because it may contain customer data. */
  get body(): string {
    return this.#body;
  }
}

interface FailedAnswer {
  status: number;
  body: string;
  requestId?: string | undefined;
  /** Milliseconds. */
  pause?: number | undefined;
}

/** The gateway answered with an error. On a create, `outcome` says whether a payment may exist. */
export class ApiError extends AnswerError {
  override readonly name: 'ApiError' | 'PaymentNotFoundError' = 'ApiError';
  readonly code: 'api_error' | 'payment_not_found' = 'api_error';
  /** Milliseconds to wait before the next call, by `Retry-After`, at most 15 minutes. */
  declare readonly retryAfter?: number;
  constructor(message: string, answer: FailedAnswer, details?: Details) {
    super(message, answer, details);
    if (answer.pause) this.retryAfter = answer.pause;
  }
}

/** A lookup answered 404: the gateway has no such payment. */
export class PaymentNotFoundError extends ApiError {
  override readonly name = 'PaymentNotFoundError';
  override readonly code = 'payment_not_found';
}

/** No complete answer came from the gateway, or from the store in a call that asks only the store. */
export class ConnectionError extends GatewayError {
  override readonly name = 'ConnectionError';
  /** `timeout`, `aborted`, a system code such as `ECONNREFUSED` or `UND_ERR_SOCKET`, or `fetch_failed`. */
  readonly code: string;
  constructor(message: string, code: string, details?: Details) {
    super(message, details);
    this.code = code;
  }
}

/** The gateway accepted the call (2xx), but the SDK cannot read its answer. */
export class ResponseError extends AnswerError {
  override readonly name = 'ResponseError';
  readonly code = 'unreadable_response';
  readonly issues: readonly Issue[];
  constructor(message: string, answer: FailedAnswer, issues: readonly Issue[], details?: Details) {
    super(message, answer, details);
    this.issues = issues;
  }
}

/** The store has another request or a planned payout with this reference. It belongs to one payment permanently. */
export class DuplicateReferenceError extends GatewayError {
  override readonly name = 'DuplicateReferenceError';
  readonly code = 'duplicate_reference';
  readonly reference: string;
  /** Any of paymentType, paymentMethod, amount, currency, `other fields`. Empty for the request of a planned payout. */
  readonly differing: readonly string[];
  constructor(
    reference: string,
    differing: readonly string[],
    state: 'planned' | 'begun' | 'created',
    details: Details,
  ) {
    const others = 'other fields, such as the customer, an address or a URL';
    const fields = differing.join(', ').replace('other fields', others);
    const found = fields ? `belongs to another request. Different: ${fields}.` : 'is a planned payout.';
    const next = {
      planned: `The payout is planned, and upkeep sends it. To cancel it, call gateway.settle(reference, 'not_created').`,
      begun: 'That request may have made a payment: settle it before you create another, under any reference.',
      created: `That request made payment ${details.paymentId}: to get it, send exactly that request; for a second payment use another reference.`,
    }[state];
    const outcome = state === 'begun' ? 'unknown' : 'not_sent';
    super(`Reference ${JSON.stringify(reference)} ${found} Nothing was sent now. ${next}`, { ...details, outcome });
    this.reference = reference;
    this.differing = differing;
  }
}

/** An earlier create of this reference is running or has an unknown outcome, so the SDK sent nothing now. */
export class PaymentInDoubtError extends GatewayError {
  override readonly name = 'PaymentInDoubtError';
  readonly code = 'payment_in_doubt';
  readonly reference: string;
  /** Start of that create. */
  readonly since: Date;
  /** Set if that create may still be running elsewhere: the same create, repeated shortly, may return its payment. */
  declare readonly underWay?: true;
  /** Earliest time for `settle(reference, 'not_created')`, if that came too early. */
  declare readonly settleableAt?: Date;
  constructor(reference: string, since: Date, details: Details & { settleableAt?: Date; underWay?: boolean } = {}) {
    const { settleableAt, underWay } = details;
    const name = JSON.stringify(reference);
    const repeat = underWay ? 'It may still be running: repeat the same create in a moment. ' : '';
    const message = settleableAt
      ? `Too early: the create of ${name} may still reach the gateway. 'not_created' is refused until ${settleableAt.toISOString()}, when its timeout and the store's settleMargin have passed.`
      : `An earlier create of ${name} is still running, or its outcome is unknown. Nothing was sent now. ${repeat}Its callback settles it. If none comes, ask the gateway, then call gateway.settle.`;
    super(message, { ...details, outcome: 'unknown' });
    this.reference = reference;
    this.since = since;
    if (settleableAt) this.settleableAt = settleableAt;
    if (underWay) this.underWay = true;
  }
}

/** A write to the store failed, so the SDK sent nothing. */
export class StoreError extends GatewayError {
  override readonly name = 'StoreError';
  readonly code = 'store_failed';
  constructor(message: string, details?: Details) {
    super(message, { ...details, outcome: 'not_sent' });
  }
}

/** The payment did not reach the awaited status in time. */
export class WaitTimeoutError extends GatewayError {
  override readonly name = 'WaitTimeoutError';
  readonly code = 'wait_timeout';
  readonly #lastPayment: Payment | undefined;
  constructor(message: string, lastPayment: Payment | undefined, details?: Details) {
    super(message, details);
    this.#lastPayment = lastPayment;
  }
  /** The payment of the last successful lookup, if any, hidden from printing and JSON. */
  get lastPayment(): Payment | undefined {
    return this.#lastPayment;
  }
}

/** An option of the client, a store or a handler is missing or wrong. */
export class ConfigurationError extends GatewayError {
  override readonly name = 'ConfigurationError';
  readonly code = 'configuration';
}

/**
 * Reason for an unhandled callback.
 * - Permanent: `not_json`, `wrapped` (only by `parseWebhook`), `invalid` (the `id` is not a UUID), `too_large`,
 *   `refused` (by `verify`), `unsigned` (its address lacks a valid token).
 * - A later delivery can succeed: `already_parsed` (the body was read before), `unknown_payment` (the gateway does not
 *   know it yet), `lagging` (the record is older than the callback), `busy` (too much work).
 * - A person must complete the effect, then call `gateway.resolveReview`: `effect_uncertain`.
 */
export type WebhookErrorCode =
  | 'not_json'
  | 'wrapped'
  | 'invalid'
  | 'too_large'
  | 'refused'
  | 'unsigned'
  | 'already_parsed'
  | 'unknown_payment'
  | 'lagging'
  | 'busy'
  | 'effect_uncertain';

/** A callback was not handled, for the reason in `code`. */
export class WebhookError extends GatewayError {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;
  /** The mistakes in the body, for the code `invalid`. */
  readonly issues: readonly Issue[];
  constructor(code: WebhookErrorCode, message: string, issues: readonly Issue[] = [], details?: Details) {
    super(message, details);
    this.code = code;
    this.issues = issues;
  }
}

/** Every error of the SDK, for an exhaustive `switch (error.name)`. */
export type AnyGatewayError =
  | InvalidRequestError
  | ApiError
  | PaymentNotFoundError
  | ConnectionError
  | ResponseError
  | DuplicateReferenceError
  | PaymentInDoubtError
  | StoreError
  | WaitTimeoutError
  | ConfigurationError
  | WebhookError;

/** Checks for an error of this SDK, even of its other copy in an app that loads both ESM and CJS. */
export const isGatewayError = (value: unknown): value is AnyGatewayError => BRAND in Object(value);
