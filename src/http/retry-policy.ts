// When a call is repeated, and after which pause.
import { PASSING } from '../statuses.ts';

/** Milliseconds. */
const LONGEST_BACKOFF = 5_000;
export const LONGEST_RETRY_AFTER = 10_000;

/** Milliseconds before the repetition of that number, of which ky takes a random part. */
const backoff = (repetition: number): number => Math.min(300 * 2 ** (repetition - 1), LONGEST_BACKOFF);

/** ky's retry options. It waits for `Retry-After` after these statuses, and counts the repetitions. */
export const RETRY = {
  methods: ['get', 'post'],
  statusCodes: [...PASSING],
  afterStatusCodes: [...PASSING],
  maxRetryAfter: LONGEST_RETRY_AFTER,
  delay: backoff,
  jitter: true,
};

/** An attempt that did not succeed. */
export interface Unsuccessful {
  method: 'GET' | 'POST';
  mayHaveLeft: boolean;
  /** That is only inferred, from what a fetch of the merchant's own has thrown. */
  isInferred: boolean;
  answer?: { retryAfter?: string | undefined } | undefined;
}

/**
 * Whether a call may be repeated: a lookup always, a create only if it is known that it never left this machine. If the gateway
 * asks for a pause that is longer than the call's time, its answer is told now.
 *
 * @param remaining milliseconds of the call's time
 */
export function mayRepeat({ method, mayHaveLeft, isInferred, answer }: Unsuccessful, remaining: number): boolean {
  if (method === 'POST' && (mayHaveLeft || isInferred || answer)) return false;
  return remaining > Math.min(pauseAsked(answer?.retryAfter), LONGEST_RETRY_AFTER);
}

/** Milliseconds. A gateway that asks for a week may be back in a second. */
const LONGEST_PAUSE = 900_000;

/** Milliseconds, 15 minutes at most; 0 without a pause. @param retryAfter seconds, or a date */
export function pauseAsked(retryAfter: string | undefined): number {
  const text = String(retryAfter);
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_PAUSE);
}
