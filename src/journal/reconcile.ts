// Tells the journal of a payment that a lookup has confirmed: it settles the doubt of its reference.
import { randomUUID } from 'node:crypto';
import { differencesOf, foldReference, hasReference } from '../schemas/matching.ts';
import { isSamePayment, type Payment } from '../schemas/payment.ts';
import { bounded, change, type Found } from './change.ts';
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
  const { key, known } = await find(client, payment, reference);
  const confirmed = { key, payment, attemptId: randomUUID() };
  const tell = (disproved?: readonly string[], known?: Found) =>
    change(journal, key, (row, now) => reconcile(row, confirmed, now, disproved), { known });
  let step = await tell([], known);
  if (step.otherPayment && step.row?.state === 'begun') {
    const disproved = await disprove(step.row, readPayment);
    if (disproved.length > 0) step = await tell(disproved);
  }
  if (step.outcome) report(client, step.outcome, key.reference, id);
  if (step.otherPayment) reportConflict(client, key.reference, id, step.otherPayment.id);
  if (step.isMismatch && step.row) warnMismatch(client, key.reference, payment, differencesOf(step.row, payment));
}

/** A reference, and its row as it was found. */
interface Known {
  key: JournalKey;
  known: Found;
}

/**
 * The reference as it was created: a gateway may trim and fold it. Looked for where there is none of the payment's own: it
 * is the one in lower case, if that has this payment, or the one doubt that it can be.
 */
async function find({ journal, scope }: ClientJournal, payment: Payment, reference: string): Promise<Known> {
  const readRow = async (reference: string): Promise<Known> => {
    const key = { scope, reference };
    return { key, known: await bounded(journal.read(key)) };
  };
  const own = await readRow(reference);
  if (own.known.row && own.known.row.state !== 'freed') return own;
  const lowerCase = foldReference(reference);
  if (lowerCase !== reference) {
    const folded = await readRow(lowerCase);
    const { paymentId } = folded.known.row ?? {};
    if (paymentId && isSamePayment(paymentId, payment.id)) return folded;
  }
  const { rows, now } = await bounded(journal.list({ scope, states: ['begun'] }));
  const [row, another] = rows.filter(({ reference }) => hasReference(payment, reference));
  return row && !another ? { key: { scope, reference: row.reference }, known: { row, now } } : own;
}

/** The doubt's own id, if the gateway has no such payment or it is another's. If that cannot be known, it stays. */
async function disprove(row: JournalRow, readPayment: ReadPayment): Promise<readonly string[]> {
  if (!row.paymentId) return [];
  return examine(row, [row.paymentId], readPayment, hasItsReference).then(
    ({ disproved }) => disproved,
    () => [],
  );
}
