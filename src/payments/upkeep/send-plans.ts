// Sends the planned payouts: each at most once, in the order of planning.
import { randomUUID } from 'node:crypto';
import { type ApiError, type GatewayError, isGatewayError } from '../../errors.ts';
import { FORBIDDEN, isPassing } from '../../http-statuses.ts';
import { change } from '../../store/creates/change.ts';
import { PlanGone } from '../../store/creates/create-once.ts';
import { isMissing } from '../../store/creates/doubts.ts';
import { type StoreCall, warnNotSent, warnReviewFailed } from '../../store/creates/reports.ts';
import type { CreateRow } from '../../store/rules/create-row.ts';
import { isRefusedForGood, isRefusedRequest, openPlan } from '../../store/rules/plan.ts';
import { notDue } from '../../store/rules/transitions.ts';
import { giveBack, workOnDue } from '../../store/upkeep/claims.ts';
import { endOutage, holdOutage, type Outage, pauseSending, readOutage } from '../../store/upkeep/outage.ts';
import type { SweepCall } from '../../store/upkeep/sweep.ts';
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

interface SendingCall extends StoreCall, Pick<SweepCall, 'handler' | 'limit' | 'concurrency' | 'signal'> {
  gateway: Gateway;
}

/** Sends plans, in one run or several. Rows are leased, so that many replicas can send concurrently. */
export class PlanSender {
  readonly sent: SendCounts = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
  readonly #client: SendingCall;
  /** Since the last stop, the gateway has accepted a payout. Several can be sent at once. */
  #isAccepting = false;
  /** The revision of an outage in which the gateway has answered this sender. It can send. */
  #held: number | undefined;
  /** This run is over: the gateway or the store needs a pause. */
  #hasStopped = false;

  constructor(client: SendingCall) {
    this.#client = client;
  }

  /**
   * Sends due plans until none is left or the gateway seems unreachable. It begins with one, and sends several at once
   * after an accepted one.
   *
   * @returns whether the gateway needs a pause
   */
  async send(): Promise<boolean> {
    const { store, limit, concurrency, signal } = this.#client;
    this.#hasStopped = false;
    const isOver = () => this.#hasStopped || signal?.aborted === true;
    const run = (limit: number, concurrency: number) =>
      workOnDue(store, DUE, { limit, concurrency, isOver }, ({ row }) => this.#work(row));
    let left = limit;
    for (; !this.#isAccepting && left > 0; left -= 1) if ((await run(1, 1)) === 0) return this.#hasStopped;
    await run(left, concurrency);
    return this.#hasStopped;
  }

  async #work(row: CreateRow): Promise<void> {
    const { store } = this.#client;
    try {
      if (row.state === 'freed') return await this.#review(row);
      const outage = await readOutage(store);
      const isOutage = outage.until > 0;
      if (isOutage && !(await this.#isAnswering(outage))) {
        await giveBack(store, row);
        this.sent.postponed += 1;
        this.#stop();
      } else if ((await this.#sendPlan(row)) && isOutage) await endOutage(store);
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  /** After the pause, one replica looks a payment up to test the gateway. 404 is an answer, because the id is new. */
  async #isAnswering(outage: Outage): Promise<boolean> {
    const { gateway, store, call, signal } = this.#client;
    if (outage.row.revision === this.#held) return true;
    const held = outage.until > outage.now ? undefined : await holdOutage(store, outage);
    if (!held || !(await lookUp(gateway, randomUUID(), { signal }, call).then(() => true, isMissing))) return false;
    this.#held = held.row.revision;
    return true;
  }

  /** @returns whether the gateway has accepted it */
  async #sendPlan(plan: CreateRow): Promise<boolean> {
    try {
      const { request, extra } = openPlan(plan.body ?? '');
      await create(this.#client.gateway, 'payment', request, { extra }, { plan });
    } catch (error) {
      if (error instanceof PlanGone) return false;
      if (!isGatewayError(error) || error.name === 'StoreError') throw error;
      await this.#fail(plan, error);
      return false;
    }
    this.sent.created += 1;
    this.#isAccepting = true;
    return true;
  }

  async #fail(plan: CreateRow, error: GatewayError): Promise<void> {
    const { status = 0, retryAfter: asked = 0 } = error as Partial<ApiError>;
    const isUnknown = error.outcome === 'unknown';
    // A plan that this client cannot send, such as another version's. It is tried again after its lease.
    const isUnsendable = error.name === 'InvalidRequestError' || error.name === 'ConfigurationError';
    if (isUnknown) {
      this.sent.inDoubt += 1;
    } else if (isRefusedForGood(plan, error)) {
      this.sent.refused += 1;
      await this.#review(plan);
    } else {
      this.sent.postponed += 1;
      // Without an answer, or from a busy gateway, it needs no operator.
      if (error.name !== 'ConnectionError' && !isPassing(status)) warnNotSent(this.#client, plan, error);
    }
    const isOfThisPlan = isUnsendable || status === FORBIDDEN || isRefusedRequest(error);
    if (isUnknown || asked > 0) await pauseSending(this.#client.store, { asked, isUnknown });
    if (isUnknown || asked > 0 || !isOfThisPlan) this.#stop();
  }

  /** Lists a refused payout for review. If that fails, it stays due. */
  async #review(refused: CreateRow): Promise<void> {
    try {
      await this.#client.handler.reviewRefused(refused);
    } catch (error) {
      return warnReviewFailed(this.#client, refused, error);
    }
    // Meanwhile the merchant may have planned it again.
    await change(this.#client.store, refused, row =>
      row?.state === 'freed' && row.attemptId === refused.attemptId ? { next: notDue(row) } : {},
    );
  }

  #stop(): void {
    this.#isAccepting = false;
    this.#hasStopped = true;
  }
}
