// The plan of a payout: the request that the store keeps, and its row after an attempt without a payment.
import { ApiError, ConfigurationError } from '../../errors.ts';
import { isOfRequest } from '../../http-statuses.ts';
import { rawJSON } from '../../schemas/json.ts';
import type { CreateRow } from './create-row.ts';

/** Returns the request of a plan. @throws {ConfigurationError} if the body is not a plan */
export function openPlan(body: string): { request: object; extra: object } {
  try {
    return JSON.parse(body, withDigits as never);
  } catch {
    throw new ConfigurationError('A planned payout cannot be read: another program has changed its row in the store.', {
      outcome: 'not_sent',
    });
  }
}

/** A number that the merchant wrote with `JSON.rawJSON` may have more digits than a JavaScript number keeps. */
const withDigits = (_name: string, value: unknown, { source = '' }: { source?: string }): unknown =>
  typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;

/** Most answers to a payout, unless one refuses the request itself. */
const MOST_ANSWERS = 3;

export const isRefusedRequest = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.outcome === 'rejected' && isOfRequest(error.status);

export const isRefusedForGood = (plan: CreateRow, error: unknown): boolean =>
  isRefusedRequest(error) || (error instanceof ApiError && plan.looks + 1 >= MOST_ANSWERS);

/** Milliseconds until a refused plan is sent again, doubled each time. */
const FIRST_PAUSE = 15_000;
const LONGEST_PAUSE = 900_000;
/** Milliseconds until the review of a refused payout is tried again. */
const REVIEW_PAUSE = 60_000;

/** Returns a plan whose attempt made no payment. After an answer it lets others go first, or is freed. */
export function replanned(plan: CreateRow, error: unknown, now: number): CreateRow {
  if (isRefusedForGood(plan, error)) return { ...plan, state: 'freed', body: undefined, dueAt: now + REVIEW_PAUSE };
  if (!(error instanceof ApiError)) return plan;
  const pause = Math.min(FIRST_PAUSE * 2 ** plan.looks, LONGEST_PAUSE);
  return { ...plan, looks: plan.looks + 1, dueAt: now + pause };
}
