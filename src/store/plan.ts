// Plans a payout inside the merchant's own transaction. After the commit, upkeep sends it at most once.
import { randomUUID } from 'node:crypto';
import { ApiError, ConfigurationError, InvalidRequestError, PaymentInDoubtError } from '../errors.ts';
import type { CheckedRequest } from '../schemas/checked-request.ts';
import { rawJSON } from '../schemas/json.ts';
import { serialize } from '../schemas/serialize.ts';
import { isOfRequest } from '../statuses.ts';
import { change, NO_ROW } from './change.ts';
import type { Store } from './contract.ts';
import { type CreateEntry, type CreateRow, entryOf, knownIds } from './creates.ts';
import { expectSameRequest, requestDataOf } from './fingerprint.ts';
import { checkReference } from './key.ts';
import { plan, unleased } from './transitions.ts';

/** A request in the form that the store keeps until upkeep sends it. */
export interface PlannedRequest {
  request: object;
  extra: object;
}

/**
 * Writes before the first await, so that the merchant's later queries run after it, as after their own INSERT.
 *
 * @param tx the merchant's transaction
 * @throws {InvalidRequestError} before anything is written
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} a create of the reference runs or has an unknown outcome
 */
export async function planBy(
  store: Store,
  tx: unknown,
  payout: CheckedRequest,
  extra: object = {},
): Promise<CreateEntry> {
  const { reference } = payout;
  if (!reference) throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
  checkReference(reference);
  const text = serialize(payout, extra);
  const attempt = { reference, ...requestDataOf(payout, JSON.parse(text)), attemptId: randomUUID(), timeoutMs: 0 };
  const body = planOf(text, payout.amount, extra);
  const step = await change(store, attempt, (found, now) => plan(found, attempt, body, now), NO_ROW, tx);
  const row = step.row as CreateRow;
  expectSameRequest(row, attempt);
  // If that create fails, upkeep would not send the payout.
  if (row.state === 'begun')
    throw new PaymentInDoubtError(reference, new Date(row.begunAt), { paymentId: knownIds(row)[0] });
  return entryOf(store, row, step.now);
}

/** Keeps the request unchanged: an amount keeps its digits. */
function planOf(text: string, amount: number | string, extra: object): string {
  const further = new Set(Object.keys(extra));
  const all = Object.entries({ ...JSON.parse(text, withDigits as never), amount });
  const part = (isExtra: boolean) => Object.fromEntries(all.filter(([name]) => further.has(name) === isExtra));
  return JSON.stringify({ request: part(false), extra: part(true) } satisfies PlannedRequest);
}

/** Returns the request of a plan. @throws {ConfigurationError} if the body is not a plan */
export function openPlan(body: string): PlannedRequest {
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

const NO_REFERENCE = { path: 'reference', message: 'is required: it identifies the payout' };

/** A payout gets at most this many answers, or one that refuses the request itself. */
const MOST_ANSWERS = 3;

/** Whether the gateway surely refused the request itself, so that it would refuse it again. */
export const isRefusedRequest = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.outcome === 'rejected' && isOfRequest(error.status);

/** Whether this answer refuses the plan for good. */
export const isRefusedForGood = (plan: CreateRow, error: unknown): boolean =>
  isRefusedRequest(error) || (error instanceof ApiError && plan.looks + 1 >= MOST_ANSWERS);

/** Milliseconds until a refused plan is sent again, doubled each time. */
const FIRST_PAUSE = 15_000;
const LONGEST_PAUSE = 900_000;

/** Milliseconds until the review of a refused payout is tried again, unless it is written before. */
const REVIEW_PAUSE = 60_000;

/**
 * Returns the row of a plan whose attempt made no payment. After an answer the plan may itself be the cause: it lets
 * others go first or, if it is refused for good, it is freed and stays due until its review is written.
 */
export function replanned(plan: CreateRow, error: unknown, now: number): CreateRow {
  const { body, ...row } = unleased(plan);
  if (isRefusedForGood(plan, error)) return { ...row, state: 'freed', dueAt: now + REVIEW_PAUSE };
  if (!(error instanceof ApiError)) return { ...row, body };
  const pause = Math.min(FIRST_PAUSE * 2 ** plan.looks, LONGEST_PAUSE);
  return { ...row, body, looks: plan.looks + 1, dueAt: now + pause };
}
