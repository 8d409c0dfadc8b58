// Sends the planned payouts: each at most once, in the order of planning.
import { randomUUID } from 'node:crypto';
import { ApiError, type GatewayError, isGatewayError } from '../../errors.ts';
import { FORBIDDEN, TOO_MANY } from '../../http-statuses.ts';
import { change } from '../../store/creates/change.ts';
import { PlanGone } from '../../store/creates/create-once.ts';
import { isMissing } from '../../store/creates/doubts.ts';
import { type StoreCall, warnNotSent, warnReviewFailed } from '../../store/creates/reports.ts';
import type { CreateRow } from '../../store/rules/create-row.ts';
import { isRefusedForGood, isRefusedRequest, openPlan } from '../../store/rules/plan.ts';
import { notDue } from '../../store/rules/transitions.ts';
import { type Claimed, giveBack, workOnDue } from '../../store/upkeep/claims.ts';
import type { HandlerLink } from '../../store/upkeep/handler-link.ts';
import { endOutage, holdOutage, type Outage, pauseSending, readOutage } from '../../store/upkeep/outage.ts';
import { create } from '../create.ts';
import type { Gateway } from '../gateway.ts';
import { lookUp } from '../lookup.ts';

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

/** The errors of a plan that this client cannot send, such as another version's. It is tried again after its lease. */
const UNSENDABLE: ReadonlySet<string> = new Set(['InvalidRequestError', 'ConfigurationError']);

interface SenderSettings {
  handler: HandlerLink;
  limit: number;
  concurrency: number;
  signal?: AbortSignal | undefined;
}

export type PlanSender = ReturnType<typeof createPlanSender>;

/** Sends plans, in one run or several. Rows are leased, so that many replicas can send concurrently. */
export function createPlanSender(gateway: Gateway, client: StoreCall, settings: SenderSettings) {
  const { store, call } = client;
  const { handler, limit, concurrency, signal } = settings;
  const sent: SendCounts = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
  /** The gateway has accepted the last payout, so several can be sent at once. */
  let isAccepting = false;
  /** The revision of the outage that this sender may test. */
  let held: number | undefined;
  /** Milliseconds to pause, if this run is over. */
  let pause: number | undefined;

  const stop = (ms: number): void => {
    isAccepting = false;
    pause = Math.max(pause ?? 0, ms);
  };

  /** Whether the gateway answers a lookup. 404 is an answer, because the id is new. */
  const isAnswering = () => lookUp(gateway, randomUUID(), { signal }, call).then(() => true, isMissing);

  /** Returns the outage that forbids sending. After a pause, one replica looks a payment up to test the gateway. */
  const findOutage = async (): Promise<Outage | undefined> => {
    const outage = await readOutage(store);
    if (outage.until === 0 || outage.row.revision === held) return undefined;
    if (outage.until > outage.now) return outage;
    const next = await holdOutage(store, outage);
    if (!next || !(await isAnswering())) return next ?? outage;
    held = next.row.revision;
    return undefined;
  };

  /** Lists a refused payout for review. If that fails, it stays due. */
  const review = async (refused: CreateRow): Promise<void> => {
    try {
      await handler.reviewRefused(refused.reference);
    } catch (error) {
      return warnReviewFailed(client, refused, error);
    }
    // Meanwhile the merchant may have planned it again.
    await change(store, refused, row =>
      row?.state === 'freed' && row.attemptId === refused.attemptId ? { next: notDue(row) } : {},
    );
  };

  const fail = async (plan: CreateRow, error: GatewayError): Promise<void> => {
    const { retryAfter: asked = 0 } = error as { retryAfter?: number };
    if (error.outcome === 'unknown') {
      sent.inDoubt += 1;
      return stop(await pauseSending(store, { asked, isUnknown: true }));
    }
    if (error.name === 'StoreError') throw error;
    const isUnsendable = UNSENDABLE.has(error.name);
    const isAnswered = error instanceof ApiError;
    if (isRefusedForGood(plan, error)) {
      sent.refused += 1;
      await review(plan);
    } else {
      sent.postponed += 1;
      // Without an answer, or from a busy gateway, it needs no operator.
      if (isUnsendable || (isAnswered && error.status !== TOO_MANY)) warnNotSent(client, plan, error);
    }
    if (asked > 0) return stop(await pauseSending(store, { asked }));
    const isOfThisPlan = isRefusedRequest(error) || isUnsendable || (isAnswered && error.status === FORBIDDEN);
    if (!isOfThisPlan) stop(0);
  };

  const sendPlan = async (plan: CreateRow): Promise<void> => {
    try {
      const { request, extra } = openPlan(plan.body ?? '');
      await create(gateway, 'payment', request, { extra }, { plan });
    } catch (error) {
      if (error instanceof PlanGone) return;
      if (!isGatewayError(error)) throw error;
      return fail(plan, error);
    }
    sent.created += 1;
    isAccepting = true;
    if (held === undefined) return;
    held = undefined;
    await endOutage(store);
  };

  const work = async ({ row }: Claimed): Promise<void> => {
    try {
      if (row.state === 'freed') return await review(row);
      const outage = await findOutage();
      if (!outage) return await sendPlan(row);
      await giveBack(store, row);
      sent.postponed += 1;
      stop(outage.until - outage.now);
    } catch (error) {
      stop(0);
      throw error;
    }
  };

  return {
    sent,

    /**
     * Sends due plans until none is left or the gateway seems unreachable. It begins with one, and sends several at once
     * after an accepted one.
     *
     * @param whenIdle waits while nothing is planned. Without it, the run ends
     * @returns the milliseconds to pause, if the run ended for that
     * @throws any error of the store: the next run sends the rest
     */
    async send(whenIdle?: () => Promise<void>): Promise<number | undefined> {
      pause = undefined;
      const isOver = () => pause !== undefined || signal?.aborted === true;
      const run = (limit: number, concurrency: number) =>
        workOnDue(store, DUE, { limit, concurrency, isOver, whenIdle }, work);
      let left = limit;
      for (; !isAccepting && left > 0 && !isOver(); left -= 1) if ((await run(1, 1)) === 0) return undefined;
      if (left > 0 && !isOver()) await run(left, concurrency);
      return pause;
    },
  };
}
