// Resolves a create whose reference is taken: returns the payment of the same request, or settles the doubt.
import { PaymentInDoubtError } from '../../errors.ts';
import { isPaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { isFinal, isPaid } from '../../schemas/records/payment-status.ts';
import type { Envelope } from '../../schemas/records/response.ts';
import { type Attempt, type CreateRow, isUnderWay, knownIds } from '../rules/create-row.ts';
import { expectSameRequest } from '../rules/fingerprint.ts';
import { withNextAction } from '../rules/kept.ts';
import { isFailed, observe } from '../rules/transitions.ts';
import { type FoundRow, readCreate, record, waitForRecording } from './change.ts';
import { settleKnown, unlessMissing } from './doubts.ts';
import type { WaitLimits } from './in-flight.ts';
import { report, type StoreCall, warnStale } from './reports.ts';

interface Resumed extends Envelope {
  /** The lookup failed, so this is the last state in the store. */
  stale: boolean;
}

/** The parts of a create that a replay needs. */
interface Replayed extends StoreCall {
  lookUp(paymentId: string, limits: { timeout: number; signal?: AbortSignal | undefined }): Promise<Payment>;
}

/**
 * @param found a taken reference
 * @throws {DuplicateReferenceError} the reference is planned, or belongs to another request
 * @throws {PaymentInDoubtError} an earlier create runs elsewhere, or its outcome is unknown
 */
export async function resume(
  create: Replayed,
  attempt: Attempt,
  found: FoundRow,
  limits: WaitLimits,
): Promise<Resumed> {
  const row = found.row as CreateRow;
  expectSameRequest(row, attempt);
  const { deadline, signal } = limits;
  const readPayment = (id: string) => create.lookUp(id, { timeout: deadline.timeout, signal });
  if (row.result) {
    const replayed = await replay(create, row, row.result, readPayment, limits);
    await waitForRecording(
      record(create.store, row, current => observe(current, replayed), found),
      limits,
    );
    report(create, 'replayed', row.reference, replayed.payment.id);
    return replayed;
  }
  const [paymentId] = knownIds(row);
  const details = { paymentId, underWay: isUnderWay(row, found.now) };
  const inDoubt = (cause?: unknown) =>
    new PaymentInDoubtError(row.reference, new Date(row.begunAt), { ...details, cause });
  const payment = await settleKnown(create, { ...found, row }, readPayment).catch(cause => {
    throw inDoubt(cause);
  });
  if (!payment) throw inDoubt();
  return { payment, stale: false };
}

/** Returns the current payment. A final one is not looked up. If a lookup fails, the last known state is returned. */
async function replay(
  create: Replayed,
  row: CreateRow,
  known: Envelope,
  readPayment: (paymentId: string) => Promise<Payment>,
  limits: WaitLimits,
): Promise<Resumed> {
  const { payment } = known;
  if (isFinal(payment) && !isFailed(payment)) return { payment, stale: false };
  try {
    const seen = isFinal(payment) ? payment : await readPayment(payment.id);
    if (!isFailed(seen)) return { ...withNextAction(known, { payment: seen }), stale: false };
    // The customer of another payment of the reference has paid or may still pay.
    for (const id of row.conflictingIds) {
      const other = await readPayment(id).catch(unlessMissing);
      const isIts = other?.reference === row.reference && isPaymentOf(row, other);
      if (isIts && !isFailed(other)) return { payment: other, stale: false };
    }
    return { payment: seen, stale: false };
  } catch {
    // A callback may have come during the lookup.
    const latest = await waitForRecording(readCreate(create.store, row), limits).catch(() => undefined);
    const { result = known } = latest?.row ?? {};
    if (isPaid(result.payment)) return { payment: result.payment, stale: false };
    warnStale(create, row.reference, payment.id);
    return { ...result, stale: true };
  }
}
