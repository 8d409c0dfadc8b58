// Settles doubts by an operator's decision: with the payment, or without one.
import { InvalidRequestError } from '../../errors.ts';
import { isPaymentId } from '../../schemas/id.ts';
import { type Difference, differencesOf, mayBePaymentOf } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { rawStatusOf } from '../../schemas/records/payment-status.ts';
import { type CreateRow, isOwnPayment, knownIds, type ReadRow } from '../rules/create-row.ts';
import { UNSEEN } from '../rules/fingerprint.ts';
import { abandon, isFailed, settle, settleableAt, withoutIds, yieldPayment } from '../rules/transitions.ts';
import { change, isTaken, ownerOf, readCreate, type Transition } from './change.ts';
import { inDoubt, type SettlingCall, unlessMissing } from './doubts.ts';
import { report, reportConflict } from './reports.ts';

interface Resolution {
  reference: string;
  /** The id of its payment, or `not_created`. */
  resolution: string;
  despite: readonly Difference[];
}

const NEITHER = "must be the gateway's id of the payment, a UUID, or 'not_created'";

/** @throws {InvalidRequestError} */
export async function settleWith(client: SettlingCall, decision: Resolution): Promise<void> {
  const { store } = client;
  const { reference, resolution, despite } = decision;
  if (!isPaymentId(resolution)) throw refused('paymentId', NEITHER);
  const payment = await client.readPayment(resolution);
  const give: Transition = found => {
    const row = inStore(found);
    const { state, paymentId: known } = row;
    if (state === 'planned') throw refused('reference', PLANNED);
    // Otherwise the next create would return the failed payment.
    if (state === 'freed' && isFailed(payment))
      throw refused('paymentId', `is ${rawStatusOf(payment)}, and the reference is free already: create it again`);
    const other = isOwnPayment(row, payment.id) ? undefined : known;
    if (state === 'created' && other) throw refused('reference', `already has payment ${other}, and keeps it`);
    const differing: Difference[] = [...differencesOf(row, payment), ...(other ? (['paymentId'] as const) : [])];
    if (state !== 'created' && !differing.every(name => despite.includes(name)))
      throw refused('paymentId', differs(row, payment, differing));
    return { ...settle(row, payment), otherPayment: other };
  };
  const { next, otherPayment } = await change(store, { reference }, give).catch(async error => {
    if (!isTaken(error)) throw error;
    // Only its callback may have made the other row, under a reference that the gateway has changed.
    const row = await ownerOf(store, payment.id);
    if (row?.bodyHash !== UNSEEN)
      throw refused('paymentId', `belongs to reference ${JSON.stringify(row?.reference)}: check the id`);
    await change(store, row, yieldPayment);
    return change(store, { reference }, give);
  });
  if (next) report(client, 'settled', reference, payment.id);
  reportConflict(client, reference, payment.id, otherPayment);
}

/** @throws {PaymentInDoubtError} while the create may still arrive */
export async function settleWithout(client: SettlingCall, { reference, despite }: Resolution): Promise<void> {
  const { store } = client;
  const { settleMargin: margin = 600_000 } = store;
  const found = undecided(await readCreate(store, { reference }));
  // A payment with exactly this reference stays its payment: an operator cannot override it.
  const isOtherId = despite.includes('paymentId');
  const ids = knownIds(found);
  for (const id of ids) {
    const payment = await client.readPayment(id).catch(unlessMissing);
    const isIts = payment && (isOtherId ? payment.reference === reference : mayBePaymentOf(found, payment));
    if (isIts) throw refused('reference', hasPayment(id));
  }
  await change(store, { reference }, current => {
    const open = withoutIds(undecided(current), ids);
    const [unread] = knownIds(open);
    if (unread) throw refused('reference', hasPayment(unread));
    const step = abandon(open, margin);
    if (!step.next) throw inDoubt(open, { settleableAt: new Date(settleableAt(open, margin)) });
    return step;
  });
  report(client, 'freed', reference);
}

function undecided(found: ReadRow | undefined): ReadRow {
  const row = inStore(found);
  if (row.state === 'freed') throw refused('reference', FREE);
  if (row.state !== 'created') return row;
  throw refused('reference', `has payment ${row.paymentId}: there is nothing to settle`);
}

function inStore(row: ReadRow | undefined): ReadRow {
  if (row) return row;
  throw refused('reference', 'is not in the store: nothing was created under it in this scope');
}

const PLANNED = "is planned and not sent yet: to cancel it, settle it with 'not_created'";
const FREE = 'is free: its last create made no payment, or an operator settled it so. Create it again';

const hasPayment = (paymentId: string) =>
  `has payment ${paymentId}: settle it with that id. If that payment belongs to another order, pass { despite: ['paymentId'] }`;

function differs(row: CreateRow, payment: Payment, differing: readonly Difference[]): string {
  const parts = differing.map(name =>
    name === 'paymentId'
      ? `the store knows payment ${row.paymentId} for this reference too, so both may have been paid`
      : `${name} is ${textOf(payment[name])} and not ${textOf(row[name])}`,
  );
  const despite = differing.map(name => `'${name}'`).join(', ');
  return `differs from the create: ${parts.join('; ')}. If it is the payment of this create anyway, pass { despite: [${despite}] }`;
}

/** A payment's amount is a number, a row's is a string. */
const textOf = (value: unknown): string => JSON.stringify(String(value));

const refused = (path: string, message: string) => new InvalidRequestError([{ path, message }]);
