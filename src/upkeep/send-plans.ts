// Sends the planned payouts: each at most once, the longest due first.
import { randomUUID } from 'node:crypto';
import { type ApiError, type GatewayError, isGatewayError } from '../errors.ts';
import { FORBIDDEN, isPassing } from '../http-statuses.ts';
import { create } from '../payments/create.ts';
import type { Gateway } from '../payments/gateway.ts';
import { lookUp } from '../payments/lookup.ts';
import type { StoreRow } from '../store/contract.ts';
import { change } from '../store/creates/change.ts';
import { isMissing } from '../store/creates/doubts.ts';
import { tellableOf, warn } from '../store/creates/reports.ts';
import { pauseSending, readOutage } from '../store/outage.ts';
import type { CreateRow } from '../store/rules/create-row.ts';
import { isRefusedForGood, isRefusedRequest, openPlan } from '../store/rules/plan.ts';
import { notDue } from '../store/rules/transitions.ts';
import { NothingDone } from '../telemetry/call.ts';
import { giveBack, workOnDue } from './leases.ts';
import type { SweepCall } from './sweep.ts';

/** The counts of planned payouts, by result. */
export interface SendCounts {
  /** Payouts whose payments the gateway has made. */
  created: number;
  /** Payouts that the gateway has refused permanently. Each is in review, and its reference can be planned again. */
  refused: number;
  /** Payouts to retry later, because the gateway was unreachable, asked for a pause or refused this client. */
  postponed: number;
  /** Payouts with an unknown outcome, for a callback or an operator. */
  inDoubt: number;
}

/** `freed` and due: refused for good, and its review is not written yet. */
export const DUE = { states: ['planned', 'freed'] } as const;

/** One upkeep, with the state that its runs share. */
export interface UpkeepCall extends SweepCall {
  gateway: Gateway;
  sent: SendCounts;
  /** The row of an outage in which the gateway has answered this upkeep. It can send. */
  held?: StoreRow | undefined;
  /** Whether the run sends no more: the gateway needs a pause, or the run has failed. */
  isOut: boolean;
}

/**
 * Sends due plans until none is left or the gateway seems unreachable. It begins with one, and sends several at once
 * after an accepted one. Rows are leased, so that many replicas can send concurrently.
 */
export async function sendPlans(client: UpkeepCall): Promise<void> {
  const { store, limit, concurrency, signal, sent } = client;
  const before = sent.created;
  client.isOut = false;
  const isOver = () => client.isOut || signal.aborted;
  const work = (plan: CreateRow) => sendPlan(client, plan);
  const run = (limit: number, concurrency: number) => workOnDue(store, DUE, { limit, concurrency, isOver }, work);
  let left = limit;
  for (; sent.created === before && left > 0; left -= 1) if ((await run(1, 1)) === 0) return;
  await run(left, concurrency);
}

async function sendPlan(client: UpkeepCall, plan: CreateRow): Promise<void> {
  const { gateway, store, sent } = client;
  if (plan.state === 'freed') return review(client, plan);
  if (!(await maySend(client))) {
    await giveBack(store, plan);
    sent.postponed += 1;
    client.isOut = true;
    return;
  }
  try {
    const { request, extra } = openPlan(plan.body ?? '');
    await create(gateway, 'payment', request, { extra }, { plan });
  } catch (error) {
    if (error instanceof NothingDone) return;
    if (!isGatewayError(error) || error.name === 'StoreError') throw error;
    return fail(client, plan, error);
  }
  sent.created += 1;
  // Ends the pause of every replica, unless another one has begun a pause since.
  if (client.held) await store.write({ ...client.held, data: {} });
  client.held = undefined;
}

/** After a pause, one replica looks a payment up to test the gateway. 404 is an answer, because the id is new. */
async function maySend(client: UpkeepCall): Promise<boolean> {
  const { gateway, store, call, signal } = client;
  const outage = await readOutage(store);
  if (outage.until === 0 || outage.row.revision === client.held?.revision) return true;
  const held = outage.until > outage.now ? undefined : await pauseSending(store, {}, outage);
  if (!held || !(await lookUp(gateway, randomUUID(), { signal }, call).then(() => true, isMissing))) return false;
  client.held = held;
  return true;
}

async function fail(client: UpkeepCall, plan: CreateRow, error: GatewayError): Promise<void> {
  const { store, sent } = client;
  const { status = 0, retryAfter: asked = 0 } = error as Partial<ApiError>;
  const isUnknown = error.outcome === 'unknown';
  if (isUnknown) {
    sent.inDoubt += 1;
  } else if (isRefusedForGood(plan, error)) {
    sent.refused += 1;
    await review(client, plan);
  } else {
    sent.postponed += 1;
    // Without an answer, or from a busy gateway, it needs no operator.
    if (error.name !== 'ConnectionError' && !isPassing(status)) warn(client, 'payout_not_sent', plan, error.message);
  }
  const isPaused = isUnknown || asked > 0;
  if (isPaused) await pauseSending(store, { asked, isUnknown });
  // A plan that this client cannot send, such as another version's. It is tried again after its lease.
  const isUnsendable = error.name === 'InvalidRequestError' || error.name === 'ConfigurationError';
  client.isOut ||= isPaused || !(isUnsendable || status === FORBIDDEN || isRefusedRequest(error));
}

/** If that fails, the payout stays due. */
async function review(client: UpkeepCall, refused: CreateRow): Promise<void> {
  try {
    await client.handler.reviewRefused(refused);
  } catch (error) {
    return warn(client, 'upkeep_failed', refused, tellableOf(error));
  }
  // Meanwhile the merchant may have planned it again.
  await change(client.store, refused, row =>
    row?.state === 'freed' && row.attemptId === refused.attemptId ? { next: notDue(row) } : {},
  );
}
