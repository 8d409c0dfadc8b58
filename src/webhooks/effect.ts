// Applies a payment's status once: settle its create, then the merchant's functions and the rows in one transaction.
import { delay, withTimeout } from '../deadline.ts';
import { LAG_PAUSES } from '../payments/lookup.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import type { EffectResult, LockedRows, RowKey, Store, StoreRow } from '../store/contract.ts';
import { type CreateRow, createOf, storeRowOf } from '../store/rules/create-row.ts';
import { orderRowOf, orderStateOf } from '../store/rules/order-row.ts';
import {
  after,
  decide,
  judge,
  type KeptReview,
  type PaymentState,
  paymentRowOf,
  paymentStateOf,
  reviewOf,
  type Verdict,
  WITHOUT_FUNCTION,
} from '../store/rules/outcomes.ts';
import { acknowledge } from '../store/rules/transitions.ts';
import { isOfMerchant, ofMerchant, remembering } from '../store/thrown.ts';
import type { ProcessResult } from '../store/upkeep/handler-link.ts';
import type { CallbackWarningCode } from '../telemetry/events.ts';
import type { ClientLink } from './client-link.ts';
import { type Context, FUNCTIONS, type Functions, type PaymentOutcome } from './functions.ts';
import { unhandled } from './reply.ts';

interface About {
  paymentId: string;
  callId: string;
}

/** The reports of a handler besides the results of its callbacks. */
export interface Reports {
  warn(about: About, code: CallbackWarningCode, message: string): void;
  review(about: About, review: KeptReview): void;
  /** Gets the error of a function that waited for the commit. */
  afterCommitFailed(about: About, error: unknown): void;
}

export interface EffectSettings<Tx> {
  link: ClientLink<Tx> | undefined;
  /** Of the client, or of this process for a client without one. */
  store: Store<Tx>;
  lookUp(paymentId: string): Promise<Payment>;
  functions: Functions<Tx>;
  /** Milliseconds. */
  effectTimeout: number;
  reports: Reports;
}

/** Milliseconds for a function that waited for the commit. */
const LONGEST_AFTER_COMMIT = 25_000;

/** Runs of an effect, at most: another final status may take effect in between. */
const MOST_CONFLICTS = 3;

/** Made once, because the default reason of an abort costs more than the rest of it. */
const RETURNED = new Error('The function has returned.');

type Works = readonly (() => unknown)[];

/** The result of one transaction. */
interface Ran {
  /** `again`: another final status took effect before, in the payment's row of revision `seen`. */
  result: ProcessResult['result'] | 'again' | 'uncertain';
  seen?: number | undefined;
  rows?: StoreRow[];
  review?: KeptReview | undefined;
  afterCommit?: Works;
  /** Why the effect is uncertain, if this call saw it. */
  cause?: unknown;
}

