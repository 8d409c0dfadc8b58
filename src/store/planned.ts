// The rules for planned payouts: written in the merchant's own transaction, and sent later by upkeep.
import { ApiError } from '../errors.ts';
import { isOfRequest } from '../statuses.ts';
import type { JournalKey, JournalRequest, JournalRow } from './creates.ts';
import { newRow } from './row.ts';

/** A payout to send later. */
export interface JournalPlan extends JournalKey, JournalRequest {
  planId: string;
  body: string;
}

/** The row of a plan. The store sets its times. */
export const plannedRow = ({ planId, body, ...request }: JournalPlan): JournalRow => ({
  ...newRow({ ...request, attemptId: planId, timeoutMs: 0 }, 0),
  state: 'planned',
  body,
  dueAt: 0,
});

/** The row without its lease, for the next claim. */
export const unleased = ({ leasedUntil, ...row }: JournalRow): JournalRow => row;

/** Whether the row is still the claimed plan. Planning again makes a different plan. */
export const isSamePlan = (row: JournalRow, claimed: JournalRow): boolean =>
  row.state === 'planned' && row.revision === claimed.revision;

/**
 * Restores the plan in its old place: its attempt failed for another reason than the request.
 *
 * @param row of the attempt
 */
export const replanned = (row: JournalRow, plan: JournalRow): JournalRow => ({
  ...unleased(plan),
  ...(row.isRetry && { isRetry: true }),
  revision: row.revision,
});

/** Whether the gateway refused the request itself, so that it would refuse it again. */
export const isRefusedRequest = (error: unknown): boolean =>
  error instanceof ApiError && error.outcome === 'rejected' && isOfRequest(error.status);

/** Milliseconds until a refused plan is sent again, doubled each time. */
const FIRST_PAUSE = 15_000;
const LONGEST_PAUSE = 900_000;

/** Delays a plan that may itself be the cause of a failure, so that other plans go first. */
export const postponed = (plan: JournalRow, now: number): JournalRow => ({
  ...unleased(plan),
  looks: plan.looks + 1,
  dueAt: now + Math.min(FIRST_PAUSE * 2 ** plan.looks, LONGEST_PAUSE),
});

/** The row of a plan that will not be sent. */
export const withdrawn = ({ dueAt, body, ...plan }: JournalRow): JournalRow => ({ ...unleased(plan), state: 'freed' });

/** Milliseconds until the review of a refused payout is tried again, unless it is written before. */
const REVIEW_PAUSE = 60_000;

/** Frees the reference of a plan that the gateway refuses for good. It stays due until its review is written. */
export const refusedPlan = (plan: JournalRow, now: number): JournalRow => ({
  ...withdrawn(plan),
  isRetry: true,
  dueAt: now + REVIEW_PAUSE,
});
