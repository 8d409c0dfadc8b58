// Settles doubts by an operator's decision: with the payment, or without one.
import { InvalidRequestError, isGatewayError, PaymentInDoubtError } from '../../errors.ts';
import { saysNothing } from '../../http-statuses.ts';
import { isPaymentId } from '../../schemas/id.ts';
import { parseJson } from '../../schemas/json.ts';
import {
  type Difference,
  differencesOf,
  type FieldDifference,
  mayBePaymentOf,
} from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { rawStatusOf } from '../../schemas/records/payment-status.ts';
import { recordIn } from '../../schemas/records/response.ts';
import { DEFAULT_SETTLE_MARGIN } from '../contract.ts';
import { type CreateRow, isOwnPayment, knownIds } from '../rules/create-row.ts';
import { UNSEEN } from '../rules/fingerprint.ts';
import { abandon, isFailed, settle, settleableAt, withoutIds, yieldPayment } from '../rules/transitions.ts';
import { change, isTaken, ownerOf, readCreate } from './change.ts';
import { hasItsReference, isMissing, type ReadPayment, unlessMissing } from './doubts.ts';
import { report, reportConflict, type StoreCall } from './reports.ts';

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
export async function settleDoubt(client: StoreCall, decision: Resolution, readPayment: ReadPayment): Promise<void> {
  const { resolution } = decision;
  if (resolution === 'not_created') return settleWithout(client, decision, readPayment);
  if (!isPaymentId(resolution)) throw new InvalidRequestError([NEITHER]);
  const payment = await readPayment(resolution).catch(error => unreadPayment(client, decision, error));
  return settleWith(client, decision, payment, readPayment);
}

/**
 * Returns the payment of a record that cannot be read, with the money of its create.
 *
 * @throws the error of the lookup, unless it is about such a record and the operator accepts it
 */
async function unreadPayment(
  { store }: StoreCall,
  { reference, resolution, despite }: Resolution,
  error: unknown,
): Promise<Payment> {
  const { id, reference: recorded } = (despite.includes('unreadable') && recordOf(error)) || {};
  const { row } = await readCreate(store, { reference });
  if (!row || String(id).toLowerCase() !== resolution.toLowerCase()) throw error;
  const { paymentType, amount, currency } = row;
  return {
    ...{ id: resolution, paymentType, amount: Number(amount), currency },
    reference: typeof recorded === 'string' ? recorded : reference,
    ...{ paymentStatus: 'UNKNOWN', rawPaymentStatus: 'unreadable' },
  } as Payment;
}

/** Returns the record in an answer of the gateway that the SDK could not read. A proxy's page has none. */
function recordOf(error: unknown): { id?: unknown; reference?: unknown } | undefined {
  const json = isGatewayError(error) && error.name === 'ResponseError' && parseJson(error.body);
  return json ? Object(recordIn(json.value)) : undefined;
}

async function settleWith(
  client: StoreCall,
  { reference, despite }: Resolution,
  payment: Payment,
  readPayment: ReadPayment,
): Promise<void> {
  const { store } = client;
  const found = openOf((await readCreate(store, { reference })).row, payment);
  const isOtherId = despite.includes('paymentId');
  const other = found.state === 'begun' && !isOwnPayment(found, payment.id) ? found.paymentId : undefined;
  // An operator who names `paymentId` has compared both payments.
  const seen = other && !isOtherId ? await readPayment(other).catch(unlessMissing) : undefined;
  const settleIt = (row: CreateRow | undefined) => {
    const open = openOf(row, payment);
    const { paymentId: known, state } = open;
    const isDisproved = state === 'begun' && known === other && !isOtherId && !(seen && hasItsReference(open, seen));
    const stands = known !== undefined && !isOwnPayment(open, payment.id) && !isDisproved;
    if (stands && state === 'created') throw refused('reference', `already has payment ${known}, and keeps it`);
    if (state === 'planned')
      throw refused('reference', "is planned and not sent yet: to cancel it, settle it with 'not_created'");
    const differing: FieldDifference[] = [...differencesOf(open, payment), ...(stands ? (['paymentId'] as const) : [])];
    const isAccepted = differing.every(name => despite.includes(name));
    if (state !== 'created' && !isAccepted) throw differs(open, payment, differing);
    return settle(open, { payment });
  };
  const give = () => change(store, { reference }, settleIt);
  const { next } = await give().catch(async error => {
    if (!isTaken(error)) throw error;
    const { row } = await ownerOf(store, payment.id);
    if (row?.bodyHash !== UNSEEN) throw belongsTo(row);
    await change(store, row, yieldPayment);
    return give();
  });
  if (next) report(client, 'settled', reference, payment.id);
  if (next && other && isOtherId) reportConflict(client, reference, payment.id, other);
}

