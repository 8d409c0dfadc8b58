// Sends the plans in the journal: each create at most once, in the order of planning.
import { ApiError, type GatewayError, isGatewayError } from '../errors.ts';
import { bounded, change } from '../journal/change.ts';
import { type Claimed, workOnDue } from '../journal/claims.ts';
import type { JournalRow } from '../journal/contract.ts';
import { PlanGone } from '../journal/create-once.ts';
import { openPlan } from '../journal/plan.ts';
import { isRefusedRequest, isSamePlan, postponed } from '../journal/planned.ts';
import { type ClientJournal, warnNotSent, warnRefused } from '../journal/reports.ts';
import { isUnderWay } from '../journal/row.ts';
import { FORBIDDEN, TOO_MANY } from '../statuses.ts';
import { create } from './create.ts';
import type { Drained } from './drain-options.ts';
import type { Gateway } from './gateway.ts';

/** The settings of one run of a drain. */
export interface DrainRun {
  signal?: AbortSignal | undefined;
  /** Waits while nothing is planned. Without it, the run ends. */
  whenIdle?: (() => Promise<void>) | undefined;
  /** Called as soon as the run begins no more creates. */
  onBlocked?: (() => void) | undefined;
}

/**
 * A drain, which may run several times. Rows are leased, so that many replicas can drain concurrently. If one dies,
 * another sends the plans that it had not begun.
 */
export class Drain {
  readonly drained: Drained = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
  readonly #gateway: Gateway;
  readonly #client: ClientJournal;
  readonly #concurrency: number;
  /** The number of creates that it may still send. */
  #left: number;

  constructor(gateway: Gateway, client: ClientJournal, { limit, concurrency }: { limit: number; concurrency: number }) {
    this.#gateway = gateway;
    this.#client = client;
    this.#concurrency = concurrency;
    this.#left = limit;
  }

  get isAtLimit(): boolean {
    return this.#left <= 0;
  }

  /**
   * Sends due plans in the order of planning, until none is left or the gateway seems unreachable.
   *
   * @returns the milliseconds to pause, if the run ended for that
   * @throws any error of the journal: the next run sends the rest
   */
  async run({ signal, whenIdle, onBlocked }: DrainRun): Promise<number | undefined> {
    let isAnswered = false;
    let pause: number | undefined;
    const block = (ms: number) => {
      pause = Math.max(pause ?? 0, ms);
      onBlocked?.();
    };
    const isOver = () => pause !== undefined || signal?.aborted === true;
    const send = async ({ row }: Claimed) => {
      this.#left -= 1;
      try {
        const sent = await sendPlan(this.#gateway, this.#client, row);
        if (sent.result) this.drained[sent.result] += 1;
        if (sent.isAnswered) isAnswered = true;
        if (sent.pause !== undefined) block(sent.pause);
      } catch (error) {
        block(0);
        throw error;
      }
    };
    const query = { scope: this.#client.scope, states: ['planned'] } as const;
    const work = (limit: number, concurrency: number) =>
      workOnDue(this.#client, query, { limit, concurrency, isOver, isFair: true, whenIdle }, send);

    // While the gateway is unreachable, one more create in doubt shows as much as eight.
    if (await this.#wasAway()) {
      for (let before = 0; !isAnswered && before !== this.#left; ) {
        before = this.#left;
        await work(1, 1);
        if (isOver() || this.isAtLimit) return pause;
      }
    }
    await work(this.#left, this.#concurrency);
    return pause;
  }

  /** Returns whether the gateway seemed unreachable lately: at least `concurrency` creates are in doubt since then. */
  async #wasAway(): Promise<boolean> {
    const { journal, scope } = this.#client;
    const { rows, now } = await bounded(journal.list({ scope, states: ['begun'] }));
    const lately = rows.filter(row => !isUnderWay(row, now) && row.begunAt > now - LATELY);
    return lately.length >= this.#concurrency;
  }
}

/** Milliseconds. */
const LATELY = 600_000;

/** The result of one plan. */
interface Sent {
  /** Absent if another worker has the plan. */
  result?: keyof Drained | undefined;
  isAnswered?: boolean | undefined;
  /** Milliseconds to pause. */
  pause?: number | undefined;
}

async function sendPlan(gateway: Gateway, client: ClientJournal, plan: JournalRow): Promise<Sent> {
  let staysPlanned = false;
  const onPlanRefused = () => {
    staysPlanned = gateway.planRefusals.add();
    return staysPlanned;
  };
  try {
    const { request, extra } = openPlan(plan.body ?? '');
    await create(gateway, 'payment', request, { extra }, { plan, onPlanRefused });
    return { result: 'created', isAnswered: true };
  } catch (error) {
    if (error instanceof PlanGone) return {};
    if (!isGatewayError(error)) throw error;
    const result = await resultOf(client, plan, error, staysPlanned);
    // The journal throws the doubt. Its cause is the gateway's answer.
    const reason = error.name === 'PaymentInDoubtError' ? error.cause : error;
    const { status, retryAfter } = (reason ?? {}) as { status?: number; retryAfter?: number };
    const isOfThisPlan = UNSENDABLE.has(error.name) || isRefusedRequest(reason) || status === FORBIDDEN;
    const pause = isOfThisPlan ? retryAfter : (retryAfter ?? 0);
    return { result, isAnswered: status !== undefined, pause };
  }
}

/** The errors of a plan that this client cannot send. They say nothing about other plans. */
const UNSENDABLE: ReadonlySet<string> = new Set(['InvalidRequestError', 'ConfigurationError']);

/** Returns the result of a plan that was not accepted, and warns if an operator must act. @throws {JournalError} */
async function resultOf(
  client: ClientJournal,
  plan: JournalRow,
  error: GatewayError,
  staysPlanned: boolean,
): Promise<keyof Drained> {
  if (error.outcome === 'unknown') return 'inDoubt';
  if (staysPlanned) {
    warnNotSent(client, plan, error);
    return 'postponed';
  }
  if (isRefusedRequest(error)) {
    warnRefused(client, plan, error);
    return 'refused';
  }
  if (error.name === 'JournalError') throw error;
  if (UNSENDABLE.has(error.name)) {
    // A plan of another terminal, or of an older version.
    await change(client.journal, plan, (row, now) =>
      row && isSamePlan(row, plan) ? { next: postponed(row, now) } : {},
    );
    warnNotSent(client, plan, error);
  }
  // A busy gateway needs no operator.
  if (error instanceof ApiError && error.status !== TOO_MANY) warnNotSent(client, plan, error);
  return 'postponed';
}
