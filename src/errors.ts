// Every error of the SDK: one class for each thing that the merchant must do next.
import type * as z from 'zod';
import type { Payment } from './schemas/payment.ts';

/**
 * What a failed create means for the money: `not_sent`, nothing left this machine; `rejected`, the gateway refused it and
 * no payment exists; `unknown`, a payment may exist: create it again only with a journal, and pay in no other way.
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** The sentence that ends the message of a failed create: what to do next. */
export function adviceOn(outcome: Outcome, paymentId?: string): string {
  if (outcome === 'not_sent') return 'Nothing was sent: it is safe to create it again.';
  if (outcome === 'rejected') return 'No payment was created.';
  const first = paymentId
    ? `Payment ${paymentId} may exist: look it up before you create another.`
    : 'A payment may exist: wait for its callback, or ask the gateway, before you create another.';
  return `${first} With a journal, create the same reference again: nothing is sent twice.`;
}

/** One thing that is wrong with a request, an answer or a callback. It names the field, never its value. */
export interface Issue {
  /** The field, as in `billingAddress.countryCode`; empty for the whole. */
  path: string;
  /** What is wrong with it, for people. It may change. */
  message: string;
}

/** What a schema refused, without the values. */
export const issuesOf = (error: z.core.$ZodError): Issue[] =>
  error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));

/** All of them in one line, for a message. */
export const listOf = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');

interface Details {
  cause?: unknown;
  outcome?: Outcome | undefined;
  paymentId?: string | undefined;
}

const BRAND = Symbol.for('payment-gateway-sdk.error');

/** What every error of the SDK extends. None holds a key or a signature; printing one never shows customer data. */
export abstract class GatewayError extends Error {
  abstract override readonly name: string;
  /** Stable and for machines; the message is for people and may change. */
  abstract readonly code: string;
  /** What became of the money: on a create, `plan` and `settle`. */
  declare readonly outcome?: Outcome;
  /** The gateway's id of the payment, if it is known: from an answer, the journal, or your own call. */
  declare readonly paymentId?: string;
  /** Only on a create of what was planned: it still is, and a drain will send it. */
  declare readonly isStillPlanned?: true;

