// The pause before another attempt of a call.

/** Milliseconds. */
const FIRST_BACKOFF = 300;
const LONGEST_BACKOFF = 5_000;
const LONGEST_RETRY_AFTER = 10_000;

/** @param retry 1 for the first @param asked milliseconds that the last answer asks to wait, or 0 */
export function pauseBefore(retry: number, asked: number) {
  const backoff = Math.random() * Math.min(FIRST_BACKOFF * 2 ** (retry - 1), LONGEST_BACKOFF);
  return Math.min(asked || backoff, LONGEST_RETRY_AFTER);
}

/** Milliseconds. A gateway that asks for a week may be back in a second. */
const LONGEST_PAUSE = 900_000;

/** Returns milliseconds, or 0. @param retryAfter seconds, or a date */
export function pauseAsked(retryAfter: string | null | undefined) {
  const text = String(retryAfter);
  const asked = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_PAUSE);
}
