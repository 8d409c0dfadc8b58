// Every error of the SDK: one class for each next step of the merchant.
import type * as z from 'zod';
import type { Payment } from './schemas/records/payment.ts';

/**
 * Meaning of a failed create for the money. `not_sent`: nothing left this machine. `rejected`: the gateway refused it
 * and no payment exists. `unknown`: a payment may exist, so retry only with a store, and keep reference and provider.
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** Returns the end of a failed create's message: the next step. */
export function adviceOn(outcome: Outcome, paymentId?: string): string {
  if (outcome === 'not_sent') return 'Nothing was sent: it is safe to create it again.';
  if (outcome === 'rejected') return 'No payment was created.';
  const first = paymentId
    ? `Payment ${paymentId} may exist: look it up before you create another.`
    : 'A payment may exist: wait for its callback, or ask the gateway, before you create another.';
  return `${first} With a store, repeat the create with the same reference: the SDK sends it once.`;
}

/** One mistake in a request, an answer or a callback. It names the field, never its value. */
export interface Issue {
  /** The field, such as `billingAddress.countryCode`, or empty for the whole. */
  path: string;
  /** The mistake, described for people. The text may change. */
  message: string;
}

/** Lists a schema's refusals, without the values. */
export const issuesOf = (error: z.core.$ZodError): Issue[] =>
  error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));

export const listOf = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');

interface Details {
  cause?: unknown;
  outcome?: Outcome | undefined;
  paymentId?: string | undefined;
}

const BRAND = Symbol.for('payment-gateway-sdk.error');

/** Base class of the SDK's errors. An error never contains a key or signature, and printing one hides customer data. */
export abstract class GatewayError extends Error {
  abstract override readonly name: string;
  /** Stable code for programs. The message is for people and may change. */
  abstract readonly code: string;
  /** Meaning for the money, on errors of a create, `payOut` and `settle`. */
  declare readonly outcome?: Outcome;
  /** The gateway's id of the payment, if known from an answer, the store, or your own call. */
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

  /** Leaves accessors unread, even for `inspect(error, { getters: true, showHidden: true })`. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: object, inspect: Inspect): string {
    return inspect(this, { ...options, customInspect: false, getters: false });
  }
}

type Inspect = (value: unknown, options: object) => string;

/** The SDK refused the request and did not send it. Correct the request: `issues` lists every mistake. */
export class InvalidRequestError extends GatewayError {
  override readonly name = 'InvalidRequestError';
  readonly code = 'invalid_request';
  /** Every mistake in the request. */
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[], outcome?: 'not_sent') {
    const message = `Invalid request: ${listOf(issues)}.`;
    super(outcome ? `${message} Nothing was sent.` : message, { outcome });
    this.issues = issues;
  }
}

/** An error with the gateway's answer, hidden from printing and serialising. */
abstract class AnswerError extends GatewayError {
  /** HTTP status of the answer. */
  readonly status: number;
  /** The answer's `x-request-id` or `request-id` header. Quote it to the gateway's support. */
  declare readonly requestId?: string;
  readonly #body: string;
  constructor(message: string, answer: FailedAnswer, details?: Details) {
    super(message, details);
    this.status = answer.status;
    if (answer.requestId) this.requestId = answer.requestId;
    this.#body = answer.body;
  }
  /** Text of the answer. It may contain customer data, so printing the error hides it. */
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
  /** Milliseconds to wait before the next call, from the answer's `Retry-After`, at most 15 minutes. */
  declare readonly retryAfter?: number;
  constructor(message: string, answer: FailedAnswer, details?: Details) {
    super(message, answer, details);
    if (answer.pause) this.retryAfter = answer.pause;
  }
}

/** A lookup answered 404: the gateway has no payment with that id. */
export class PaymentNotFoundError extends ApiError {
  override readonly name = 'PaymentNotFoundError';
  override readonly code = 'payment_not_found';
}

