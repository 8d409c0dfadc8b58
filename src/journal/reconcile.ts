// Tells the journal of a payment that a lookup has confirmed: it settles the doubt of its reference.
import { randomUUID } from 'node:crypto';
import { differencesOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { change } from './change.ts';
import type { JournalRow } from './contract.ts';
import { examine, hasItsReference, type ReadPayment } from './evidence.ts';
import { type ClientJournal, report, reportConflict, warnMismatch } from './reports.ts';
import { reconcile } from './transitions.ts';

/**
 * Records a payment that the gateway's own record proves: it settles the doubt of its reference, if it can be the payment
 * that was requested; a second payment of the same reference is kept beside the first.
 *
 * @throws what the journal throws: the callback must come again
 */
export async function reconcilePayment(
  client: ClientJournal,
  payment: Payment,
  readPayment: ReadPayment,
): Promise<void> {
  const { journal, scope } = client;
  const { id, reference } = payment;
  // A journal in Postgres holds no reference with a NUL, so there is nothing to settle.
  if (!reference || reference.includes('\0')) return;
  const confirmed = { key: { scope, reference }, payment, attemptId: randomUUID() };
  const tell = (disproved?: readonly string[]) =>
    change(journal, confirmed.key, (row, now) => reconcile(row, confirmed, now, disproved));
  let step = await tell();
  if (step.otherPayment && step.row?.state === 'begun') {
    const disproved = await disprove(step.row, readPayment);
    if (disproved.length > 0) step = await tell(disproved);
  }
  if (step.outcome) report(client, step.outcome, reference, id);
  if (step.otherPayment) reportConflict(client, reference, id, step.otherPayment.id);
  if (step.isMismatch && step.row) warnMismatch(client, reference, payment, differencesOf(step.row, payment));
}

/** The doubt's own id, if the gateway has no such payment or it is another's. If that cannot be known, it stays. */
async function disprove(row: JournalRow, readPayment: ReadPayment): Promise<readonly string[]> {
  if (!row.paymentId) return [];
  return examine(row, [row.paymentId], readPayment, hasItsReference).then(
    ({ disproved }) => disproved,
    () => [],
  );
}