async function settleWithout(
  client: StoreCall,
  { reference, despite }: Resolution,
  readPayment: ReadPayment,
): Promise<void> {
  const { store } = client;
  const margin = store.settleMargin ?? DEFAULT_SETTLE_MARGIN;
  const senseless = despite.filter(name => name !== 'paymentId');
  if (senseless.length > 0)
    throw refused(
      'options.despite',
      `must not contain ${senseless.join(', ')} with 'not_created': there is no payment to compare`,
    );
  const found = openOf((await readCreate(store, { reference })).row);
  if (found.state === 'created')
    throw refused('reference', `has payment ${found.paymentId}: there is nothing to settle`);
  // A payment with exactly this reference stays its payment: an operator cannot override it.
  const isOtherId = despite.includes('paymentId');
  const ids = knownIds(found);
  for (const id of ids) {
    const payment = await readPayment(id).catch(isOtherId ? error => unlessOther(error, reference) : unlessMissing);
    const isIts = payment && (isOtherId ? payment.reference === reference : mayBePaymentOf(found, payment));
    if (isIts) throw hasPayment(id);
  }
  const step = await change(store, { reference }, (row, now) => {
    const known = openOf(row);
    const open = known.state === 'begun' ? withoutIds(known, ids) : known;
    const [unread] = knownIds(open);
    if (unread) throw hasPayment(unread);
    return { ...abandon(open, now, margin), open };
  });
  if (step.next) return report(client, 'freed', reference);
  const since = new Date(step.open.begunAt);
  throw new PaymentInDoubtError(reference, since, { settleableAt: new Date(settleableAt(step.open, margin)) });
}

/**
 * Returns undefined for a failed lookup that does not contradict the operator: the id belongs to another order.
 *
 * @throws every error that may pass in a moment, and that of an unreadable record with exactly the reference
 */
function unlessOther(error: unknown, reference: string): undefined {
  if (isMissing(error)) return;
  const isRefused = isGatewayError(error) && error.name === 'ApiError' && !saysNothing(error.status);
  const record = recordOf(error);
  if (isRefused || (record && record.reference !== reference)) return;
  throw error;
}

/**
 * @param payment the reference's payment, by the operator's word
 * @throws {InvalidRequestError} without anything to settle
 */
function openOf(row: CreateRow | undefined, payment?: Payment): CreateRow {
  if (row?.state === 'begun' || row?.state === 'created' || row?.state === 'planned') return row;
  if (row?.state !== 'freed')
    throw refused('reference', 'is not in the store: nothing was created under it in this scope');
  if (!payment)
    throw refused(
      'reference',
      'is free: its last create made no payment, or an operator settled it so. Create it again',
    );
  // Otherwise the next create would return the failed payment.
  if (isFailed(payment))
    throw refused('paymentId', `is ${rawStatusOf(payment)}, and the reference is free already: create it again`);
  return row;
}

/** @param owner the create that has the payment, unless it lost the payment meanwhile */
const belongsTo = (owner: CreateRow | undefined): InvalidRequestError =>
  refused('paymentId', `belongs to reference ${JSON.stringify(owner?.reference)}: check the id`);

/** Names the differing fields with both values, and the way to settle anyway. */
function differs(row: CreateRow, payment: Payment, differing: FieldDifference[]): InvalidRequestError {
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
    `has payment ${paymentId}: settle it with that id. If that payment belongs to another order, pass { despite: ['paymentId'] }`,
  );

const refused = (path: string, message: string) => new InvalidRequestError([{ path, message }]);
