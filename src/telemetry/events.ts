// The events and warnings for the merchant: enough for logs and metrics, without secrets.
import type { Outcome } from '../errors.ts';

/** The kind of a call. A `callback` is one that the handler takes, or a payment that a sweep processes. */
export type Operation = 'create' | 'lookup' | 'settle' | 'sweep' | 'drain' | 'callback';

/** The facts of its call in each event of a client. */
export interface CallFacts {
  /** The same for all events of one call and of its lookups. */
  callId: string;
  operation: Operation;
  /** The merchant's own transaction id, if any. */
  reference?: string | undefined;
  /** The gateway's id of the payment, once known. */
  paymentId?: string | undefined;
  /** The number of attempts so far: 1 from the first attempt on. */
  attempt: number;
  /** Milliseconds since the call began. */
  durationMs: number;
}

/** One step of a call, or its end: every call ends with exactly one `success` or `failure`. */
export type GatewayEvent = CallFacts &
  (
    | { type: 'request' }
    /** An answer, with any status. `attemptMs`: milliseconds of this attempt alone. */
    | { type: 'response'; status: number; requestId?: string | undefined; attemptMs: number }
    /** The next attempt, which starts now after `waitedMs`. `reason` is an HTTP status or a connection's code. */
    | { type: 'retry'; reason: number | string; waitedMs: number }
    | ({ type: 'success' } & Success)
    | ({ type: 'failure' } & Failure)
    /** A change of a reference in the journal. */
    | { type: 'journal'; change: JournalChange }
    /** Nothing failed, but an operator should check it. */
    | { type: 'warning'; code: WarningCode; message: string }
  );

/** The facts of a successful call. */
export interface Success {
  /** `replayed`: an earlier create made the payment. `stale`: replayed, but the lookup failed. Otherwise `ok`. */
  outcome: 'ok' | 'replayed' | 'stale';
  /** The status as the gateway wrote it, if the call was about one payment. */
  paymentStatus?: string | undefined;
  /** The counts that a sweep or a drain returned. */
  counts?: Readonly<Record<string, number>> | undefined;
}

/** The facts of a failed call, after all retries. */
export interface Failure {
  /** The name of the error, and its code. */
  error: string;
  code: string;
  /** The outcome of a failed create for the money. */
  outcome?: Outcome | undefined;
  /** The HTTP status of the gateway's answer, if that was the failure. */
  status?: number | undefined;
  /** The id to quote to the gateway's support. */
  requestId?: string | undefined;
}

/**
 * `begun`: the attempt is recorded, and is sent now. `created`: its payment is recorded. `replayed`: a repeated create
 * got its payment. `in_doubt`: the attempt ended, and a payment may exist. `settled`: the payment of a doubt is known.
 * `freed`: no payment exists, so the next create may begin. `planned`: no payment exists, and the plan is sent again
 * later. `conflict`: the reference may have a second payment, `paymentId`. `gave_up`: later sweeps skip it.
 */
export type JournalChange =
  | 'begun'
  | 'created'
  | 'replayed'
  | 'in_doubt'
  | 'settled'
  | 'freed'
  | 'planned'
  | 'conflict'
  | 'gave_up';

/**
 * `create_mismatch`: the answer to a create differs from the request in type, amount, currency or reference.
 * `unusable_redirect_url`: the redirect address of a create is not http(s). `journal_not_recorded`: the end of a create
 * could not be recorded, so its reference stays in doubt. `journal_mismatch`: a confirmed payment has the reference of
 * a doubt, but is not the requested one. `journal_two_payments`: one reference may have two payments.
 * `journal_stale_replay`: a repeated create could not look its payment up, and returned the last record seen.
 * `sweep_gave_up`: a payment is older than the sweep's `giveUpAfter`, but not final. `sweep_failed`: a payment could
 * not be processed, and is retried. `plan_refused`: the gateway refused a planned create. You can plan it again.
 * `plan_not_sent`: a planned create was not sent, and is retried. It is for another client, the gateway refuses this
 * client, or refused three before it. `drain_failed`: the journal failed during a drain with `follow`, which retries.
 */
export type WarningCode =
  | 'create_mismatch'
  | 'unusable_redirect_url'
  | 'journal_not_recorded'
  | 'journal_mismatch'
  | 'journal_two_payments'
  | 'journal_stale_replay'
  | 'sweep_gave_up'
  | 'sweep_failed'
  | 'plan_refused'
  | 'plan_not_sent'
  | 'drain_failed';

/** One step of a callback, or of a sweep by `handler.process`. `httpStatus` is the handler's answer to the callback. */
export type CallbackEvent = {
  /** The same for all events of one callback. */
  callId: string;
  operation: 'callback';
  paymentId?: string | undefined;
} & (
  | ({ type: 'callback' } & CallbackStep)
  /** Nothing failed, but an operator should check it. */
  | { type: 'warning'; code: CallbackWarningCode; message: string }
);

/**
 * `received`: its id is read. Then its result follows. `ran`: the status took effect. `already`: it did before.
 * `refused`: permanently. `busy`: too much is running. `failed`: any other error. Each result without a 200 has the
 * `code` of its error. A callback answered after 25 s has a second result when its work ends, without `httpStatus`.
 */
export interface CallbackStep {
  result: 'received' | 'refused' | 'ran' | 'already' | 'busy' | 'failed';
  /** `signed`: the callback's address has a valid token. `sweep`: `handler.process` runs without a callback. */
  lane: 'signed' | 'unsigned' | 'sweep';
  /** The gateway's own status, once looked up. */
  paymentStatus?: string | undefined;
  code?: string | undefined;
  httpStatus?: number | undefined;
  /** Milliseconds since its arrival. */
  durationMs: number;
}

/**
 * `callback_mismatch`: a callback claims another amount, currency, type or reference than the record, or has the token
 * of another payment. `effect_uncertain`: an effect has begun, and something other than the inbox ended its
 * transaction. `after_commit_failed`: a function passed to `afterCommit` failed, or ran longer than 25 s.
 * `unknown_status`: a status took effect that the gateway's document does not name, such as one of a refund.
 */
export type CallbackWarningCode = 'callback_mismatch' | 'effect_uncertain' | 'after_commit_failed' | 'unknown_status';

/** Gets every event. Its errors change nothing. */
export type EventListener = (event: GatewayEvent) => void;

/** Calls a merchant's listener. Its errors and rejections never change the outcome of a payment. */
export function notify<T>(listener: ((value: T) => unknown) | undefined, value: T): void {
  if (!listener) return;
  try {
    Promise.resolve(listener(value)).catch(() => {});
  } catch {
    // Errors of the listener are ignored.
  }
}

/** Writes a warning for the operator, if the app has no listener for it. */
export const emitWarning = (message: string): void => process.emitWarning(message, 'PaymentGatewayWarning');

/** Writes a warning, in production only. */
export function warnInProduction(message: string): void {
  if (process.env.NODE_ENV === 'production') emitWarning(message);
}

/** Warns in production about data that is lost when the process ends. */
export const warnOfForgetting = (what: string, instead: string): void =>
  warnInProduction(`${what} when the process ends, and no other replica knows them. In production use ${instead}.`);
