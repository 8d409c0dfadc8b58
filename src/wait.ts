// Polls a payment until it is where the merchant wants it.
import { ApiError, ConnectionError, InvalidRequestError, WaitTimeoutError } from './errors.ts';
import { observe } from './events.ts';
import { isTimeout } from './options.ts';
import { isFinal, type Payment } from './schemas/payment.ts';

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

export async function waitFor(
  paymentId: string,
  lookUp: LookUp,
  { until = isFinal, timeout = 300_000, signal, onPoll }: WaitOptions,
): Promise<Payment> {
  if (!isTimeout(timeout)) {
    throw new InvalidRequestError([
      { path: 'options.timeout', message: 'must be milliseconds, more than 0' },
    ]);
  }
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
    // Each pause leaves time for another look, until one would come too soon after the last to be of use.
    const left = remaining();
    const isOver = left < FIRST_PAUSE;
    await sleep(isOver ? left : Math.min(pause, left / 2), paymentId, signal);
    if (isOver) {
      const seenAs = last ? `it is ${last.paymentStatus}` : 'no lookup succeeded';
      const message = `Payment ${paymentId} is not there after ${timeout} ms: ${seenAs}. Wait again, or leave it to the callback.`;
      throw new WaitTimeoutError(message, last, { paymentId, cause: last ? undefined : trouble });
    }
  }
}

/** Trouble that a later lookup may not have. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && (error.status >= 500 || [408, 425, 429].includes(error.status)));

function sleep(ms: number, paymentId: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const stop = () => {
      clearTimeout(timer);
      reject(new ConnectionError(`The wait for payment ${paymentId} was aborted.`, 'aborted', { paymentId }));
    };
    const timer = setTimeout(wake, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}
