// The pauses between the attempts of a call, and between calls.

/** Milliseconds. */
const LONGEST_BACKOFF = 5_000;
export const LONGEST_RETRY_AFTER = 10_000;

/** Returns the milliseconds to wait within a call, as the gateway asks. @param retryAfter seconds, or a date */
export const pauseInCall = (retryAfter: string | undefined): number =>
  Math.min(pauseAsked(retryAfter), LONGEST_RETRY_AFTER);

/** Returns the milliseconds before the first, second or later retry: as asked, or a random part of a growing time. */
export const pauseBefore = (repetition: number, retryAfter: string | undefined): number =>
  pauseInCall(retryAfter) || Math.random() * Math.min(300 * 2 ** (repetition - 1), LONGEST_BACKOFF);

/** Milliseconds. A gateway that asks for a week may be back in a second. */
const LONGEST_PAUSE = 900_000;

/** Returns milliseconds, 15 minutes at most, or 0 without a pause. @param retryAfter seconds, or a date */
export function pauseAsked(retryAfter: string | undefined): number {
  const text = String(retryAfter);
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_PAUSE);
}
