// The facts of calls, as events, traces and warnings: without secrets or customer data.
import type { Outcome } from '../errors.ts';

/** The facts of one call, without secrets or customer data: a message of tracing channels, filled during the call. */
export interface CallTrace {
  /** The same for all events of one call, and of the lookups of a create, a wait or a settlement. */
  readonly callId: string;
  /** `callback`: one that the handler gets, or a payment that `upkeep` processes. */
  readonly operation: 'create' | 'lookup' | 'settle' | 'upkeep' | 'callback';
  /** The client's address of the gateway. */
  readonly baseUrl?: string | undefined;
  /** The merchant's own transaction id, if any. */
  readonly reference?: string | undefined;
  /** The gateway's id of the payment, once known. */
  readonly paymentId?: string | undefined;
  /** Only for a create. */
  readonly paymentType?: string | undefined;
  /** Only for a create. */
  readonly paymentMethod?: string | undefined;
  /** The status as the gateway wrote it, once known. */
  readonly paymentStatus?: string | undefined;
  /** Only for a callback. */
  readonly lane?: Lane | undefined;
  /** The number of attempts so far, the current one included. */
  readonly attempt: number;
  /** Milliseconds since the call began, or the callback arrived. */
  readonly durationMs: number;
  /** The HTTP status of the gateway's last answer, or of the handler's answer to a callback. */
  readonly httpStatus?: number | undefined;
  /** The result, at the end. That of a failed create is its error's `outcome`. */
  readonly outcome?: CallOutcome | undefined;
  /** The error's code, at the end of a failed call. */
  readonly code?: string | undefined;
  /** The thrown error, added by Node. */
  readonly error?: unknown;
  /**
   * At `start`, runs the whole call in `run`, which must call `work` immediately: for tracers that do not bind their own
   * `AsyncLocalStorage` to the channel.
   */
  runIn(run: <T>(work: () => T) => T): void;
}

/** The result of a call. */
export type CallOutcome = Success['outcome'] | Outcome | 'failed' | Exclude<CallbackStep['result'], 'received'>;

/** One step of a call, or its end: every call ends with exactly one `success` or `failure`. */
export type GatewayEvent = CallStep &
  Pick<CallTrace, 'callId' | 'operation' | 'reference' | 'paymentId' | 'attempt' | 'durationMs'>;

export type CallStep =
  | { type: 'request' }
  /** An answer, with any status. `attemptMs`: milliseconds of this attempt alone. */
  | { type: 'response'; status: number; requestId?: string | undefined; attemptMs: number }
  /** The next attempt starts, after `waitedMs`. `reason`: an HTTP status or a connection's code. */
  | { type: 'retry'; reason: number | string; waitedMs: number }
  | ({ type: 'success' } & Success)
  | ({ type: 'failure' } & Failure)
  /** A change of a reference in the store. */
  | { type: 'store'; change: StoreChange }
  /** Nothing failed, but an operator should check it: `message` describes the case and the next step. */
  | { type: 'warning'; code: WarningCode; message: string };

export interface Success extends Pick<CallTrace, 'paymentId' | 'paymentStatus'> {
  /** `replayed`: an earlier create made the payment. `stale`: the same, but the lookup failed. Otherwise `ok`. */
  outcome: 'ok' | 'replayed' | 'stale';
  /** The counts of an `upkeep`. */
  counts?: Readonly<Record<string, number>> | undefined;
}

/** The error of a failed call, after all retries. */
export interface Failure extends Pick<CallTrace, 'paymentId'> {
  /** The name of the error, and its code. */
  error: string;
  code: string;
  /** The outcome of a failed create for the money. */
  outcome?: Outcome | undefined;
  /** The HTTP status of an answer that is the failure. */
  status?: number | undefined;
  /** The id to quote to the gateway's support. */
  requestId?: string | undefined;
}

/**
 * `begun`: the attempt is recorded, and is sent now. `created`: its payment is recorded. `in_doubt`: the attempt ended,
 * and a payment may exist. `settled`: the payment of a doubt is known. `freed`: no payment exists, so the next create
 * may begin. `planned`: no payment exists, and upkeep sends the payout again.
 */
export type StoreChange = 'begun' | 'created' | 'in_doubt' | 'settled' | 'freed' | 'planned';

export type WarningCode = CreateWarning | UpkeepWarning;
type CreateWarning = 'create_not_recorded' | 'create_mismatch' | 'two_payments' | 'stale_replay';
type UpkeepWarning = 'sweep_gave_up' | 'sweep_failed' | 'payout_not_sent' | 'upkeep_failed' | 'upkeep_missing';

/**
 * Why a person must check a payment. `paid`, `reversed`, `payout_failed`: the handler has no function for this outcome.
 * `already_paid`: another payment has paid its order or reference. `amount_differs`: not the amount or currency of its
 * order or request. `order_canceled`: it was paid after `cancelOrder`. `unknown_reference`: the store does not know its
 * create. `unknown_status`: the gateway's document does not name its status. `payout_refused`: a planned payout was
 * refused permanently. `paid_again`: COMPLETED after a reversal or a failed payout. `effect_uncertain`: a function was
 * cut off, and a part of its writes may be committed.
 */
export type ReviewReason =
  | 'paid'
  | 'reversed'
  | 'payout_failed'
  | 'already_paid'
  | 'amount_differs'
  | 'order_canceled'
  | 'unknown_reference'
  | 'unknown_status'
  | 'payout_refused'
  | 'paid_again'
  | 'effect_uncertain';

/** One step of a callback, or of a payment that `upkeep` processes. */
export type CallbackEvent = CallbackNews & Pick<CallTrace, 'callId' | 'paymentId'> & { operation: 'callback' };

export type CallbackNews =
  | ({ type: 'callback' } & CallbackStep)
  /** An operator should check it: a function passed to `afterCommit` failed, or ran longer than 25 s. */
  | { type: 'warning'; code: 'after_commit_failed'; message: string }
  /** A person must check the payment: it is in `gateway.reviews()`. */
  | { type: 'review'; reason: ReviewReason; reference?: string | undefined; order?: string | undefined };

/**
 * `received`: its id is read, and the result follows. `ran`: the status took effect. `already`: it took effect before.
 * `refused`: permanently. `busy`: too much work. `failed`: any other error. Each result without a 200 has the `code` of
 * its error. Work that continues after an answer is not reported.
 */
export interface CallbackStep extends Pick<CallTrace, 'paymentStatus' | 'code' | 'httpStatus' | 'durationMs'> {
  result: 'received' | 'refused' | 'ran' | 'already' | 'busy' | 'failed';
  lane: Lane;
}

/** `signed`: the callback's address has a valid token. `sweep`: `upkeep` processes the payment without a callback. */
type Lane = 'signed' | 'unsigned' | 'sweep';

/** Calls a merchant's listener or a tracer, whose errors and rejections change nothing. */
export function notify<T>(listener: ((value: T) => unknown) | undefined, value: T): void {
  // Makes a thrown error a rejection.
  const call = async () => listener?.(value);
  call().catch(() => {});
}

export const emitWarning = (message: string) => process.emitWarning(message, 'PaymentGatewayWarning');

export function warnInProduction(message: string): void {
  if (process.env.NODE_ENV === 'production') emitWarning(message);
}
