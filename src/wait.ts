// Polls a payment until it is where the merchant wants it.
import { checkOptions } from './call-options.ts';
import { ApiError, ConnectionError, WaitTimeoutError } from './errors.ts';
import { observe } from './events.ts';
import { isFinal, type Payment } from './schemas/payment.ts';
import { sleep } from './time.ts';

export interface WaitOptions {
  /**
   * Whether to stop. What it throws ends the wait.
   * @default isFinal
   */
  until?: ((payment: Payment) => boolean) | undefined;
  /**
   * Milliseconds for the whole wait.
   * @default 300_000
   */
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Hears of each look at the payment. What it throws changes nothing. */
  onPoll?: ((payment: Payment) => void) | undefined;
}

type LookUp = (limits: { timeout: number; signal?: AbortSignal | undefined }) => Promise<Payment>;

/** Milliseconds between looks: growing from the first by half each time. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** Milliseconds before the deadline for a last look, and too few for one more. */
const LAST_LOOK = 200;
const TOO_SHORT = 50;

export async function waitFor(paymentId: string, lookUp: LookUp, options?: WaitOptions): Promise<Payment> {
  checkOptions(options, ['until', 'timeout', 'signal', 'onPoll']);
  const { until = isFinal, timeout = 300_000, signal, onPoll } = options ?? {};
  const deadline = performance.now() + timeout;
  const remaining = () => Math.max(deadline - performance.now(), 1);
  let last: Payment | undefined;
  let trouble: unknown;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    const seen = await lookUp({ timeout: remaining(), signal }).catch(error => {
      if (signal?.aborted || !isPassing(error)) throw error;
      trouble = error;
    });
    if (seen) {
      last = seen;
      observe(onPoll, seen);
      if (until(seen)) return seen;
    }
    const left = remaining();
    if (left < TOO_SHORT) {
      const seenAs = last ? `it is ${last.paymentStatus}` : 'no lookup succeeded';
      const message = `Payment ${paymentId} has not come where it was waited for within ${timeout} ms: ${seenAs}. Wait again, or leave it to the callback.`;
      throw new WaitTimeoutError(message, last, { paymentId, cause: last ? undefined : trouble });
    }
    // The last looks are close to the deadline, and each leaves time for another.
    await sleep(Math.min(pause, Math.max(left - LAST_LOOK, left / 2)), paymentId, signal);
  }
}

/** Trouble that a later lookup may not have. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status >= 500 || [408, 425, 429].includes(error.status)));
