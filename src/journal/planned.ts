// The rules of what is planned: written down with the merchant's own transaction, and sent later.
import { ApiError, ConfigurationError, type GatewayError } from '../errors.ts';
import { isOfRequest } from '../statuses.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { newRow } from './row.ts';

/** A create that is to be sent later. */
export interface JournalPlan extends JournalKey, JournalRequest {
  planId: string;
  body: string;
}

/** @throws {ConfigurationError} for a request where the transaction belongs */
export function refuseSwapped(tx: unknown): void {
  const { paymentType, paymentMethod } = (tx ?? {}) as { paymentType?: unknown; paymentMethod?: unknown };
  if (typeof paymentType !== 'string' && typeof paymentMethod !== 'string') return;
  throw new ConfigurationError(
    'plan takes your transaction first, and then the request: journal.plan(tx, request). What was passed first is a request. Nothing was planned.',
  );
}

/** The row of a plan, for a store that sets its times. */
export const plannedRow = ({ planId, body, ...request }: JournalPlan): JournalRow => ({
  ...newRow({ ...request, attemptId: planId, timeoutMs: 0 }, 0),
  state: 'planned',
  body,
  dueAt: 0,
});

/** For whoever claims it next. */
export const unleased = ({ leasedUntil, ...row }: JournalRow): JournalRow => row;

/** Whether nothing has happened to a plan since it was claimed. What was planned anew is another plan. */
export const isSamePlan = (row: JournalRow, claimed: JournalRow): boolean =>
  row.state === 'planned' && row.revision === claimed.revision;

/**
 * An attempt has made no payment, and its request is not to blame: the plan is there again, in its old place.
 *
 * @param row of the attempt
 */
export const replanned = (row: JournalRow, plan: JournalRow): JournalRow => ({
  ...unleased(plan),
  ...(row.isRetry && { isRetry: true }),
  revision: row.revision,
});

/** Whether the gateway has refused what was planned, so that it would refuse it again. */
export const isRefusedRequest = (error: unknown): boolean =>
  error instanceof ApiError && error.outcome === 'rejected' && isOfRequest(error.status);

/** Milliseconds until a plan that was refused is sent again, then twice as long each time. */
const FIRST_PAUSE = 15_000;
const LONGEST_PAUSE = 900_000;

/** A plan that may itself be the reason why it cannot be sent makes way for the others. */
export const postponed = (plan: JournalRow, now: number): JournalRow => ({
  ...unleased(plan),
  looks: plan.looks + 1,
  dueAt: now + Math.min(FIRST_PAUSE * 2 ** plan.looks, LONGEST_PAUSE),
});

/** What is planned is not sent. */
export const withdrawn = ({ dueAt, body, ...plan }: JournalRow): JournalRow => ({ ...unleased(plan), state: 'freed' });

/** Nothing was paid by this call, and something else will be: the message must not sound as if nothing could. */
export function tellStillPlanned(error: GatewayError): void {
  // Several may wait for one create.
  if (error.isStillPlanned) return;
  const message = `${error.message} It was planned, and still is: a drain will send it. To withdraw it, call gateway.settle(reference, 'not_created').`;
  Object.assign(error, { message, isStillPlanned: true });
}
