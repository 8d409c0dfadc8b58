// A create that found its reference taken: by the same request, whose payment it gets, or by a doubt.
import { PaymentInDoubtError } from '../errors.ts';
import { isSamePayment } from '../schemas/id.ts';
import { differencesOf, isPaymentOf, moneyDifferences } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, isPaid } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';
import { bounded, type FoundRow, record, type Transition, waitForRecording } from './change.ts';
import type { JournalRow } from './contract.ts';
import {
  type Examined,
  examine,
  hasExactReference,
  hasItsReference,
  type ReadPayment,
  unlessMissing,
} from './evidence.ts';
import type { WaitLimits } from './in-flight.ts';
import type { JournaledCreate } from './journaled-create.ts';
import { withNextAction } from './kept.ts';
import { report, warnMismatch, warnNotRecorded, warnStale } from './reports.ts';
import { isUnderWay, type JournalAttempt, knownIds, type RowChange } from './row.ts';
import { expectSameRequest } from './same-request.ts';
import { isFailed, observe, settle } from './transitions.ts';

/** The payment of a reference. */
export interface Resumed extends Envelope {
  /** It could not be looked up, and is as the journal last saw it. */
  stale: boolean;
}

/**
 * @param found taken
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} an earlier create runs elsewhere, or its outcome is unknown
 */
export async function resume(
  create: JournaledCreate,
  attempt: JournalAttempt,
  found: FoundRow,
  limits: WaitLimits,
): Promise<Resumed> {
  const row = found.row as JournalRow;
  expectSameRequest(row, attempt);
  const { deadline, signal } = limits;
  const readPayment = (id: string) => create.lookUp(id, { timeout: deadline.timeout, signal });
  if (row.result) {
    const replayed = await replay(create, row, row.result, readPayment, limits);
    const observeIt: Transition<RowChange> = current => observe(current, replayed);
    await waitForRecording(record(create.journal, row, observeIt, found), limits);
    report(create, 'replayed', row.reference, replayed.payment.id);
    return replayed;
  }
  const { payment, disproved } = await findPayment(create, found, readPayment);
  const settleSame: Transition<RowChange> = current =>
    current?.attemptId === row.attemptId ? settle(current, { payment }, { disproved }) : {};
  const settleIt = async () => {
    const step = await record(create.journal, row, settleSame, found);
    if (step?.next) report(create, 'settled', row.reference, payment.id);
    if (!step) warnNotRecorded(create, row.reference);
    return step;
  };
  await waitForRecording(settleIt(), limits);
  return { payment, stale: false };
}

/** The payment as it is now. A final one changes no more; one that cannot be looked up is as it was last seen. */
async function replay(
  create: JournaledCreate,
  row: JournalRow,
  known: Envelope,
  readPayment: ReadPayment,
  limits: WaitLimits,
): Promise<Resumed> {
  const { payment } = known;
  if (isFinal(payment) && !isFailed(payment)) return { payment, stale: false };
  try {
    const seen = isFinal(payment) ? payment : await readPayment(payment.id);
    if (isFailed(seen)) return { payment: await better(row, seen, readPayment), stale: false };
    return { ...withNextAction(known, { payment: seen }), stale: false };
  } catch {
    // A callback may have come while the lookup was waited for.
    const latest = await waitForRecording(bounded(create.journal.read(row)), limits);
    const { result = known } = latest?.row ?? {};
    if (isPaid(result.payment)) return { payment: result.payment, stale: false };
    warnStale(create, row.reference, payment.id);
    return { ...result, stale: true };
  }
}

/**
 * Of several payments of a reference one that has not failed counts more: its customer has paid, or may still do so.
 *
 * @throws what a lookup throws: nothing is known then
 */
async function better(row: JournalRow, failed: Payment, readPayment: ReadPayment): Promise<Payment> {
  for (const id of row.conflictingIds) {
    const other = await readPayment(id).catch(unlessMissing);
    if (other && !isFailed(other) && hasExactReference(row, other) && isPaymentOf(row, other)) return other;
  }
  return failed;
}

/** What the own answer has named may be folded. What a callback has named must not: it may be another order's. */
const canBeOf = (row: JournalRow, payment: Payment): boolean =>
  row.paymentId && isSamePayment(row.paymentId, payment.id)
    ? hasItsReference(row, payment)
    : hasExactReference(row, payment);

/** The payment of a doubt that knows ids. @throws {PaymentInDoubtError} unless one of them is surely it */
async function findPayment(create: JournaledCreate, { row: begun, now }: FoundRow, readPayment: ReadPayment) {
  const row = begun as JournalRow;
  const { reference } = row;
  const underWay = isUnderWay(row, now);
  const ids = knownIds(row);
  const [paymentId] = ids;
  const inDoubt = (cause?: unknown) =>
    new PaymentInDoubtError(reference, new Date(row.begunAt), { paymentId, underWay, cause });
  let examined: Examined;
  try {
    examined = await examine(row, ids, readPayment, canBeOf);
  } catch (cause) {
    throw inDoubt(cause);
  }
  const { match: payment, disproved, others } = examined;
  const isAskedFor = payment && moneyDifferences(row, payment).length === 0;
  const isOwn = payment && row.paymentId && isSamePayment(row.paymentId, payment.id);
  const isEarlier = row.isRetry && payment && isFailed(payment) && !isOwn;
  if (isAskedFor && !isEarlier) return { payment, disproved };
  const [suspect = payment] = others;
  if (suspect && !isEarlier) warnMismatch(create, reference, suspect, differencesOf(row, suspect));
  throw inDoubt();
}