/** No complete answer arrived from the gateway, or from the store in a call that asks only the store. */
export class ConnectionError extends GatewayError {
  override readonly name = 'ConnectionError';
  /** `timeout`, `aborted`, a system code such as `ECONNREFUSED` or `UND_ERR_SOCKET`, or `fetch_failed`. */
  readonly code: string;
  constructor(message: string, code: string, details?: Details) {
    super(message, details);
    this.code = code;
  }
}

/** The gateway accepted the call (`status` is 2xx), but the SDK cannot read its answer. */
export class ResponseError extends AnswerError {
  override readonly name = 'ResponseError';
  readonly code = 'unreadable_response';
  readonly issues: readonly Issue[];
  constructor(message: string, answer: FailedAnswer, issues: readonly Issue[], details?: Details) {
    super(message, answer, details);
    this.issues = issues;
  }
}

/** The store has another request, or a planned payout, with this reference. A reference belongs to one payment permanently. */
export class DuplicateReferenceError extends GatewayError {
  override readonly name = 'DuplicateReferenceError';
  readonly code = 'duplicate_reference';
  readonly reference: string;
  /** paymentType, paymentMethod, amount, currency or `other fields`. Empty for the same request as a planned payout. */
  readonly differing: readonly string[];
  /** @param state of the other request: planned to be sent, begun and in doubt, or its payment created */
  constructor(
    reference: string,
    differing: readonly string[],
    state: 'planned' | 'begun' | 'created',
    details: Details,
  ) {
    const others = 'other fields, such as the customer, an address or a URL';
    const what = differing.join(', ').replace('other fields', others);
    const name = `Reference ${JSON.stringify(reference)}`;
    const message = what ? `${name} belongs to another request. Different: ${what}.` : `${name} is a planned payout.`;
    const next = {
      planned: `The payout is planned, and upkeep sends it. To cancel it, call gateway.settle(reference, 'not_created').`,
      begun: 'That request may have made a payment: settle it before you create another, under any reference.',
      created: `That request made payment ${details.paymentId}: to get it, send exactly that request; for a second payment use another reference.`,
    }[state];
    const outcome = state === 'begun' ? 'unknown' : 'not_sent';
    super(`${message} Nothing was sent now. ${next}`, { ...details, outcome });
    this.reference = reference;
    this.differing = differing;
  }
}

/** An earlier create of this reference is running or has an unknown outcome, so the SDK sends no second one. */
export class PaymentInDoubtError extends GatewayError {
  override readonly name = 'PaymentInDoubtError';
  readonly code = 'payment_in_doubt';
  readonly reference: string;
  /** Start of that create. */
  readonly since: Date;
  /** Set if that create may still be running elsewhere: retry the same create shortly, which may return its payment. */
  declare readonly underWay?: true;
  /** Earliest time for `settle(reference, 'not_created')`, if that was refused as too early. */
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

/** The payment did not reach the awaited status before the deadline. */
export class WaitTimeoutError extends GatewayError {
  override readonly name = 'WaitTimeoutError';
  readonly code = 'wait_timeout';
  readonly #lastPayment: Payment | undefined;
  constructor(message: string, lastPayment: Payment | undefined, details?: Details) {
    super(message, details);
    this.#lastPayment = lastPayment;
  }
  /** The payment of the last successful lookup, or undefined if none succeeded. */
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

/** A callback was not handled: `code` is the reason. */
export class WebhookError extends GatewayError {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;
  /** Every mistake in the body, for the code `invalid`. */
  readonly issues: readonly Issue[];
  constructor(code: WebhookErrorCode, message: string, issues: readonly Issue[] = [], details?: Details) {
    super(message, details);
    this.code = code;
    this.issues = issues;
  }
}

/** Union of all errors of the SDK, for an exhaustive `switch (error.name)`. */
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

/** Checks whether a value is an error of this SDK, even of its other copy in an app that loads both ESM and CJS. */
export const isGatewayError = (value: unknown): value is AnyGatewayError =>
  typeof value === 'object' && value !== null && BRAND in value;
