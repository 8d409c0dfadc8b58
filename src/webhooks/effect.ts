// Applies a payment's status once: settle its create, then the merchant's functions and the rows in one transaction.
import { withTimeout } from '../deadline.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import { EffectCutOff, type LockedRows, type RowKey, type StoreRow } from '../store/contract.ts';
import { type CreateRow, createOf } from '../store/rules/create-row.ts';
import { decide, judge, rowsAfter, type Verdict, WITHOUT_FUNCTION } from '../store/rules/outcomes.ts';
import { after, type KeptReview, paymentDataOf, paymentRowOf, reviewOf } from '../store/rules/payment-row.ts';
import { acknowledge } from '../store/rules/transitions.ts';
import { isOfMerchant, remembering } from '../store/thrown.ts';
import { Call } from '../telemetry/call.ts';
import type { Endpoint } from './endpoint.ts';
import { type Context, FUNCTIONS, type PaymentOutcome } from './functions.ts';
import { reportAfterCommit, reportReview, unhandled } from './reply.ts';
import type { Turn } from './turns.ts';

/** Milliseconds for each function passed to `afterCommit`. */
const LONGEST_AFTER_COMMIT = 25_000;

/** Made once, because making it costs more than the rest of an abort. */
const ENDED = new DOMException('The function has returned, or its time is over.', 'AbortError');

type Works = (() => unknown)[];

/** The result of one transaction, with the functions for after its commit. */
interface Ran extends Turn {
  rows?: StoreRow[];
  review?: KeptReview | undefined;
  works?: Works;
}

/** Runs the effect of a payment's status, unless it ran before. @param seen allows it after another final status */
export async function takeEffect(endpoint: Endpoint, payment: Payment, call: Call, seen: number): Promise<Turn> {
  const { link, store, onPayment } = endpoint;
  const create = await link?.reconcile(payment, true);
  // Only onPayment gets the first status, so otherwise that needs no row.
  if (payment.paymentStatus === 'PENDING' && !onPayment) return { result: 'already', payment };
  const id = payment.id.toLowerCase();
  const reads: RowKey[] = create ? [{ kind: 'create', id: create.reference }] : [];
  if (create?.order) reads.push({ kind: 'order', id: create.order });
  const review = reviewOf(payment, 'effect_uncertain', create);
  let ran: Ran = {};
  try {
    const result = await store.effect({ id, about: review, reads }, async locked => {
      // May run again after a rollback.
      ran = await apply(endpoint, payment, seen, locked);
      return ran.rows;
    });
    if (result === 'busy') return { result, payment };
    if (result === 'uncertain') throw new EffectCutOff('An earlier effect of the payment was cut off.');
  } catch (error) {
    // By name, because the store may be of another copy of the SDK.
    const isCutOff = (error as Error | undefined)?.name === 'EffectCutOff';
    // The order shows the status, although the effect failed.
    if (isCutOff || isOfMerchant(error)) await link?.reconcile(payment).catch(() => {});
    if (!isCutOff) throw error;
    reportReview(endpoint, call, review);
    const message = `A function of the handler was cut off for payment ${payment.id}, and a part of its writes may be committed. Check gateway.reviews(), complete the writes by hand, then call gateway.resolveReview.`;
    throw unhandled('effect_uncertain', message, payment.id, error);
  }
  // The payment's turn ends at the commit.
  void finish(endpoint, call, ran);
  return { ...ran, payment };
}

