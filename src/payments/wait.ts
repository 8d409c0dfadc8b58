// Polls a payment until it has the status that the merchant waits for.
import { Deadline, delay } from '../deadline.ts';
import { type ApiError, ConnectionError, WaitTimeoutError } from '../errors.ts';
import { isPassing } from '../http-statuses.ts';
import { argumentReader, callFields, functionOf, milliseconds } from '../option-reader.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { isFinal } from '../schemas/records/payment-status.ts';
import { Call } from '../telemetry/call.ts';
import { notify } from '../telemetry/events.ts';
import type { Gateway } from './gateway.ts';
import { lookUp } from './lookup.ts';

/** Options of `waitForPayment`. */
export interface WaitOptions {
  /** Stops the wait. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole wait. @default 300_000 */
  timeout?: number | undefined;
  /** Decides whether to stop. An error that it throws ends the wait. @default isFinal */
  until?: ((payment: Payment) => boolean) | undefined;
  /** Gets the payment at each lookup. Its errors change nothing. */
  onPoll?: ((payment: Payment) => void) | undefined;
}

const readWait = argumentReader<WaitOptions>()({
  ...callFields,
  timeout: milliseconds.default(300_000),
  until: functionOf<(payment: Payment) => boolean>().default(() => isFinal),
  onPoll: functionOf<(payment: Payment) => void>().optional(),
});

/** Milliseconds between two lookups, growing by half each time. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
const GROWTH = 1.5;

/** Milliseconds before the deadline for a last lookup, and too few for another. */
const LAST_LOOK = 200;
const TOO_SHORT = 50;

export async function waitFor(gateway: Gateway, paymentId: string, options?: WaitOptions): Promise<Payment> {
  const { until, timeout, signal, onPoll } = readWait(options);
  const deadline = new Deadline(timeout);
  const call = new Call('lookup', gateway);
  let last: Payment | undefined;
  for (let due = FIRST_PAUSE; ; due *= GROWTH) {
    let trouble: Partial<ApiError> | undefined;
    const limits = { timeout: Math.min(deadline.timeout, gateway.timeout), signal };
    const seen = await lookUp(gateway, paymentId, limits, call).catch(error => {
      const mayPass = error instanceof ConnectionError || isPassing(error.status);
      if (signal?.aborted || !mayPass) throw error;
      trouble = error;
    });
    if (seen) {
      last = seen;
      notify(onPoll, seen);
      if (until(seen)) return seen;
    }
    const left = deadline.remaining;
    if (left < TOO_SHORT) {
      const seenAs = last ? `it is ${last.paymentStatus}` : 'no lookup succeeded';
      const message = `Payment ${paymentId} did not reach the awaited status within ${timeout} ms: ${seenAs}. Wait again, or leave it to the callback.`;
      throw new WaitTimeoutError(message, last, { paymentId, cause: last ? undefined : trouble });
    }
    const { retryAfter = 0 } = trouble ?? {};
    // The last lookups are close to the deadline, and each leaves time for another.
    await delay(Math.min(Math.max(due, retryAfter), LONGEST_PAUSE, Math.max(left - LAST_LOOK, left / 2)), signal);
  }
}
