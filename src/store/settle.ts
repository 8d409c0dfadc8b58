// Settles doubts by an operator's decision: with the payment, or without one.
import { InvalidRequestError, isGatewayError, PaymentInDoubtError } from '../errors.ts';
import { isPaymentId, isSamePayment } from '../schemas/id.ts';
import { isJson } from '../schemas/json.ts';
import { type Difference, differencesOf, mayBePaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { saysNothing } from '../statuses.ts';
import { change } from './change.ts';
import { DEFAULT_SETTLE_MARGIN } from './contract.ts';
import type { Journal, JournalKey, JournalRow } from './creates.ts';
import { type Examined, examine, hasExactReference, hasItsReference, isMissing, type ReadPayment } from './evidence.ts';
import { readRow } from './key.ts';
import { givePayment } from './owner.ts';
import { type ClientJournal, report, reportConflict } from './reports.ts';
import { knownIds } from './row.ts';
import { abandon, isFailed, settle, settleableAt } from './transitions.ts';

/** An operator's decision about a doubt. */
export interface Resolution {
  reference: string;
  /** The id of its payment, or `not_created`. */
  resolution: string;
  /** The fields that may differ. */
  despite: readonly Difference[];
}

const NEITHER = {
  path: 'paymentId',
  message: "must be the gateway's id of the payment, a UUID, or 'not_created'",
};

/**
 * Settles a doubt by an operator's decision.
 *
 * @throws {InvalidRequestError} if the reference is not in the store, or the payment differs in fields not named
 * @throws {PaymentInDoubtError} for `not_created` while the create may still arrive
 */
export async function settleDoubt(
  client: ClientJournal,
  { reference, resolution, despite }: Resolution,
  readPayment: ReadPayment,
): Promise<void> {
  const key = { scope: client.scope, reference };
  if (resolution === 'not_created') return settleWithout(client, key, despite, readPayment);
  if (!isPaymentId(resolution)) throw new InvalidRequestError([NEITHER]);
  return settleWith(client, key, await readPayment(resolution), despite, readPayment);
}

async function settleWith(
  client: ClientJournal,
  key: JournalKey,
  payment: Payment,
  despite: readonly Difference[],
  readPayment: ReadPayment,
): Promise<void> {
  const { journal } = client;
  const { paymentId: known, ...existing } = await findOpen(journal, key, payment);
  const isOther = existing.state === 'begun' && known !== undefined && !isSamePayment(known, payment.id);
  // An operator who names `paymentId` has compared both payments.
  const { disproved }: Pick<Examined, 'disproved'> =
    isOther && !despite.includes('paymentId')
      ? await examine(existing, [known], readPayment, hasItsReference)
      : { disproved: [] };
  const settleIt = (row: JournalRow | undefined) => {
    const open = openOf(row, payment);
    const stands = open.paymentId && !disproved.includes(open.paymentId) && !isSamePayment(open.paymentId, payment.id);
    if (stands && open.state === 'created')
      throw refused('reference', `has payment ${open.paymentId} already, and keeps it`);
    const differing: Difference[] = [...differencesOf(open, payment), ...(stands ? (['paymentId'] as const) : [])];
    if (open.state === 'planned') {
      throw refused('reference', "is planned, and was not sent yet: to withdraw it, settle it with 'not_created'");
    }
    const missing = differing.filter(name => !despite.includes(name));
    if (open.state !== 'created' && missing.length > 0) throw differs(open, payment, differing);
    return settle(open, { payment }, { disproved, isOtherId: despite.includes('paymentId') });
  };
  const step = await givePayment(journal, payment.id, () => change(journal, key, settleIt), belongsTo);
  if (step.next) report(client, 'settled', key.reference, payment.id);
  if (step.next && isOther && disproved.length === 0) reportConflict(client, key.reference, payment.id, known);
}

async function settleWithout(
  client: ClientJournal,
  key: JournalKey,
  despite: readonly Difference[],
  readPayment: ReadPayment,
): Promise<void> {
  const { journal } = client;
  const margin = journal.settleMargin ?? DEFAULT_SETTLE_MARGIN;
  const senseless = despite.filter(name => name !== 'paymentId');
  if (senseless.length > 0)
    throw refused('options.despite', `${senseless.join(', ')}: of no payment nothing can differ`);
  const existing = await findOpen(journal, key);
  if (existing.state === 'created') {
    throw refused('reference', `has payment ${existing.paymentId}: there is nothing to settle`);
  }
  // A payment with exactly this reference stays its payment: an operator cannot override it.
  const isOtherId = despite.includes('paymentId');
  const canBeOf = isOtherId ? hasExactReference : mayBePaymentOf;
  const readOther = (id: string) => readPayment(id).catch(error => unlessOther(error, id, key.reference));
  const read = isOtherId ? readOther : readPayment;
  const { match, disproved } = await examine(existing, knownIds(existing), read, canBeOf);
  if (match) throw hasPayment(match.id);
  const step = await change(journal, key, (row, now) => {
    const open = openOf(row);
    const [unexamined] = knownIds(open).filter(id => !disproved.includes(id));
    if (unexamined) throw hasPayment(unexamined);
    return { ...abandon(open, now, margin, disproved), open };
  });
  if (step.next) return report(client, 'freed', key.reference);
  const since = new Date(step.open.begunAt);
  throw new PaymentInDoubtError(key.reference, since, { settleableAt: new Date(settleableAt(step.open, margin)) });
}

/**
 * Returns undefined for a failed lookup that does not contradict the operator: the id belongs to another order.
 *
 * @throws errors that may pass in a moment; {@link InvalidRequestError} for a record with exactly the reference
 */
function unlessOther(error: unknown, id: string, reference: string): undefined {
  if (isMissing(error)) return;
  if (!isGatewayError(error)) throw error;
  if (error.name === 'ApiError' && !saysNothing(error.status)) return;
  // A proxy's page is not a record.
  if (error.name !== 'ResponseError' || !isJson(error.body)) throw error;
  const record = recordIn(error.body);
  const isIt = isPaymentId(record.id) && isSamePayment(record.id, id);
  if (isIt && record.reference === reference) throw hasUnreadable(id);
}

/** The record in an answer that the schema rejects, unchecked. */
function recordIn(body: string): { id?: unknown; reference?: unknown } {
  const answer = Object(JSON.parse(body));
  return Object(answer.result ?? answer);
}

async function findOpen(journal: Journal, key: JournalKey, payment?: Payment): Promise<JournalRow> {
  return openOf((await readRow(journal, key)).row, payment);
}

/**
 * @param payment the reference's payment, by the operator's word
 * @throws {InvalidRequestError} without anything to settle
 */
function openOf(row: JournalRow | undefined, payment?: Payment): JournalRow {
  if (row?.state === 'begun' || row?.state === 'created' || row?.state === 'planned') return row;
  if (row?.state !== 'freed')
    throw refused('reference', 'is not in the store: nothing was created under it in this scope');
  if (!payment)
    throw refused('reference', 'is free: its last create made no payment, or an operator has said so. Create it again');
  // Otherwise the next create would return the failed payment.
  if (isFailed(payment))
    throw refused(
      'paymentId',
      `is ${rawStatusOf(payment)}, and the reference is free already: it can be created again`,
    );
  return row;
}

/** @param owner the create that has the payment, unless it lost the payment meanwhile */
const belongsTo = (owner: JournalRow | undefined): InvalidRequestError =>
  refused('paymentId', `belongs to reference ${JSON.stringify(owner?.reference)}: look at the id again`);

/** Names the differing fields with both values, and the way to settle anyway. */
function differs(row: JournalRow, payment: Payment, differing: readonly Difference[]): InvalidRequestError {
  const parts = differing.map(name =>
    name === 'paymentId'
      ? `the store knows payment ${row.paymentId} for this reference too, so both may have been paid`
      : `${name} is ${textOf(payment[name])} and not ${textOf(row[name])}`,
  );
  const despite = `{ despite: [${differing.map(name => `'${name}'`).join(', ')}] }`;
  const message = `differs from the create: ${parts.join('; ')}. If it is the payment of this create anyway, pass ${despite}`;
  return refused('paymentId', message);
}

/** A payment's amount is a number, a row's is a string. */
const textOf = (value: unknown): string => JSON.stringify(String(value));

const hasPayment = (paymentId: string) =>
  refused(
    'reference',
    `has payment ${paymentId}: settle it with that id or, if that is another order's, pass { despite: ['paymentId'] }`,
  );

const hasUnreadable = (paymentId: string) =>
  refused(
    'reference',
    `has payment ${paymentId}, whose record this version cannot read: it stays in doubt until a version can. Nothing else may be paid for it`,
  );

const refused = (path: string, message: string) => new InvalidRequestError([{ path, message }]);
