// Tells the journal of a payment that a lookup has confirmed: it settles the doubt of its reference.
import { randomUUID } from 'node:crypto';
import { differencesOf, foldReference, hasReference } from '../schemas/matching.ts';
import { isSamePayment, type Payment } from '../schemas/payment.ts';
import { bounded, change } from './change.ts';
import type { JournalKey, JournalRow } from './contract.ts';
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
  const { journal } = client;
  const { id, reference } = payment;
  // A journal in Postgres holds no reference with a NUL, so there is nothing to settle.
  if (!reference || reference.includes('\0')) return;
  const confirmed = { key: await keyOf(client, payment, reference), payment, attemptId: randomUUID() };
  const tell = (disproved?: readonly string[]) =>
    change(journal, confirmed.key, (row, now) => reconcile(row, confirmed, now, disproved));
  let step = await tell();
  if (step.otherPayment && step.row?.state === 'begun') {
    const disproved = await disprove(step.row, readPayment);
    if (disproved.length > 0) step = await tell(disproved);
  }
  if (step.outcome) report(client, step.outcome, confirmed.key.reference, id);
  if (step.otherPayment) reportConflict(client, confirmed.key.reference, id, step.otherPayment.id);
  if (step.isMismatch && step.row)
    warnMismatch(client, confirmed.key.reference, payment, differencesOf(step.row, payment));
}

/**
 * The reference as it was created: a gateway may trim and fold it. Looked for where there is none of the payment's own: it
 * is the one in lower case, if that has this payment, or the one doubt that it can be.
 */
async function keyOf({ journal, scope }: ClientJournal, payment: Payment, reference: string): Promise<JournalKey> {
  const own = { scope, reference };
  const known = async (key: JournalKey) => (await bounded(journal.read(key))).row;
  const row = await known(own);
  if (row && row.state !== 'freed') return own;
  const folded = { scope, reference: foldReference(reference) };
  if (folded.reference !== reference) {
    const found = await known(folded);
    if (found?.paymentId && isSamePayment(found.paymentId, payment.id)) return folded;
  }
  const { rows } = await bounded(journal.list({ scope, states: ['begun'] }));
  const [doubt, another] = rows.filter(row => hasReference(payment, row.reference));
  return doubt && !another ? { scope, reference: doubt.reference } : own;
}

/** The doubt's own id, if the gateway has no such payment or it is another's. If that cannot be known, it stays. */
async function disprove(row: JournalRow, readPayment: ReadPayment): Promise<readonly string[]> {
  if (!row.paymentId) return [];
  return examine(row, [row.paymentId], readPayment, hasItsReference).then(
    ({ disproved }) => disproved,
    () => [],
  );
}
