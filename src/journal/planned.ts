// The rules for plans: written in the merchant's own transaction, and sent later.
import { ApiError, ConfigurationError, type GatewayError } from '../errors.ts';
import { isOfRequest } from '../statuses.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { newRow } from './row.ts';

/** A create to send later. */
export interface JournalPlan extends JournalKey, JournalRequest {
  planId: string;
  body: string;
}

/** @throws {ConfigurationError} for a request in the place of the transaction */
export function refuseSwapped(tx: unknown): void {
  const { paymentType, paymentMethod } = (tx ?? {}) as { paymentType?: unknown; paymentMethod?: unknown };
  if (typeof paymentType !== 'string' && typeof paymentMethod !== 'string') return;
  throw new ConfigurationError(
    'plan takes your transaction first, and then the request: journal.plan(tx, request). What was passed first is a request. Nothing was planned.',
  );
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

/** Adds to the message that a drain will still send the plan, although this call paid nothing. */
export function tellStillPlanned(error: GatewayError): void {
  // Several callers may wait for one create.
  if (error.isStillPlanned) return;
  const message = `${error.message} It was planned, and still is: a drain will send it. To withdraw it, call gateway.settle(reference, 'not_created').`;
  Object.assign(error, { message, isStillPlanned: true });
}