async function apply(endpoint: Endpoint, payment: Payment, seen: number, locked: LockedRows<unknown>): Promise<Ran> {
  const { tx, payment: before } = locked;
  const [createRow, orderRow] = locked.rows;
  const status = rawStatusOf(payment);
  const id = payment.id.toLowerCase();
  const known = paymentDataOf(before);
  const storedCreate = createRow && createOf(createRow);
  // It records a status that takes effect now, or took effect before.
  const create = storedCreate && acknowledge(storedCreate, payment);
  // Without a store of the client, only `onPayment` runs.
  const verdict: Verdict = endpoint.link?.store ? judge({ payment, known, create, orderRow }) : {};
  const result = decide(before, status, seen, verdict);
  if (result === 'again') return { result: 'busy', seen: before?.revision };
  if (result === 'already') {
    if (create === storedCreate) return { result };
    return { result, rows: [paymentRowOf(id, known, before), ...rowsAfter({}, create)] };
  }
  const { call } = verdict;
  const { onPayment, onReview } = endpoint;
  const onOutcome = call && endpoint[call];
  // A handler with only `onPayment` handles all outcomes with it.
  const isMissing = call && !onOutcome && FUNCTIONS.some(name => name !== 'onPayment' && endpoint[name]);
  const reason = verdict.reason ?? (isMissing ? WITHOUT_FUNCTION[call] : undefined);
  const review = reason && reviewOf(payment, reason, create);
  const reference = create?.reference ?? payment.reference ?? undefined;
  const outcome = { order: create?.order, reference, payment } as PaymentOutcome;
  const wasPaidOut = call === 'onPayoutFailed' && { wasPaidOut: known.outcome === 'paid_out' };
  const works = await callInTime(endpoint, tx, async context => {
    // It may have got it while the create was in doubt.
    if (status !== known.status) await onPayment?.(payment, context);
    if (reason) await onReview?.({ ...outcome, reason }, context);
    else await onOutcome?.({ ...outcome, ...wasPaidOut } as never, context);
  });
  const next = paymentRowOf(id, after(known, status, verdict.outcome, review), before);
  return { result: 'ran', review, works, rows: [next, ...rowsAfter(verdict, create, orderRow, storedCreate)] };
}

/** Runs the merchant's functions in time. @returns their functions for after the commit */
async function callInTime(endpoint: Endpoint, tx: unknown, calls: (context: Context<unknown>) => Promise<unknown>) {
  const { effectTimeout: ms } = endpoint;
  const stop = new AbortController();
  const works: Works = [];
  const afterCommit = (work: () => unknown) => {
    if (stop.signal.aborted)
      throw new Error('afterCommit was called after the function has returned: await the code that calls it.');
    works.push(work);
  };
  const tooLong = `The functions of the handler took more than ${ms} ms. Their transaction was rolled back, and they can run again. Use tx for every query in them: a pool of one connection never has a second one.`;
  const run = () => withTimeout(calls({ tx, signal: stop.signal, afterCommit }), ms, tooLong);
  await remembering(run).finally(() => stop.abort(ENDED));
  return works;
}

/** Reports a review, and runs the functions in order. An endless one goes on alone. */
async function finish(endpoint: Endpoint, call: Call, { review, works = [] }: Ran) {
  if (review) reportReview(endpoint, call, review);
  for (const work of works) {
    const running = withTimeout(
      remembering(work),
      LONGEST_AFTER_COMMIT,
      `It did not end within ${LONGEST_AFTER_COMMIT} ms.`,
    );
    await running.catch(error => reportAfterCommit(endpoint, call, error));
  }
}

export async function reviewRefused(endpoint: Endpoint, refused: CreateRow): Promise<void> {
  const { store, onReview } = endpoint;
  const { reference, paymentType, amount, currency } = refused;
  const reason = 'payout_refused';
  const review: KeptReview = { status: 'REFUSED', reason, since: Date.now(), reference, paymentType, amount, currency };
  let works: Works = [];
  const result = await store.effect({ id: reference, about: review, reads: [] }, async ({ tx, payment: row }) => {
    works = await callInTime(endpoint, tx, async context => onReview?.({ reference, reason }, context));
    return [paymentRowOf(reference, after(paymentDataOf(row), review.status, undefined, review), row)];
  });
  // Upkeep tries it again.
  if (result === 'busy') throw unhandled('busy', `The review of ${JSON.stringify(reference)} is being written.`);
  const call = Object.assign(new Call('callback'), { paymentId: reference });
  if (result === 'done') void finish(endpoint, call, { review, works });
}
