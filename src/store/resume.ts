// Resolves a create whose reference is taken: returns the payment of the same request, or examines the doubt.
import { PaymentInDoubtError } from '../errors.ts';
import { isSamePayment } from '../schemas/id.ts';
import { differencesOf, isPaymentOf, moneyDifferences } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal, isPaid } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';
import { bounded, type FoundRow, record, type Transition, waitForRecording } from './change.ts';
import type { JournalRow } from './creates.ts';
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
import { givePayment } from './owner.ts';
import { report, warnMismatch, warnNotRecorded, warnStale } from './reports.ts';
import { isUnderWay, type JournalAttempt, knownIds, type RowChange } from './row.ts';
import { expectSameRequest, refusePlan } from './same-request.ts';
import { isFailed, observe, settle } from './transitions.ts';

export interface Resumed extends Envelope {
  /** The lookup failed, so this is the last state in the store. */
  stale: boolean;
}

/**
 * @param found a taken reference
 * @throws {DuplicateReferenceError} the reference is planned, or belongs to another request
 * @throws {PaymentInDoubtError} an earlier create runs elsewhere, or its outcome is unknown
 */
export async function resume(
  create: JournaledCreate,
  attempt: JournalAttempt,
  found: FoundRow,
  limits: WaitLimits,
): Promise<Resumed> {
  const row = found.row as JournalRow;
  refusePlan(row, attempt);
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
  const anothers = new PaymentInDoubtError(row.reference, new Date(row.begunAt), { paymentId: payment.id });
  const give = () => record(create.journal, row, settleSame, found);
  const settleIt = async () => {
    const step = await givePayment(create.journal, payment.id, give, () => anothers);
    if (step?.next) report(create, 'settled', row.reference, payment.id);
    if (!step) warnNotRecorded(create, row.reference);
    return {};
  };
  const settled = await waitForRecording(
    settleIt().catch((failure: Error) => ({ failure })),
    limits,
  );
  if (settled && 'failure' in settled) throw settled.failure;
  return { payment, stale: false };
}

/** Returns the current payment. A final one is not looked up. If a lookup fails, the last known state is returned. */
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
    // A callback may have come during the lookup.
    const latest = await waitForRecording(bounded(create.journal.read(row)), limits);
    const { result = known } = latest?.row ?? {};
    if (isPaid(result.payment)) return { payment: result.payment, stale: false };
    warnStale(create, row.reference, payment.id);
    return { ...result, stale: true };
  }
}

/**
 * Returns another payment of the reference that has not failed, if any: its customer has paid or may still pay.
 *
 * @throws the lookup's error. It proves nothing about the payments
 */
async function better(row: JournalRow, failed: Payment, readPayment: ReadPayment): Promise<Payment> {
  for (const id of row.conflictingIds) {
    const other = await readPayment(id).catch(unlessMissing);
    if (other && !isFailed(other) && hasExactReference(row, other) && isPaymentOf(row, other)) return other;
  }
  return failed;
}

/** The reference of the own answer may be folded. A callback may name another order, so its must match exactly. */
const canBeOf = (row: JournalRow, payment: Payment): boolean =>
  row.paymentId && isSamePayment(row.paymentId, payment.id)
    ? hasItsReference(row, payment)
    : hasExactReference(row, payment);

/** Finds the payment of a doubt that knows ids. @throws {PaymentInDoubtError} unless one id surely is its payment */
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
