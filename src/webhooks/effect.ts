// Applies a payment's status once: settle its create, then the merchant's functions and the rows in one transaction.
import { delay, withTimeout } from '../deadline.ts';
import { WebhookError } from '../errors.ts';
import { LAG_PAUSES } from '../payments/lookup.ts';
import type { Payment } from '../schemas/payment.ts';
import type { LockedRows, RowKey, Store } from '../store/contract.ts';
import { createOf, storeRowOf } from '../store/creates.ts';
import type { ClientLink, Processed } from '../store/link.ts';
import { orderRowOf, orderStateOf } from '../store/order.ts';
import {
  after,
  decide,
  judge,
  type KeptReview,
  paymentRowOf,
  paymentStateOf,
  reviewOf,
  statusOf,
  type Verdict,
  WITHOUT_FUNCTION,
} from '../store/outcomes.ts';
import { ofMerchant, remembering } from '../store/thrown.ts';
import { acknowledge } from '../store/transitions.ts';
import { type CallbackWarningCode, notify } from '../telemetry/events.ts';
import type { ClaimDigest } from './claim.ts';
import { type Context, type Functions, isOnly, type PaymentOutcome } from './functions.ts';

interface About {
  paymentId: string;
  callId: string;
}

/** The reports of a handler besides the results of its callbacks. */
export interface Reports {
  warn(about: About, code: CallbackWarningCode, message: string): void;
  review(about: About, review: KeptReview): void;
  /** Gets the error of a function that waited for the commit. */
  afterCommitFailed(error: unknown): unknown;
}

export interface EffectSettings<Tx> {
  link: ClientLink<Tx> | undefined;
  /** Of the client, or of this process for a client without one. */
  store: Store<Tx>;
  functions: Functions<Tx>;
  /** Milliseconds. */
  effectTimeout: number;
  reports: Reports;
}

/** Milliseconds for a function that waited for the commit. */
const LONGEST_AFTER_COMMIT = 25_000;

/** Runs of an effect, at most: another final status may take effect in between. */
const MOST_CONFLICTS = 3;

/** The result of one transaction. */
interface Ran {
  decision: 'run' | 'already' | 'again';
  /** The revision of the payment's row. */
  seen?: number | undefined;
  review?: KeptReview | undefined;
  afterCommit: readonly (() => unknown)[];
}

