// When a call is repeated, and what an error status means: every number and list that decides it.

/** Statuses after which a lookup is repeated. A create never is: it may have been accepted all the same. */
export const RETRIED_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** ky's retry options. Its pauses are 300 ms, doubled each time, with full jitter. */
export const RETRY = {
  methods: ['get', 'post'],
  statusCodes: [...RETRIED_STATUSES],
  afterStatusCodes: [...RETRIED_STATUSES],
  /** Milliseconds. */
  maxRetryAfter: 10_000,
  /** Milliseconds. */
  backoffLimit: 5_000,
  jitter: true,
};

/** The longest pause, in milliseconds, that ky may make before the repetition of that number. */
export function longestPause(repetition: number, retryAfter: string | undefined): number {
  const backoff = Math.min(300 * 2 ** (repetition - 1), RETRY.backoffLimit);
  if (retryAfter === undefined) return backoff;
  const asked = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(asked) ? backoff : Math.min(asked, RETRY.maxRetryAfter);
}

/** Refusals after which it stays open whether the gateway took the payment before. */
const DOUBTFUL_REFUSALS: ReadonlySet<number> = new Set([408, 409, 425]);

/** Whether a create that was answered so was refused, and no payment made. */
export const isRefusal = (status: number): boolean => status >= 400 && status < 500 && !DOUBTFUL_REFUSALS.has(status);

/** Whether a later lookup may succeed after this answer. */
export const isPassing = (status: number): boolean => status >= 500 || RETRIED_STATUSES.includes(status);
