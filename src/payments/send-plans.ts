// Sends the planned payouts: each at most once, in the order of planning.
import { randomUUID } from 'node:crypto';
import { ApiError, type GatewayError, isGatewayError } from '../errors.ts';
import { FORBIDDEN, TOO_MANY } from '../statuses.ts';
import { change } from '../store/change.ts';
import { type Claimed, giveBack, workOnDue } from '../store/claims.ts';
import { PlanGone } from '../store/create-once.ts';
import type { CreateRow } from '../store/creates.ts';
import { isMissing } from '../store/doubts.ts';
import type { HandlerLink } from '../store/link.ts';
import { endOutage, holdOutage, type Outage, pauseSending, readOutage, waitAsAsked } from '../store/outage.ts';
import { isRefusedForGood, isRefusedRequest, openPlan } from '../store/plan.ts';
import { type StoreCall, warnNotSent, warnReviewFailed } from '../store/reports.ts';
import { notDue } from '../store/transitions.ts';
import { create } from './create.ts';
import type { Gateway } from './gateway.ts';
import { lookUp } from './lookup.ts';

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

/** Sends plans, in one run or several. Rows are leased, so that many replicas can send concurrently. */
export class PlanSender {
  readonly sent: SendCounts = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
  readonly #gateway: Gateway;
  readonly #client: StoreCall;
  readonly #settings: SenderSettings;
  /** The gateway has accepted the last payout, so several can be sent at once. */
  #isAccepting = false;
  /** The revision of the outage that this sender may test. */
  #held: number | undefined;
  /** Milliseconds to pause, if this run is over. */
  #pause: number | undefined;

  constructor(gateway: Gateway, client: StoreCall, settings: SenderSettings) {
    this.#gateway = gateway;
    this.#client = client;
    this.#settings = settings;
  }

  /**
   * Sends due plans until none is left or the gateway seems unreachable. It begins with one, and sends several at once
   * after an accepted one.
   *
   * @param whenIdle waits while nothing is planned. Without it, the run ends
   * @returns the milliseconds to pause, if the run ended for that
   * @throws any error of the store: the next run sends the rest
   */
  async send(whenIdle?: () => Promise<void>): Promise<number | undefined> {
    const { limit, concurrency, signal } = this.#settings;
    this.#pause = undefined;
    const isOver = () => this.#pause !== undefined || signal?.aborted === true;
    const work = (limit: number, concurrency: number) =>
      workOnDue(this.#client.store, DUE, { limit, concurrency, isOver, whenIdle }, claimed => this.#work(claimed));
    let left = limit;
    for (; !this.#isAccepting && left > 0 && !isOver(); left -= 1) if ((await work(1, 1)) === 0) return undefined;
    if (left > 0 && !isOver()) await work(left, concurrency);
    return this.#pause;
  }

  async #work({ row }: Claimed): Promise<void> {
    try {
      if (row.state === 'freed') return await this.#review(row);
      const outage = await this.#outage();
      if (outage) {
        await giveBack(this.#client.store, row);
        this.sent.postponed += 1;
        return this.#stop(outage.left);
      }
      await this.#send(row);
    } catch (error) {
      this.#stop(0);
      throw error;
    }
  }

  #stop(pause: number): void {
    this.#isAccepting = false;
    this.#pause = Math.max(this.#pause ?? 0, pause);
  }

  /** Returns the outage that forbids sending. After a pause, one replica looks a payment up to test the gateway. */
  async #outage(): Promise<Outage | undefined> {
    const outage = await readOutage(this.#client.store);
    if (!outage.isPaused || outage.revision === this.#held) return undefined;
    if (outage.left > 0) return outage;
    const held = await holdOutage(this.#client.store, outage);
    if (!held || !(await this.#isAnswering())) return held ?? outage;
    this.#held = held.revision;
    return undefined;
  }

  /** Whether the gateway answers a lookup. 404 is an answer, because the id is new. */
  async #isAnswering(): Promise<boolean> {
    const { signal } = this.#settings;
    return lookUp(this.#gateway, randomUUID(), { signal }, this.#client.call).then(() => true, isMissing);
  }

  async #send(plan: CreateRow): Promise<void> {
    try {
      const { request, extra } = openPlan(plan.body ?? '');
      await create(this.#gateway, 'payment', request, { extra }, { plan });
    } catch (error) {
      if (error instanceof PlanGone) return;
      if (!isGatewayError(error)) throw error;
      return this.#fail(plan, error);
    }
    this.sent.created += 1;
    this.#isAccepting = true;
    if (this.#held === undefined) return;
    this.#held = undefined;
    await endOutage(this.#client.store);
  }

  async #fail(plan: CreateRow, error: GatewayError): Promise<void> {
    const { retryAfter = 0 } = error as { retryAfter?: number };
    if (error.outcome === 'unknown') {
      this.sent.inDoubt += 1;
      return this.#stop(await pauseSending(this.#client.store, retryAfter));
    }
    if (error.name === 'StoreError') throw error;
    const isUnsendable = UNSENDABLE.has(error.name);
    const isAnswered = error instanceof ApiError;
    if (isRefusedForGood(plan, error)) {
      this.sent.refused += 1;
      await this.#review(plan);
    } else {
      this.sent.postponed += 1;
      // Without an answer, or from a busy gateway, it needs no operator.
      if (isUnsendable || (isAnswered && error.status !== TOO_MANY)) warnNotSent(this.#client, plan, error);
    }
    if (retryAfter > 0) return this.#stop(await waitAsAsked(this.#client.store, retryAfter));
    const isOfThisPlan = isRefusedRequest(error) || isUnsendable || (isAnswered && error.status === FORBIDDEN);
    if (!isOfThisPlan) this.#stop(0);
  }

  /** Lists a refused payout for review. If that fails, it stays due. */
  async #review(refused: CreateRow): Promise<void> {
    try {
      await this.#settings.handler.reviewRefused(refused.reference);
    } catch (error) {
      return warnReviewFailed(this.#client, refused, error);
    }
    // Meanwhile the merchant may have planned it again.
    await change(this.#client.store, refused, row =>
      row?.state === 'freed' && row.attemptId === refused.attemptId ? { next: notDue(row) } : {},
    );
  }
}
