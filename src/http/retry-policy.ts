// When a call is repeated, and what an error status means: every number and list of statuses that decides it.

import { LONGEST_TIMER } from '../deadline.ts';

/** Statuses after which a later lookup may succeed. A create is not repeated after any: it may have been accepted. */
const PASSING_STATUSES = [408, 425, 429, 500, 502, 503, 504];

/** Milliseconds. */
const LONGEST_BACKOFF = 5_000;
export const LONGEST_RETRY_AFTER = 10_000;

/** Milliseconds before the repetition of that number, of which ky takes a random part. */
const backoff = (repetition: number): number => Math.min(300 * 2 ** (repetition - 1), LONGEST_BACKOFF);

/** ky's retry options. It waits for `Retry-After` after these statuses, and counts the repetitions. */
export const RETRY = {
  methods: ['get', 'post'],
  statusCodes: PASSING_STATUSES,
  afterStatusCodes: PASSING_STATUSES,
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

/** Milliseconds, as far as a timer can wait; 0 if none. @param retryAfter seconds, or a date */
export function pauseAsked(retryAfter: string | undefined): number {
  const text = String(retryAfter);
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_TIMER);
}

/**
 * Statuses that say that the gateway refused a create, and made no payment. After any other error status, those that
 * proxies send after they have passed a request on among them, a payment may exist.
 */
const REFUSALS: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 429, 431, 451,
]);

export const isRefusal = (status: number): boolean => REFUSALS.has(status);

const DENIALS: ReadonlySet<number> = new Set([401, 403, 429]);

/** Whether the gateway did not look at the call at all: not for these keys, or not now. */
export const isDenial = (status: number): boolean => DENIALS.has(status);

/** Whether a later lookup may succeed after this answer. */
export const isPassing = (status: number): boolean => status >= 500 || PASSING_STATUSES.includes(status);

/** Milliseconds before each further lookup of a payment whose record lags behind its callback. */
export const LAG_PAUSES: readonly [number, ...number[]] = [500, 1_000];

/** Milliseconds between two looks at a payment that is waited for: growing from the first by half each time. */
export const POLL = { firstPause: 500, longestPause: 10_000, growth: 1.5 };