export function createEffect<Tx>({ link, store, functions, effectTimeout, reports }: EffectSettings<Tx>) {
  /** Without a store of the client, only `onPayment` runs. */
  const hasOutcomes = link?.store !== undefined;

  /** Decides, runs the functions, and returns the rows to write. */
  const work = async (payment: Payment, seen: number | undefined, locked: LockedRows<Tx>, ran: Ran) => {
    const status = statusOf(payment);
    ran.seen = locked.payment?.revision;
    ran.decision = decide(locked.payment, status, seen);
    if (ran.decision !== 'run') return undefined;
    const state = paymentStateOf(locked.payment);
    const [createRow, orderRow] = locked.rows;
    const create = createRow && createOf(store.scope, createRow);
    const order = orderRow && orderStateOf(orderRow);
    const verdict: Verdict = hasOutcomes ? judge({ payment, state, create, order }) : { create, order };
    const reason = verdict.reason ?? reasonWithout(functions, verdict);
    ran.review = reason && reviewOf(payment, status, { reason, create, order: orderRow?.id });
    await callFunctions(payment, verdict, locked.tx, ran);
    const rows = [paymentRowOf(payment.id.toLowerCase(), after(state, status, verdict, ran.review), locked.payment)];
    const next = verdict.create && (acknowledge(verdict.create, payment).next ?? verdict.create);
    if (next && next !== create) rows.push(storeRowOf(next));
    if (orderRow && verdict.order && verdict.order !== order)
      rows.push(orderRowOf(orderRow.id, verdict.order, orderRow));
    return rows;
  };

  /** Calls the functions of a status. */
  const callFunctions = (payment: Payment, verdict: Verdict, tx: Tx, ran: Ran): Promise<void> => {
    const { create, wasPaidOut, call } = verdict;
    const { review } = ran;
    const reference = create?.reference ?? payment.reference ?? undefined;
    const outcome = { order: create?.order, reference, payment } as PaymentOutcome;
    return inTime(tx, ran, async context => {
      await functions.onPayment?.(payment, context);
      if (review) await functions.onReview?.({ ...outcome, reason: review.reason }, context);
      else if (call) await functions[call]?.({ ...outcome, wasPaidOut } as never, context);
    });
  };

  /** Runs the merchant's functions, with a time limit. */
  const inTime = async (
    tx: Tx,
    ran: Pick<Ran, 'afterCommit'>,
    calls: (context: Context<Tx>) => Promise<unknown>,
  ): Promise<void> => {
    const stop = new AbortController();
    const waiting = worksAfterCommit();
    ran.afterCommit = waiting.works;
    const context: Context<Tx> = { tx, signal: stop.signal, afterCommit: waiting.add };
    try {
      await withTimeout(
        remembering(() => calls(context)),
        effectTimeout,
        () => {
          throw ofMerchant(new Error(tooLong(effectTimeout)));
        },
      );
    } finally {
      waiting.close();
      stop.abort();
    }
  };

  const runOnce = async (payment: Payment, seen: number | undefined): Promise<Ran | 'busy' | 'uncertain'> => {
    const create = await link?.reconcile(payment);
    // A payment begins as PENDING. Only onPayment gets that, so otherwise it needs no row.
    if (payment.paymentStatus === 'PENDING' && !functions.onPayment) return { decision: 'already', afterCommit: [] };
    const reads: RowKey[] = create ? [{ kind: 'create', id: create.reference }] : [];
    if (create?.order) reads.push({ kind: 'order', id: create.order });
    const about = reviewOf(payment, statusOf(payment), { reason: 'effect_uncertain', create, order: create?.order });
    let ran: Ran = { decision: 'again', afterCommit: [] };
    const result = await store.effect({ id: payment.id.toLowerCase(), about, reads }, locked => {
      // The store may run the work again after a rollback.
      ran = { decision: 'again', afterCommit: [] };
      return work(payment, seen, locked, ran);
    });
    return result === 'busy' || result === 'uncertain' ? result : ran;
  };

  /** Runs the functions in order. An endless one goes on alone. */
  const runAfterCommit = async (works: Ran['afterCommit'], about: About) => {
    for (const one of works) {
      try {
        const working = (async () => one())();
        await withTimeout(working, LONGEST_AFTER_COMMIT, `It did not end within ${LONGEST_AFTER_COMMIT} ms.`);
      } catch (error) {
        const message = `A function passed to afterCommit failed, and is not repeated: payment ${about.paymentId}.`;
        reports.warn(about, 'after_commit_failed', message);
        notify(reports.afterCommitFailed, error);
      }
    }
  };

  return {
    /**
     * Runs the effect of a payment's status. If another final status took effect before, the payment may have moved
     * since its lookup. Then it is looked up again, outside any transaction.
     *
     * @throws {WebhookError} `effect_uncertain`
     * @throws any error of the store, the merchant's functions or the lookup
     */
    async takeEffect(found: Payment, callId: string, lookAgain: () => Promise<Payment>): Promise<Processed> {
      let payment = found;
      let seen: number | undefined;
      for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
        const paymentId = payment.id.toLowerCase();
        const about = { paymentId, callId };
        const ran = await runOnce(payment, seen);
        if (ran === 'busy') break;
        if (ran === 'uncertain') {
          reports.review(about, reviewOf(payment, statusOf(payment), { reason: 'effect_uncertain' }));
          throw uncertain(paymentId);
        }
        if (ran.decision === 'already') return { result: 'already', payment };
        if (ran.decision === 'run') {
          if (ran.review) reports.review(about, ran.review);
          // Not awaited: the payment's turn ends at the commit.
          void runAfterCommit(ran.afterCommit, about);
          return { result: 'ran', payment };
        }
        seen = ran.seen;
        // The record may lag behind.
        await delay(LAG_PAUSES[0]);
        payment = await lookAgain();
      }
      return { result: 'busy', payment };
    },

    /** Lists a planned payout that the gateway refused for good, and calls `onReview`. */
    async reviewRefused(reference: string, callId: string): Promise<void> {
      const ran: Pick<Ran, 'afterCommit'> = { afterCommit: [] };
      const refused = { status: 'REFUSED', reason: 'payout_refused', reference } as const;
      const about: KeptReview = { ...refused, since: Date.now(), paymentType: 'WITHDRAWAL' };
      const reads: RowKey[] = [{ kind: 'create', id: reference }];
      const result = await store.effect({ id: reference, about, reads }, async ({ tx, payment: row, rows }) => {
        const { amount, currency } = (rows[0]?.data ?? {}) as KeptReview;
        await inTime(tx, ran, async context => functions.onReview?.({ reference, reason: refused.reason }, context));
        return [
          paymentRowOf(reference, after(paymentStateOf(row), refused.status, {}, { ...about, amount, currency }), row),
        ];
      });
      // Upkeep tries it again.
      if (result === 'busy')
        throw new WebhookError('busy', `The review of ${JSON.stringify(reference)} is being written.`);
      if (result !== 'done') return;
      const told = { paymentId: reference, callId };
      reports.review(told, about);
      void runAfterCommit(ran.afterCommit, told);
    },

    /** Checks whether the claimed status has taken effect. */
    async isMarked({ paymentId, mark = '' }: ClaimDigest): Promise<boolean> {
      const { row } = await store.read({ kind: 'payment', id: paymentId });
      return paymentStateOf(row).statuses.includes(mark);
    },
  };
}

/** Returns the reason for a review where the handler lacks the function of an outcome that moved money. */
const reasonWithout = (functions: Functions<never>, { call }: Verdict) =>
  call && !functions[call] && !isOnly(functions, 'onPayment') ? WITHOUT_FUNCTION[call] : undefined;

/** Collects the functions that a merchant's function leaves for after the commit. */
function worksAfterCommit() {
  const works: (() => unknown)[] = [];
  let isClosed = false;
  const add = (work: () => unknown): void => {
    if (isClosed) throw new Error('afterCommit was called after the function has returned: await what calls it.');
    if (typeof work !== 'function')
      throw new TypeError('afterCommit takes a function: afterCommit(() => sendReceipt()).');
    works.push(work);
  };
  const close = () => {
    isClosed = true;
  };
  return { works, add, close };
}

const tooLong = (ms: number) =>
  `The functions of the handler took more than ${ms} ms, so their transaction was rolled back, and they can run again. Use tx for every query in them: a second connection never comes where the pool has only one.`;

const uncertain = (paymentId: string): WebhookError =>
  new WebhookError(
    'effect_uncertain',
    `A function of the handler was cut off for payment ${paymentId}, and a part of its writes may be committed. Look at gateway.reviews(), complete it by hand, then call gateway.resolveReview.`,
    [],
    { paymentId },
  );
