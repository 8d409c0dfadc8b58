// Settles the doubts of a journal: by a payment that a lookup has confirmed, or by what an operator says.
import { randomUUID } from 'node:crypto';
import { InvalidRequestError, PaymentInDoubtError, PaymentNotFoundError } from '../errors.ts';
import { isPaymentId, isSamePayment, type Payment } from '../schemas/payment.ts';
import { bounded, change } from './change.ts';
import type { Doubt, Journal, JournalKey, JournalRow } from './contract.ts';
import { abandon, isPaymentOf, reconcile, settle } from './transitions.ts';
import { type ClientJournal, warnMismatch, warnTwoPayments } from './warnings.ts';

/**
 * Records a payment that the gateway's own record proves: it settles the doubt of its reference, if it can be the payment
 * that was requested; a second payment of the same reference is kept beside the first.
 *
 * @throws what the journal throws: the callback must come again
 */
export async function reconcilePayment(client: ClientJournal, payment: Payment): Promise<void> {
  const { journal, scope } = client;
  const { id, reference } = payment;
  // A journal in Postgres holds no reference with a NUL, so there is nothing to settle.
  if (!reference || reference.includes('\0')) return;
  const key = { scope, reference };
  const attemptId = randomUUID();
  const step = await change(journal, key, (row, now) => reconcile(row, key, payment, attemptId, now));
  if (step.otherPayment) warnTwoPayments(client, reference, id, step.otherPayment.id);
  if (step.isMismatch) warnMismatch(client, reference, payment);
}

/** The doubts of one client's scope, the oldest first. */
export async function doubtsOf({ journal, scope }: ClientJournal): Promise<Doubt[]> {
  const { rows } = await bounded(journal.list({ scope, states: ['begun'] }));
  return rows.map(({ scope, reference, begunAt, paymentId }) => ({
    scope,
    reference,
    since: new Date(begunAt),
    paymentId,
  }));
}

/** Reads the gateway's own record. */
type ReadPayment = (paymentId: string) => Promise<Payment>;

const NEITHER = {
  path: 'paymentId',
  message: "must be the gateway's id of the payment, a UUID, or 'not_created'",
};

/**
 * Settles a doubt by what an operator says.
 *
 * @throws {InvalidRequestError} if the journal has no such reference, or the payment cannot be that of the doubt
 * @throws {PaymentInDoubtError} for `not_created` while the create may still be under way
 */
export async function settleDoubt(
  { journal, scope }: ClientJournal,
  reference: string,
  resolution: string,
  readPayment: ReadPayment,
): Promise<void> {
  const key = { scope, reference };
  if (resolution === 'not_created') return settleWithout(journal, key, readPayment);
  if (!isPaymentId(resolution)) throw new InvalidRequestError([NEITHER]);
  return settleWith(journal, key, await readPayment(resolution), readPayment);
}

async function settleWith(
  journal: Journal,
  key: JournalKey,
  payment: Payment,
  readPayment: ReadPayment,
): Promise<void> {
  const existing = await find(journal, key);
  const isSuspected = existing.paymentId && isSamePayment(existing.paymentId, payment.id);
  const nonexistentId = isSuspected ? undefined : await nonexistent(existing, readPayment);
  await change(journal, key, row => {
    if (!row || row.state === 'freed') throw unknownReference();
    const differing = differences(row, payment, nonexistentId);
    if (differing.length > 0) throw refused('paymentId', `differs from the journal in: ${differing.join(', ')}`);
    return settle(row, { payment }, nonexistentId);
  });
}

async function settleWithout(journal: Journal, key: JournalKey, readPayment: ReadPayment): Promise<void> {
  const nonexistentId = await nonexistent(await find(journal, key), readPayment);
  const { isTooEarly, since } = await change(journal, key, (row, now) => {
    if (!row || row.state === 'freed') throw unknownReference();
    const own = row.paymentId === nonexistentId ? undefined : row.paymentId;
    const known = own ?? row.conflictingIds[0];
    if (known) throw refused('reference', `has payment ${known}: settle it with that id`);
    return { ...abandon(row, now, nonexistentId), since: new Date(row.begunAt) };
  });
  if (isTooEarly) throw new PaymentInDoubtError(key.reference, since, { isTooEarly });
}

/**
 * An id in an error's body may be that of anything. Before what an operator says is compared with it, it is looked up.
 *
 * @returns the suspected id, if the gateway has no payment of it
 */
async function nonexistent({ state, paymentId }: JournalRow, readPayment: ReadPayment): Promise<string | undefined> {
  if (!paymentId || state !== 'begun') return undefined;
  return readPayment(paymentId).then(
    () => undefined,
    error => {
      if (error instanceof PaymentNotFoundError) return paymentId;
      throw error;
    },
  );
}

async function find(journal: Journal, key: JournalKey): Promise<JournalRow> {
  const { row } = await bounded(journal.read(key));
  if (!row || row.state === 'freed') throw unknownReference();
  return row;
}

function differences(row: JournalRow, payment: Payment, nonexistentId: string | undefined): string[] {
  const { paymentId: known } = row;
  const differing: string[] = [];
  // A record without a reference is for the operator to judge.
  if (payment.reference && payment.reference.trim() !== row.reference.trim()) differing.push('reference');
  if (!isPaymentOf(row, payment)) differing.push('type, amount or currency');
  if (known && known !== nonexistentId && !isSamePayment(known, payment.id)) differing.push(`id (known: ${known})`);
  return differing;
}

const unknownReference = () =>
  refused('reference', 'has no open create in the journal: nothing was created under it, or it was freed');

const refused = (path: string, message: string) => new InvalidRequestError([{ path, message }]);
