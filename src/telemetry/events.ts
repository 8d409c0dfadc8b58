// What the merchant is told beside results: by `onEvent`, enough for logs and metrics and nothing secret; by a warning.
import type { Outcome } from '../errors.ts';

/** What a call of the merchant's does. A `callback` is one that the handler takes, or a payment that a sweep processes. */
export type Operation = 'create' | 'lookup' | 'settle' | 'sweep' | 'drain' | 'callback';

/** What every event of a client tells of its call. */
export interface CallFacts {
  /** The same for all events of one call, and of the lookups that it makes. */
  callId: string;
  operation: Operation;
  /** The merchant's own transaction id, where there is one. */
  reference?: string | undefined;
  /** The gateway's id of the payment, where it is known. */
  paymentId?: string | undefined;
  /** How often the call has been sent so far: 1 from the first attempt on. */
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
    /** The attempt that follows now, after `waitedMs`; `reason` is an HTTP status or a connection's code. */
    | { type: 'retry'; reason: number | string; waitedMs: number }
    | ({ type: 'success' } & Success)
    | ({ type: 'failure' } & Failure)
    /** What became of a reference in the journal. */
    | { type: 'journal'; change: JournalChange }
    /** Nothing failed, and somebody should look at it. */
    | { type: 'warning'; code: WarningCode; message: string }
  );

/** How a call has succeeded. */
export interface Success {
  /** `replayed`: an earlier create made the payment. `stale`: so it is, and could not be looked up. Else `ok`. */
  outcome: 'ok' | 'replayed' | 'stale';
  /** As the gateway wrote it, where the call was about one payment. */
  paymentStatus?: string | undefined;
  /** What a sweep or a drain has returned. */
  counts?: Readonly<Record<string, number>> | undefined;
}

/** How a call has failed, which is not repeated. */
export interface Failure {
  /** The name of the error, and its code. */
  error: string;
  code: string;
  /** Of a create: what became of the money. */
  outcome?: Outcome | undefined;
  /** HTTP status of the gateway's answer, if that was the failure. */
  status?: number | undefined;
  /** Quote it to the gateway's support. */
  requestId?: string | undefined;
}

/**
 * `begun`: the attempt is written down, and is sent now. `created`: its payment is recorded. `replayed`: a repeated create
 * was answered with it. `in_doubt`: the attempt ended, and a payment may exist. `settled`: the payment of a doubt is known.
 * `freed`: there is none, so the next create may begin. `planned`: there is none, and what was planned is sent again later.
 * `conflict`: the reference may have a second payment, `paymentId`. `gave_up`: no sweep looks at it again.
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
 * `create_mismatch`: a create was answered with a payment of another type, amount, currency or reference than the request.
 * `unusable_redirect_url`: a create answered a redirect address that is not http(s). `journal_not_recorded`: the end of a
 * create could not be recorded, so its reference stays in doubt. `journal_mismatch`: a confirmed payment has the reference
 * of a doubt, and is another payment than the one requested. `journal_two_payments`: one reference may have two payments.
 * `journal_stale_replay`: a repeated create could not look its payment up, and answered it as it was seen before.
 * `sweep_gave_up`: a payment is older than the sweep's `giveUpAfter`, and not final. `sweep_failed`: a payment could not be
 * processed, and is tried again. `plan_refused`: the gateway has refused a planned create, which can be planned again.
 * `plan_not_sent`: a planned create could not be sent: it is for another client, the gateway refuses this client, or three were
 * refused before it. It is tried again. `drain_failed`: the journal of a drain that follows has failed, and is asked again.
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

/** One step of a callback, or of a sweep by `handler.process`. `httpStatus` is what the callback was answered. */
export type CallbackEvent = {
  /** The same for all events of one callback. */
  callId: string;
  operation: 'callback';
  paymentId?: string | undefined;
} & (
  | ({ type: 'callback' } & CallbackStep)
  /** Nothing failed, and somebody should look at it. */
  | { type: 'warning'; code: CallbackWarningCode; message: string }
);

/**
 * `received`: its id is read. Then what became of it: `ran`, the status took effect; `already`, it did before; `refused`
 * for good; `busy`, too much is at work; `failed`. Those that are not answered 200 have the `code` of the error. A callback
 * that is answered after 25 s has a second one when its work ends, without `httpStatus`.
 */
export interface CallbackStep {
  result: 'received' | 'refused' | 'ran' | 'already' | 'busy' | 'failed';
  /** `signed`: its address has a good token. `sweep`: no callback, but `handler.process`. */
  lane: 'signed' | 'unsigned' | 'sweep';
  /** The gateway's own, once it was looked up. */
  paymentStatus?: string | undefined;
  code?: string | undefined;
  httpStatus?: number | undefined;
  /** Milliseconds since its arrival. */
  durationMs: number;
}

/**
 * `callback_mismatch`: a callback claims another amount, currency, type or reference than the record, or has the token of
 * another payment. `effect_uncertain`: an effect has begun, and something other than the inbox ended its transaction.
 * `after_commit_failed`: what `onPayment` passed to `afterCommit` failed, or did not end within 25 s. `unknown_status`: a status
 * took effect that the gateway's document does not name, such as one of a refund.
 */
export type CallbackWarningCode = 'callback_mismatch' | 'effect_uncertain' | 'after_commit_failed' | 'unknown_status';

/** Gets every event. What it throws changes nothing. */
export type EventListener = (event: GatewayEvent) => void;

/** Calls a merchant's listener. What it throws, or rejects with, never changes the outcome of a payment. */
export function notify<T>(listener: ((value: T) => unknown) | undefined, value: T): void {
  if (!listener) return;
  try {
    Promise.resolve(listener(value)).catch(() => {});
  } catch {
    // Errors of the listener are ignored.
  }
}

/** Writes a warning for the operator, once the app has no listener that could have been told. */
export const emitWarning = (message: string): void => process.emitWarning(message, 'PaymentGatewayWarning');

/** Writes a warning that is for production only. */
export function warnInProduction(message: string): void {
  if (process.env.NODE_ENV === 'production') emitWarning(message);
}

/** Warns of what is forgotten when the process ends. */
export const warnOfForgetting = (what: string, instead: string): void =>
  warnInProduction(`${what} when the process ends, and no other replica knows them. In production use ${instead}.`);
