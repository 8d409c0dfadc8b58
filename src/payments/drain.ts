// Sends what is planned in the journal: each create at most once, in the order of planning.
import { type GatewayError, isGatewayError } from '../errors.ts';
import { change } from '../journal/change.ts';
import { workOnDue } from '../journal/claims.ts';
import type { JournalRow } from '../journal/contract.ts';
import { PlanGone } from '../journal/create-once.ts';
import { openPlan } from '../journal/plan.ts';
import { isRefused, isSamePlan, postponed } from '../journal/planned.ts';
import { type ClientJournal, warnNotSent, warnRefused } from '../journal/reports.ts';
import { create } from './create.ts';
import type { Drained } from './drain-options.ts';
import type { Gateway } from './gateway.ts';
import { keepsRefused } from './refused-plans.ts';

/** How a drain goes on. */
export interface DrainLimits {
  /** How many are left to send: counted down. */
  budget: { left: number };
  concurrency: number;
  signal?: AbortSignal | undefined;
  /** Waits while nothing is planned. Without it, that is the end. */
  whenIdle?: (() => Promise<void>) | undefined;
  /** Called as soon as nothing more is begun. */
  onBlocked?: (() => void) | undefined;
}

/**
 * Sends what is due, those planned first coming first, until nothing is, or the gateway seems to be away. Rows are leased, so
 * that many replicas can drain at once; what one that died has not begun is sent by the next.
 *
 * @returns milliseconds to send nothing more, if it ended for that
 * @throws what the journal throws: what was not sent is left for the next drain
 */
export async function drainOnce(
  gateway: Gateway,
  client: ClientJournal,
  { budget, concurrency, signal, whenIdle, onBlocked }: DrainLimits,
  drained: Drained,
): Promise<number | undefined> {
  let pause: number | undefined;
  const block = (ms: number) => {
    pause = Math.max(pause ?? 0, ms);
    onBlocked?.();
  };
  const isOver = () => pause !== undefined || signal?.aborted === true;
  const query = { scope: client.scope, states: ['planned'] } as const;
  await workOnDue(client, query, { budget, concurrency, isOver, isFair: true, whenIdle }, async ({ row }) => {
    try {
      const sent = await sendPlan(gateway, client, row);
      if (sent.result) drained[sent.result] += 1;
      if (sent.pause !== undefined) block(sent.pause);
    } catch (error) {
      block(0);
      throw error;
    }
  });
  return pause;
}

/** What became of one plan. */
interface Sent {
  /** Absent if somebody else has it. */
  result?: keyof Drained | undefined;
  /** Milliseconds to send nothing more. */
  pause?: number | undefined;
}

async function sendPlan(gateway: Gateway, client: ClientJournal, plan: JournalRow): Promise<Sent> {
  let isKept = false;
  const isKeptIfRefused = () => {
    isKept = keepsRefused(gateway);
    return isKept;
  };
  try {
    const { request, extra } = openPlan(client.journal, plan.body ?? '', plan);
    await create(gateway, 'payment', request, { extra }, { plan, keepsRefused: isKeptIfRefused });
    return { result: 'created' };
  } catch (error) {
    if (error instanceof PlanGone) return {};
    if (!isGatewayError(error)) throw error;
    const result = await resultOf(client, plan, error, isKept);
    // A doubt is the journal's. What the gateway has answered is its cause.
    const reason = error.name === 'PaymentInDoubtError' ? error.cause : error;
    const { status, retryAfter } = (reason ?? {}) as { status?: number; retryAfter?: number };
    const isOfThis = IS_OF_THIS.has(error.name) || isRefused(reason) || status === MAY_BE_OF_THIS;
    return { result, ...((!isOfThis || retryAfter !== undefined) && { pause: retryAfter ?? 0 }) };
  }
}

/** These say nothing of the other plans. */
const IS_OF_THIS: ReadonlySet<string> = new Set(['InvalidRequestError', 'ConfigurationError']);
const MAY_BE_OF_THIS = 403;

async function resultOf(
  client: ClientJournal,
  plan: JournalRow,
  error: GatewayError,
  isKept: boolean,
): Promise<keyof Drained> {
  if (error.outcome === 'unknown') return 'inDoubt';
  if (isKept) {
    warnNotSent(client, plan, error);
    return 'postponed';
  }
  if (isRefused(error)) {
    warnRefused(client, plan, error);
    return 'refused';
  }
  if (error.name === 'JournalError') throw error;
  if (IS_OF_THIS.has(error.name)) {
    // Not for this client: another terminal's, of an older version, or encrypted with another key.
    await change(client.journal, plan, (row, now) =>
      row && isSamePlan(row, plan) ? { next: postponed(row, now) } : {},
    );
    warnNotSent(client, plan, error);
  }
  return 'postponed';
}
