// The retry rules: when to repeat a call, and after how long a pause.
/** Milliseconds. */
const LONGEST_BACKOFF = 5_000;
export const LONGEST_RETRY_AFTER = 10_000;

/**
 * Returns the milliseconds before the first, second or later retry: as long as the gateway asks, or a random part of a
 * time that grows.
 */
export const pauseBefore = (repetition: number, retryAfter: string | undefined): number =>
  Math.min(pauseAsked(retryAfter), LONGEST_RETRY_AFTER) ||
  Math.random() * Math.min(300 * 2 ** (repetition - 1), LONGEST_BACKOFF);

/** An attempt without success. */
export interface Unsuccessful {
  method: 'GET' | 'POST';
  mayHaveLeft: boolean;
  /** Whether `mayHaveLeft` is only inferred, from an error of the merchant's fetch. */
  isInferred: boolean;
  answer?: { retryAfter?: string | undefined } | undefined;
}

/**
 * Returns whether to repeat a call: always a lookup, and a create only if it certainly never left this machine. If the
 * gateway asks for a longer pause than the call has time, the caller gets its answer now.
 *
 * @param remaining milliseconds of the call's time
 */
export function mayRepeat({ method, mayHaveLeft, isInferred, answer }: Unsuccessful, remaining: number): boolean {
  if (method === 'POST' && (mayHaveLeft || isInferred || answer)) return false;
  return remaining > Math.min(pauseAsked(answer?.retryAfter), LONGEST_RETRY_AFTER);
}

/** Milliseconds. A gateway that asks for a week may be back in a second. */
const LONGEST_PAUSE = 900_000;

/** Returns milliseconds, 15 minutes at most, or 0 without a pause. @param retryAfter seconds, or a date */
export function pauseAsked(retryAfter: string | undefined): number {
  const text = String(retryAfter);
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_PAUSE);
}