export function createEffect<Tx>({ link, store, lookUp, functions, effectTimeout, reports }: EffectSettings<Tx>) {
  /** Without a store of the client, only `onPayment` runs. */
  const hasOutcomes = link?.store !== undefined;
  /** Whether `onPayment` is not the only function: then an outcome without its function goes to review. */
  const hasOthers = FUNCTIONS.some(name => name !== 'onPayment' && functions[name]);

  /** Runs the merchant's functions, with a time limit. @returns their functions for after the commit */
  const callInTime = async (tx: Tx, calls: (context: Context<Tx>) => Promise<unknown>) => {
    const stop = new AbortController();
    const works: (() => unknown)[] = [];
    const afterCommit = (work: () => unknown): void => {
      if (stop.signal.aborted)
        throw new Error('afterCommit was called after the function has returned: await the code that calls it.');
      if (typeof work !== 'function')
        throw new TypeError('afterCommit takes a function: afterCommit(() => sendReceipt()).');
      works.push(work);
    };
    const running = remembering(() => calls({ tx, signal: stop.signal, afterCommit }));
    try {
      await withTimeout(running, effectTimeout, () => {
        stop.abort();
        throw ofMerchant(new Error(tooLong(effectTimeout)));
      });
      return works;
    } finally {
      stop.abort(RETURNED);
    }
  };

  /** Decides, and runs the functions of the status. @returns the result, and the rows to write */
  const apply = async (payment: Payment, seen: number | undefined, locked: LockedRows<Tx>): Promise<Ran> => {
    const status = rawStatusOf(payment);
    const decision = decide(locked.payment, status, seen);
    if (decision === 'again') return { result: decision, seen: locked.payment?.revision };
    const state = paymentStateOf(locked.payment);
    const [createRow, orderRow] = locked.rows;
    const create = createRow && createOf(createRow);
    const acknowledged = (row: CreateRow | undefined): StoreRow[] => {
      const next = row && (acknowledge(row, payment).next ?? row);
      return next && next !== create ? [storeRowOf(next)] : [];
    };
    const rowOf = (next: PaymentState) => paymentRowOf(payment.id.toLowerCase(), next, locked.payment);
    if (decision === 'already') {
      const late = acknowledged(create);
      return { result: decision, ...(late.length > 0 && { rows: [rowOf(state), ...late] }) };
    }
    const order = orderRow && orderStateOf(orderRow);
    const verdict: Verdict = hasOutcomes ? judge({ payment, state, create, order }) : { create, order };
    const { call, wasPaidOut } = verdict;
    const isMissing = call && !functions[call] && hasOthers;
    const reason = verdict.reason ?? (isMissing ? WITHOUT_FUNCTION[call] : undefined);
    const review = reason && reviewOf(payment, status, { reason, create, order: create?.order });
    const reference = verdict.create?.reference ?? payment.reference ?? undefined;
    const outcome = { order: verdict.create?.order, reference, payment } as PaymentOutcome;
    const afterCommit = await callInTime(locked.tx, async context => {
      await functions.onPayment?.(payment, context);
      if (reason) await functions.onReview?.({ ...outcome, reason }, context);
      else if (call) await functions[call]?.({ ...outcome, wasPaidOut } as never, context);
    });
    const rows = [rowOf(after(state, status, verdict, review)), ...acknowledged(verdict.create)];
    if (orderRow && verdict.order && verdict.order !== order)
      rows.push(orderRowOf(orderRow.id, verdict.order, orderRow));
    return { result: 'ran', review, afterCommit, rows };
  };

  const runOnce = async (payment: Payment, seen: number | undefined): Promise<Ran> => {
    const create = await link?.reconcile(payment, true);
    // A payment begins as PENDING. Only onPayment gets that, so otherwise it needs no row.
    if (payment.paymentStatus === 'PENDING' && !functions.onPayment) return { result: 'already' };
    const reads: RowKey[] = create ? [{ kind: 'create', id: create.reference }] : [];
    if (create?.order) reads.push({ kind: 'order', id: create.order });
    const about = reviewOf(payment, rawStatusOf(payment), { reason: 'effect_uncertain', create, order: create?.order });
    let ran: Ran = { result: 'busy' };
    // The store may run the work again after a rollback.
    const effect = store.effect({ id: payment.id.toLowerCase(), about, reads }, async locked => {
      ran = await apply(payment, seen, locked);
      return ran.rows;
    });
    let cause: unknown;
    const result = await effect.catch(async (error): Promise<EffectResult> => {
      cause = error;
      // By name, because two copies of the SDK may be loaded.
      if (error?.name === 'EffectCutOff') return 'uncertain';
      if (isOfMerchant(error)) await link?.reconcile(payment);
      throw error;
    });
    if (result !== 'busy' && result !== 'uncertain') return ran;
    await link?.reconcile(payment);
    return { result, cause };
  };

  /** Reports a review, and runs the functions in order. An endless one goes on alone. */
  const finish = async (about: About, review: KeptReview | undefined, works: Works = []) => {
    if (review) reports.review(about, review);
    for (const one of works) {
      try {
        const working = (async () => one())();
        await withTimeout(working, LONGEST_AFTER_COMMIT, `It did not end within ${LONGEST_AFTER_COMMIT} ms.`);
      } catch (error) {
        reports.afterCommitFailed(about, error);
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
    async takeEffect(found: Payment, callId: string): Promise<ProcessResult> {
      const about = { paymentId: found.id.toLowerCase(), callId };
      let payment = found;
      let seen: number | undefined;
      for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
        const ran = await runOnce(payment, seen);
        if (ran.result === 'uncertain') {
          reports.review(about, reviewOf(payment, rawStatusOf(payment), { reason: 'effect_uncertain' }));
          throw unhandled('effect_uncertain', cutOff(about.paymentId), about.paymentId, ran.cause);
        }
        // Not awaited: the payment's turn ends at the commit.
        void finish(about, ran.review, ran.afterCommit);
        if (ran.result !== 'again') return { result: ran.result, payment };
        seen = ran.seen;
        // The record may lag behind.
        await delay(LAG_PAUSES[0]);
        payment = await lookUp(payment.id);
      }
      return { result: 'busy', payment };
    },

    /** Lists a planned payout that the gateway refused for good, and calls `onReview`. */
    async reviewRefused(reference: string, callId: string): Promise<void> {
      const refused = { status: 'REFUSED', reason: 'payout_refused', reference } as const;
      const kept: KeptReview = { ...refused, since: Date.now(), paymentType: 'WITHDRAWAL' };
      const reads: RowKey[] = [{ kind: 'create', id: reference }];
      let afterCommit: Works = [];
      const result = await store.effect({ id: reference, about: kept, reads }, async ({ tx, payment: row, rows }) => {
        const { amount, currency } = (rows[0]?.data ?? {}) as KeptReview;
        const { reason } = refused;
        afterCommit = await callInTime(tx, async context => functions.onReview?.({ reference, reason }, context));
        const state = after(paymentStateOf(row), refused.status, {}, { ...kept, amount, currency });
        return [paymentRowOf(reference, state, row)];
      });
      // Upkeep tries it again.
      if (result === 'busy') throw unhandled('busy', `The review of ${JSON.stringify(reference)} is being written.`);
      if (result === 'done') void finish({ paymentId: reference, callId }, kept, afterCommit);
    },

    /** Returns every status of a payment that has taken effect. */
    async handledStatuses(paymentId: string): Promise<readonly string[]> {
      const { row } = await store.read({ kind: 'payment', id: paymentId.toLowerCase() });
      return paymentStateOf(row).statuses;
    },
  };
}

const tooLong = (ms: number) =>
  `The functions of the handler took more than ${ms} ms. Their transaction was rolled back, and they can run again. Use tx for every query in them: a pool of one connection never has a second one.`;

const cutOff = (paymentId: string) =>
  `A function of the handler was cut off for payment ${paymentId}, and a part of its writes may be committed. Check gateway.reviews(), complete the writes by hand, then call gateway.resolveReview.`;