  constructor(message: string, { cause, outcome, paymentId }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (outcome) this.outcome = outcome;
    if (paymentId) this.paymentId = paymentId;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** What may be logged of it: neither a body, nor customer data. */
  toJSON(): object {
    return Object.assign({ name: this.name, message: this.message }, this);
  }

  /** Keeps accessors unread even under `inspect(error, { getters: true, showHidden: true })`. */
  [Symbol.for('nodejs.util.inspect.custom')](_depth: number, options: object, inspect: Inspect): string {
    return inspect(this, { ...options, customInspect: false, getters: false });
  }
}

type Inspect = (value: unknown, options: object) => string;

/** The SDK refused the request before it was sent: correct the request. */
export class InvalidRequestError extends GatewayError {
  override readonly name = 'InvalidRequestError';
  readonly code = 'invalid_request';
  /** Everything that is wrong with the request. */
  readonly issues: readonly Issue[];
  constructor(issues: readonly Issue[], outcome?: 'not_sent') {
    const message = `Invalid request: ${listOf(issues)}.`;
    super(outcome ? `${message} Nothing was sent.` : message, { outcome });
    this.issues = issues;
  }
}

/** An error that keeps what the gateway answered where printing and serialising do not show it. */
abstract class AnswerError extends GatewayError {
  /** HTTP status. */
  readonly status: number;
  /** From the answer's `x-request-id` or `request-id` header: quote it to the gateway's support. */
  declare readonly requestId?: string;
  readonly #body: string;
  constructor(message: string, answer: FailedAnswer, details?: Details) {
    super(message, details);
    this.status = answer.status;
    if (answer.requestId) this.requestId = answer.requestId;
    this.#body = answer.body;
  }
  /** The answer's text. It may hold customer data, so printing the error does not show it. */
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

/** The gateway answered with an error. */
export class ApiError extends AnswerError {
  override readonly name: 'ApiError' | 'PaymentNotFoundError' = 'ApiError';
  readonly code: 'api_error' | 'payment_not_found' = 'api_error';
  /** Milliseconds to wait before the next call, if the gateway asked for that with `Retry-After`: 15 minutes at most. */
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

/** No complete answer arrived from the gateway, or from the journal in a call that asks only the journal. */
export class ConnectionError extends GatewayError {
  override readonly name = 'ConnectionError';
  /** `timeout`, `aborted`, the system's code such as `ECONNREFUSED` or `UND_ERR_SOCKET`, or `fetch_failed`. */
  readonly code: string;
  constructor(message: string, code: string, details?: Details) {
    super(message, details);
    this.code = code;
  }
}

/** The gateway accepted the call (`status` is a 2xx), and its answer cannot be read. */
export class ResponseError extends AnswerError {
  override readonly name = 'ResponseError';
  readonly code = 'unreadable_response';
  readonly issues: readonly Issue[];
  constructor(message: string, answer: FailedAnswer, issues: readonly Issue[], details?: Details) {
    super(message, answer, details);
    this.issues = issues;
  }
}

/** The journal has another request under this reference: one reference is one payment for ever. */
export class DuplicateReferenceError extends GatewayError {
  override readonly name = 'DuplicateReferenceError';
  readonly code = 'duplicate_reference';
  readonly reference: string;
  /** Which of paymentType, paymentMethod, amount and currency differ, or `other fields`. */
  readonly differing: readonly string[];
  /** @param state of the other request: planned to be sent, begun and in doubt, or its payment created */
  constructor(
    reference: string,
    differing: readonly string[],
    state: 'planned' | 'begun' | 'created',
    details: Details,
  ) {
    const what = differing
      .join(', ')
      .replace('other fields', 'other fields, such as the customer, an address or a URL');
    const message = `Reference ${JSON.stringify(reference)} belongs to another request. What differs: ${what}.`;
    const next = {
      planned: `That request is planned, and will be sent: for a second payment use another reference; to withdraw it, call gateway.settle(reference, 'not_created').`,
      begun: 'That request may have made a payment: settle it before you create another, under any reference.',
      created: `That request made payment ${details.paymentId}: to get it, send exactly that request; for a second payment use another reference.`,
    }[state];
    super(`${message} Nothing was sent now. ${next}`, {
      ...details,
      outcome: state === 'begun' ? 'unknown' : 'not_sent',
    });
    this.reference = reference;
    this.differing = differing;
  }
}

/** It is unknown whether an earlier create of this reference made a payment, so no other is made. */
export class PaymentInDoubtError extends GatewayError {
  override readonly name = 'PaymentInDoubtError';
  readonly code = 'payment_in_doubt';
  readonly reference: string;
  /** When that create began. */
  readonly since: Date;
  /** It may still be running elsewhere: the same create again in a moment may get its payment. */
  declare readonly underWay?: true;
  /** When `settle(reference, 'not_created')` is taken, if it was refused as too early. */
  declare readonly settleableAt?: Date;
  constructor(reference: string, since: Date, details: Details & { settleableAt?: Date; underWay?: boolean } = {}) {
    const { settleableAt, underWay, ...rest } = details;
    const message = settleableAt ? tooEarly(reference, settleableAt) : inDoubt(reference, underWay);
    super(message, { ...rest, outcome: 'unknown' });
    this.reference = reference;
    this.since = since;
    if (settleableAt) this.settleableAt = settleableAt;
    if (underWay) this.underWay = true;
  }
}

const tooEarly = (reference: string, settleableAt: Date) =>
  `Too early: the create of ${JSON.stringify(reference)} may still reach the gateway. 'not_created' is refused until ${settleableAt.toISOString()}: its time-out and the journal's settleMargin.`;

const inDoubt = (reference: string, underWay = false) =>
  `An earlier create of ${JSON.stringify(reference)} is still running, or its outcome is unknown. Nothing was sent now. ${underWay ? 'It may still be running: make the same create again in a moment. ' : ''}Its callback will settle it; or ask the gateway, then call gateway.settle.`;

/** The journal could not be written, so nothing was sent. */
export class JournalError extends GatewayError {
  override readonly name = 'JournalError';
  readonly code = 'journal_failed';
  constructor(message: string, details?: Details) {
    super(message, { ...details, outcome: 'not_sent' });
  }
}

/** The payment did not reach the status that was waited for in time. */
export class WaitTimeoutError extends GatewayError {
  override readonly name = 'WaitTimeoutError';
  readonly code = 'wait_timeout';
  readonly #lastPayment: Payment | undefined;
  constructor(message: string, lastPayment: Payment | undefined, details?: Details) {
    super(message, details);
    this.#lastPayment = lastPayment;
  }
  /** The payment as the last lookup showed it; undefined if no lookup succeeded. */
  get lastPayment(): Payment | undefined {
    return this.#lastPayment;
  }
}

/** An option is missing or refused: correct it. */
export class ConfigurationError extends GatewayError {
  override readonly name = 'ConfigurationError';
  readonly code = 'configuration';
}

/**
 * Why a callback was not handled. For good: `not_json`; `wrapped`, by `parseWebhook` only; `invalid`, no UUID as `id`;
 * `too_large`; `refused`, by `verify`; `unsigned`, without a good token in its address. To be taken again later:
 * `already_parsed`, the body was read before; `unknown_payment`, the gateway does not know it (yet); `lagging`, the record
 * is behind the callback; `busy`, too much is at work; `effect_uncertain`, an operator must say what was done.
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

/** A callback was not handled: `code` says why. */
export class WebhookError extends GatewayError {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;
  /** What is wrong with the body, if that is `invalid`. */
  readonly issues: readonly Issue[];
  constructor(code: WebhookErrorCode, message: string, issues: readonly Issue[] = [], details?: Details) {
    super(message, details);
    this.code = code;
    this.issues = issues;
  }
}

/** Every error the SDK can throw, so that a `switch (error.name)` is exhaustive. */
export type AnyGatewayError =
  | InvalidRequestError
  | ApiError
  | PaymentNotFoundError
  | ConnectionError
  | ResponseError
  | DuplicateReferenceError
  | PaymentInDoubtError
  | JournalError
  | WaitTimeoutError
  | ConfigurationError
  | WebhookError;

/** Whether a value is an error of this SDK, also of its other copy when an app loads both ESM and CJS. */
export const isGatewayError = (value: unknown): value is AnyGatewayError =>
  typeof value === 'object' && value !== null && BRAND in value;
