// Decides whether a call gets another attempt, and after which pause.
import type { Deadline } from '../deadline.ts';
import type { HttpAttempt } from './exchange.ts';

/** Milliseconds. */
const FIRST_BACKOFF = 300;
const LONGEST_BACKOFF = 5_000;
const LONGEST_RETRY_AFTER = 10_000;

export function retryPolicy(isCreate: boolean, retries: number, deadline: Deadline, attempts: readonly HttpAttempt[]) {
  /** Milliseconds before the next attempt. */
  let pause = 0;
  return {
    methods: ['get' as const, 'post' as const],
    limit: retries,
    shouldRetry({ retryCount }: { retryCount: number }): boolean {
      // A create is repeated only if it certainly never left.
      if (isCreate && attempts.some(({ mayHaveLeft }) => mayHaveLeft)) return false;
      const backoff = Math.random() * Math.min(FIRST_BACKOFF * 2 ** (retryCount - 1), LONGEST_BACKOFF);
      pause = Math.min(attempts.at(-1)?.answer?.pause || backoff, LONGEST_RETRY_AFTER);
      // If the time ends in the pause, the caller gets the answer now.
      return deadline.remaining > pause;
    },
    delay: () => pause,
  };
}

/** Milliseconds. A gateway that asks for a week may be back in a second. */
const LONGEST_PAUSE = 900_000;

/** Returns milliseconds, 15 minutes at most, or 0 without a pause. @param retryAfter seconds, or a date */
export function pauseAsked(retryAfter: string | null | undefined): number {
  const text = String(retryAfter);
  const asked = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(asked) ? 0 : Math.min(Math.max(asked, 0), LONGEST_PAUSE);
}
