// Settles doubts: by a confirmed payment, or by the ids that their rows know.
import { isGatewayError, PaymentInDoubtError, type PaymentNotFoundError } from '../../errors.ts';
import { differencesOf, hasReference } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import type { Store } from '../contract.ts';
import { isKeepable } from '../key.ts';
import { type CreateRow, createOf, isOwnPayment, knownIds, type ReadRow } from '../rules/create-row.ts';
import { reconcile } from '../rules/transitions.ts';
import { change, ownerOf, readCreate } from './change.ts';
import { report, reportConflict, type StoreCall, warn } from './reports.ts';

export interface SettlingCall extends StoreCall {
  readPayment(paymentId: string): Promise<Payment>;
}

export const inDoubt = (row: CreateRow, details: { cause?: unknown; underWay?: boolean; settleableAt?: Date } = {}) =>
  new PaymentInDoubtError(row.reference, new Date(row.begunAt), { paymentId: knownIds(row)[0], ...details });

export const isMissing = (error: unknown): error is PaymentNotFoundError =>
  isGatewayError(error) && error.name === 'PaymentNotFoundError';

export function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Settles a doubt by the ids that it knows, unless they are another order's. @throws errors of the lookup and the store */
export async function settleKnown(client: SettlingCall, row: ReadRow): Promise<Payment | undefined> {
  for (const id of knownIds(row)) {
    const payment = await client.readPayment(id).catch(unlessMissing);
    const settled = payment && (await recordConfirmed(client, row, payment));
    if (settled?.state === 'created' && isOwnPayment(settled, id)) return payment;
  }
  return undefined;
}

/** Settles the doubt of a confirmed payment's reference, or keeps the payment next to another. @returns its create */
export async function reconcilePayment(
  client: StoreCall,
  payment: Payment,
  isBeforeEffect = false,
): Promise<CreateRow | undefined> {
  const { store } = client;
  const reference = payment.reference && isKeepable(payment.reference) ? payment.reference : undefined;
  // The owner comes first, because an operator may have given the payment to another reference.
  let row = await ownerOf(store, payment.id);
  if (reference) row ??= (await readCreate(store, { reference })) ?? (await foldedDoubt(store, payment));
  return row || reference ? recordConfirmed(client, row ?? null, payment, isBeforeEffect) : undefined;
}

async function foldedDoubt(store: Store, payment: Payment): Promise<ReadRow | undefined> {
  const { rows, now } = await store.list({ kind: 'create', states: ['begun'] });
  const doubts = rows.map(row => ({ ...createOf(row), now })).filter(row => hasReference(payment, row.reference));
  return doubts.find(row => isOwnPayment(row, payment.id)) ?? doubts[0];
}

/** @returns the create that the payment belongs to @throws {PaymentTaken} */
async function recordConfirmed(client: StoreCall, known: ReadRow | null, payment: Payment, isBeforeEffect = false) {
  const reference = known?.reference ?? payment.reference ?? '';
  const confirming = change(client.store, { reference }, row => reconcile(row, payment, isBeforeEffect), known);
  const { next, row, outcome, otherPayment } = await confirming;
  if (outcome) report(client, outcome, reference, payment.id);
  reportConflict(client, reference, payment.id, otherPayment);
  const isMismatch = next && otherPayment === undefined && row?.state === 'begun';
  if (isMismatch)
    warn(client, 'create_mismatch', { reference, paymentId: payment.id }, differencesOf(row, payment).join(', '));
  // A folded reference may be another order's.
  const isFolded = row?.state === 'begun' && payment.reference && payment.reference !== reference;
  return isFolded ? undefined : row;
}
