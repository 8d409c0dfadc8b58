// Settles the doubts of a journal: by a payment that a lookup has confirmed, or by the word of an operator.
import { randomUUID } from 'node:crypto';
import { InvalidRequestError, PaymentInDoubtError } from '../errors.ts';
import { isSamePayment } from '../payment-id.ts';
import type { Payment } from '../schemas/payment.ts';
import { canonicalAmount, UNSEEN } from './canonical.ts';
import { isPaymentOf, twoPayments, type Warn } from './create-once.ts';
import type { Journal, JournalKey, JournalRecord, JournalResult } from './journal.ts';

/** How often a doubt may change under us before we give up: each change means that somebody else has settled it. */
const MOST_TRIES = 5;

/**
 * Tells the journal of a payment that the gateway's own record proves. A doubt of its reference is settled, if the
 * payment can be the one that was asked for; a second payment of the same reference is kept beside the first.
 *
 * @throws what the journal throws: the callback must come again
 */
export async function reconcile(
  journal: Journal,
  key: JournalKey,
  result: JournalResult,
  warn: Warn,
): Promise<void> {
  const { payment } = result;
  const { id } = payment;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const standing = await journal.read(key);
    if (!standing) {
      // Nobody knows of its create any more, or ever did: it was given up, or made by other means. It must not be paid
      // again under this reference.
      const token = randomUUID();
      if (await journal.begin({ ...key, token, ...requestOf(payment) })) continue;
      if (await journal.settle(key, token, result)) return;
      continue;
    }
    const { token, paymentId } = standing;
    if (paymentId && !isSamePayment(paymentId, id)) {
      await journal.keepStray(key, token, id);
      return warn('journal_two_payments', twoPayments(key.reference, paymentId, id), id);
    }
    if (standing.result) return;
    if (!isPaymentOf(standing, payment)) {
      return warn(
        'journal_mismatch',
        `Payment ${id} is not the one that was asked for under its reference.`,
        id,
      );
    }
    if (await journal.settle(key, token, result)) return;
  }
  throw new Error(`The journal's record of ${JSON.stringify(key.reference)} kept changing: try again.`);
}

/** As much of the request as its payment tells. */
const requestOf = (payment: Payment) => ({
  paymentType: payment.paymentType,
  paymentMethod: payment.paymentMethod ?? '',
  amount: canonicalAmount(payment.amount),
  currency: payment.currency,
  bodyHash: UNSEEN,
  timeoutMs: 0,
});

/** Asks the gateway whether it has a payment. */
type Exists = (paymentId: string) => Promise<boolean>;

/**
 * An id in an error's body may be that of anything. Before an operator's word is weighed against it, it is looked up.
 *
 * @returns the suspected id, if the gateway knows no payment of it
 */
async function disprovedOf(
  { paymentId, result }: JournalRecord,
  exists: Exists,
): Promise<string | undefined> {
  return paymentId && !result && !(await exists(paymentId)) ? paymentId : undefined;
}

/**
 * An operator's word that this payment is the one in doubt.
 *
 * @throws {InvalidRequestError} if the journal has no such reference, or the payment cannot be that of the doubt
 */
export async function settleWith(
  journal: Journal,
  key: JournalKey,
  result: JournalResult,
  exists: Exists,
): Promise<void> {
  const { payment } = result;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const standing = await find(journal, key);
    const isSuspected = standing.paymentId && isSamePayment(standing.paymentId, payment.id);
    const disproved = isSuspected ? undefined : await disprovedOf(standing, exists);
    const differing = differences(key, standing, payment, disproved);
    if (differing.length > 0) throw refused('paymentId', `is a payment of another ${differing.join(', ')}`);
    if (standing.result || (await journal.settle(key, standing.token, result, disproved))) return;
  }
  throw new PaymentInDoubtError(key.reference, new Date());
}

/**
 * An operator's word that the gateway has no payment of this reference.
 *
 * @throws {InvalidRequestError} if the journal has no such reference, or knows its payment
 * @throws {PaymentInDoubtError} while the create may still be under way
 */
export async function settleWithout(journal: Journal, key: JournalKey, exists: Exists): Promise<void> {
  const standing = await find(journal, key);
  const { token, paymentId, since, strayIds } = standing;
  const disproved = await disprovedOf(standing, exists);
  const known = (disproved ? undefined : paymentId) ?? strayIds?.[0];
  if (known) throw refused('reference', `has payment ${known}: settle it with that id`);
  if (!(await journal.abandon(key, token, disproved)))
    throw new PaymentInDoubtError(key.reference, since, { isTooEarly: true });
}

async function find(journal: Journal, key: JournalKey): Promise<JournalRecord> {
  const standing = await journal.read(key);
  if (!standing)
    throw refused('reference', 'is not in the journal: nothing was created under it, or it is free again');
  return standing;
}

function differences(
  key: JournalKey,
  standing: JournalRecord,
  payment: Payment,
  disproved: string | undefined,
): string[] {
  const differing: string[] = [];
  // A record without one is for the operator to know.
  if (payment.reference && payment.reference.trim() !== key.reference.trim()) differing.push('reference');
  if (!isPaymentOf(standing, payment)) differing.push('type, amount or currency');
  const known = standing.paymentId;
  if (known && known !== disproved && !isSamePayment(known, payment.id))
    differing.push(`id: the journal has ${known}`);
  return differing;
}

const refused = (path: string, message: string) => new InvalidRequestError([{ path, message }]);
