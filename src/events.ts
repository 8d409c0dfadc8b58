// What `onEvent` hears of each call: enough for logs and metrics, and nothing secret.
import { GatewayError, type Outcome } from './errors.ts';
import { since } from './time.ts';

/** Which call an event or an error speaks of. */
export interface Call {
  operation: 'create' | 'lookup';
  /** The merchant's own transaction id, on a create that has one. */
  reference?: string | undefined;
  /** The gateway's id of the payment, where it is known. */
  paymentId?: string | undefined;
}

/** One step of a call. Durations are milliseconds; `attempt` counts from 1. */
export type GatewayEvent = Call &
  (
    | { type: 'request'; attempt: number }
    | {
        type: 'response';
        attempt: number;
        status: number;
        requestId?: string | undefined;
        durationMs: number;
      }
    /** The attempt that now follows, after `waitedMs`; `reason` is an HTTP status or a connection's code. */
    | { type: 'retry'; attempt: number; reason: number | string; waitedMs: number }
    /** The call failed for good, `durationMs` after it began. */
    | { type: 'failure'; error: string; code: string; outcome?: Outcome | undefined; durationMs: number }
    /** Nothing failed, and something deserves a look. */
    | { type: 'warning'; code: WarningCode; message: string }
  );

/**
 * `unusable_redirect_url`: a create answered a redirect that no customer is sent to. `journal_not_recorded`: the journal
 * could not be told how a create ended, so its reference stays in doubt. `journal_mismatch`: a confirmed payment bears the
 * reference of a doubt, and is not the payment that was asked for. `journal_two_payments`: one reference has two payments.
 */
export type WarningCode =
  | 'unusable_redirect_url'
  | 'journal_not_recorded'
  | 'journal_mismatch'
  | 'journal_two_payments';

export type EventListener = (event: GatewayEvent) => void;

/** Calls a merchant's observer. What it throws, or rejects with, never changes the outcome of a payment. */
export function observe<T>(observer: ((value: T) => unknown) | undefined, value: T): void {
  if (!observer) return;
  try {
    Promise.resolve(observer(value)).catch(() => {});
  } catch {
    // Theirs to notice; ours is the payment.
  }
}

/** Does the work of a call, and reports its failure if it fails. */
export async function reporting<R>(
  call: Call,
  onEvent: EventListener | undefined,
  work: () => Promise<R>,
): Promise<R> {
  const begun = performance.now();
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) {
      const { name, code, outcome, paymentId = call.paymentId } = error;
      const durationMs = since(begun);
      observe(onEvent, { ...call, type: 'failure', paymentId, error: name, code, outcome, durationMs });
    }
    throw error;
  }
}

/** Names a call in an error's message. */
export function nameOf({ operation, reference, paymentId }: Call): string {
  if (operation === 'lookup') return paymentId ? `the lookup of payment ${paymentId}` : 'a lookup';
  return reference ? `the creation of ${JSON.stringify(reference)}` : 'the creation of a payment';
}
