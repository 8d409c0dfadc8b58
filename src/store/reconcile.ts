// Records a payment that a lookup has confirmed, and so settles the doubt of its reference.
import { randomUUID } from 'node:crypto';
import { isSamePayment } from '../schemas/id.ts';
import { differencesOf, hasReference } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { bounded, change, type FoundRow, isTaken } from './change.ts';
import { reconcile, suspect } from './confirmed.ts';
import type { JournalKey, JournalRow } from './creates.ts';
import { examine, hasItsReference, type ReadPayment, unlessMissing } from './evidence.ts';
import { isKeepable } from './key.ts';
import { type ClientJournal, report, reportConflict, type ScopedJournal, warnMismatch } from './reports.ts';
import { observe } from './transitions.ts';

/**
 * Records a payment that the gateway's own record proves. It settles the doubt of its reference if it can be the
 * requested payment. A second payment of the reference is kept next to the first.
 *
 * @returns the create that it belongs to, or undefined if none was made here
 * @throws the store's errors: the callback must come again
 */
export async function reconcilePayment(
  client: ClientJournal,
  payment: Payment,
  readPayment: ReadPayment,
): Promise<JournalRow | undefined> {
  const { journal } = client;
  const { id } = payment;
  const found = await find(client, payment);
  if (!found) return undefined;
  const { key, known } = await findDoubtOf(client, payment, found);
  const confirmed = { key, payment, attemptId: randomUUID() };
  const tell = (disproved?: readonly string[], known?: FoundRow) =>
    change(journal, key, (row, now) => reconcile(row, confirmed, now, disproved), { known });
  let step: Awaited<ReturnType<typeof tell>>;
  try {
    step = await tell([], known);
  } catch (error) {
    if (!isTaken(error)) throw error;
    // An operator has given it to another reference.
    const { row } = await bounded(journal.owner(id));
    return row && (await change(journal, row, current => observe(current, { payment }))).row;
  }
  if (step.otherPayment && step.row?.state === 'begun') {
    const disproved = await disprove(step.row, readPayment);
    if (disproved.length > 0) step = await tell(disproved);
  }
  if (step.outcome) report(client, step.outcome, key.reference, id);
  if (step.otherPayment) reportConflict(client, key.reference, id, step.otherPayment.id);
  if (step.isMismatch && step.row) warnMismatch(client, key.reference, payment, differencesOf(step.row, payment));
  return step.row;
}

/** A reference with its row as read. */
interface Known {
  key: JournalKey;
  known: FoundRow;
}

/** Finds the payment's own reference or, if the store does not know it, the create that has the payment. */
async function find({ journal, scope }: ScopedJournal, { id, reference }: Payment): Promise<Known | undefined> {
  const key = reference && isKeepable(reference) ? { scope, reference } : undefined;
  const known = key && (await bounded(journal.read(key)));
  if (key && known?.row) return { key, known };
  const { row, now } = await bounded(journal.owner(id));
  return row ? { key: row, known: { row, now } } : key && { key, known: { now } };
}

/**
 * Finds the doubt that a folding gateway may have meant, if the store does not know the reference. It is the payment's
 * only if the doubt's own answer named the payment. Any other is marked for an operator, and until then cannot be
 * settled as `not_created`.
 */
async function findDoubtOf(client: ClientJournal, payment: Payment, found: Known): Promise<Known> {
  if (found.known.row) return found;
  const { journal } = client;
  const { rows, now } = await bounded(journal.list({ states: ['begun'] }));
  const doubts = rows.filter(({ reference }) => hasReference(payment, reference));
  const own = doubts.find(({ paymentId }) => paymentId && isSamePayment(paymentId, payment.id));
  if (own) return { key: own, known: { row: own, now } };
  for (const row of doubts) {
    const known = { row, now };
    const { isNew } = await change(journal, row, current => suspect(current, payment), { known });
    if (isNew) warnMismatch(client, row.reference, payment, ['reference']);
  }
  return found;
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
