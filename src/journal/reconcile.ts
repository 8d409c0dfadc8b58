// Records a payment that a lookup has confirmed, and so settles the doubt of its reference.
import { randomUUID } from 'node:crypto';
import { isSamePayment } from '../schemas/id.ts';
import { differencesOf, foldReference, hasReference } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { isFinal } from '../schemas/payment-status.ts';
import { bounded, change, type FoundRow } from './change.ts';
import type { JournalKey, JournalRow } from './contract.ts';
import { examine, hasItsReference, type ReadPayment, unlessMissing } from './evidence.ts';
import { isKeepable, readRow } from './key.ts';
import { type ClientJournal, report, reportConflict, type ScopedJournal, warnMismatch } from './reports.ts';
import { acknowledge, reconcile, suspect } from './transitions.ts';

/**
 * Records a payment that the gateway's own record proves. It settles the doubt of its reference if it can be the
 * requested payment. A second payment of the reference is kept next to the first.
 *
 * @throws the journal's errors: the callback must come again
 */
export async function reconcilePayment(
  client: ClientJournal,
  payment: Payment,
  readPayment: ReadPayment,
): Promise<void> {
  const { journal } = client;
  const { id, reference } = payment;
  // Other references were never created here, so they have no doubt to settle.
  if (!reference || !isKeepable(reference)) return;
  const { key, known } = await find(client, payment, reference);
  const confirmed = { key, payment, attemptId: randomUUID() };
  const tell = (disproved?: readonly string[], known?: FoundRow) =>
    change(journal, key, (row, now) => reconcile(row, confirmed, now, disproved), { known });
  if (!known.row) await suspectFolded(client, payment);
  let step = await tell([], known);
  if (step.otherPayment && step.row?.state === 'begun') {
    const disproved = await disprove(step.row, readPayment);
    if (disproved.length > 0) step = await tell(disproved);
  }
  if (step.outcome) report(client, step.outcome, key.reference, id);
  if (step.otherPayment) reportConflict(client, key.reference, id, step.otherPayment.id);
  if (step.isMismatch && step.row) warnMismatch(client, key.reference, payment, differencesOf(step.row, payment));
}

/**
 * Records that the final status of a payment has taken effect, so that sweeps skip it.
 *
 * @throws the journal's errors
 */
export async function acknowledgePayment(client: ScopedJournal, payment: Payment): Promise<void> {
  const { reference } = payment;
  if (!reference || !isKeepable(reference) || !isFinal(payment)) return;
  const { key, known } = await find(client, payment, reference);
  await change(client.journal, key, row => acknowledge(row, payment), { known });
}

/** A reference with its row as read. */
interface Known {
  key: JournalKey;
  known: FoundRow;
}

/** Finds the payment's own reference, or its lower case if the journal knows it by that: gateways may fold. */
async function find({ journal, scope }: ScopedJournal, payment: Payment, reference: string): Promise<Known> {
  const findBy = async (reference: string): Promise<Known> => {
    const key = { scope, reference };
    return { key, known: await readRow(journal, key) };
  };
  const own = await findBy(reference);
  const lowerCase = foldReference(reference);
  if (own.known.row || lowerCase === reference) return own;
  const folded = await findBy(lowerCase);
  const { paymentId } = folded.known.row ?? {};
  return paymentId && isSamePayment(paymentId, payment.id) ? folded : own;
}

/**
 * Marks doubts of another spelling that a folding gateway may have meant. An operator must decide. Until then the mark
 * prevents a mistaken `not_created`.
 */
async function suspectFolded(client: ClientJournal, payment: Payment): Promise<void> {
  const { journal, scope } = client;
  const { rows, now } = await bounded(journal.list({ scope, states: ['begun'] }));
  for (const row of rows.filter(({ reference }) => hasReference(payment, reference))) {
    const known = { row, now };
    const { isNew } = await change(journal, row, current => suspect(current, payment), { known });
    if (isNew) warnMismatch(client, row.reference, payment, ['reference']);
  }
}

/** Returns the doubt's own id if it is not this doubt's payment. If the lookup fails, the id stays. */
async function disprove(row: JournalRow, readPayment: ReadPayment): Promise<readonly string[]> {
  if (!row.paymentId) return [];
  // A 404 page counts too: the payment confirmed a moment ago shows that the gateway itself answers.
  const read = (id: string) => readPayment(id).catch(unlessMissing);
  return examine(row, [row.paymentId], read, hasItsReference).then(
    ({ disproved }) => disproved,
    () => [],
  );
}
