// Resolves a create whose reference is taken: returns the payment of the same request, or settles the doubt.
import { isPaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { isFinal } from '../../schemas/records/payment-status.ts';
import type { Envelope } from '../../schemas/records/response.ts';
import { type Attempt, type CreateRow, isUnderWay, type ReadRow } from '../rules/create-row.ts';
import { expectSameRequest } from '../rules/fingerprint.ts';
import { withNextAction } from '../rules/kept.ts';
import { isFailed, observe } from '../rules/transitions.ts';
import { change, waitForRecording } from './change.ts';
import { inDoubt, type SettlingCall, settleKnown, unlessMissing } from './doubts.ts';
import type { WaitLimits } from './in-flight.ts';
import { type StoreCall, warn } from './reports.ts';

export interface CreatedOnce extends Envelope {
  replayed: boolean;
  stale: boolean;
}

export interface Replayable extends StoreCall, WaitLimits {
  attempt: Attempt;
  lookUp(paymentId: string, limits: WaitLimits): Promise<Payment>;
}

/** @param row of a taken reference @throws {DuplicateReferenceError} @throws {PaymentInDoubtError} */
export async function resume(create: Replayable, row: ReadRow): Promise<CreatedOnce> {
  const { reference, result: known } = row;
  expectSameRequest(row, create.attempt);
  const client = { ...create, readPayment: (id: string) => create.lookUp(id, create) };
  if (known) {
    const latest = await latestOf(client, row, known).catch(() => undefined);
    const { payment } = latest ?? known;
    if (!latest) {
      warn(create, 'stale_replay', { reference, paymentId: payment.id });
      return { ...known, replayed: true, stale: true };
    }
    // If it fails, a callback or a sweep records the status.
    const recording = change(create.store, row, current => observe(current, payment), row).catch(() => undefined);
    await waitForRecording(recording, create);
    return { ...latest, replayed: true, stale: false };
  }
  const underWay = isUnderWay(row);
  const payment = await settleKnown(client, row).catch(cause => {
    throw inDoubt(row, { underWay, cause });
  });
  if (!payment) throw inDoubt(row, { underWay });
  return { payment, replayed: true, stale: false };
}

/** The store has each final status, without a lookup. A failed payment stands behind another of the reference. */
async function latestOf({ readPayment }: SettlingCall, row: CreateRow, known: Envelope): Promise<Envelope> {
  const payment = isFinal(known.payment) ? known.payment : await readPayment(known.payment.id);
  for (const id of isFailed(payment) ? row.conflictingIds : []) {
    const other = await readPayment(id).catch(unlessMissing);
    if (other?.reference === row.reference && isPaymentOf(row, other) && !isFailed(other)) return { payment: other };
  }
  return withNextAction(known, { payment });
}
