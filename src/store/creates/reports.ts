// Reports changes of references to the merchant's listener, and warns about problems that an operator should check.
import { ApiError, isGatewayError } from '../../errors.ts';
import { whatToCheck } from '../../http-statuses.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import { type Call, labelOf } from '../../telemetry/call.ts';
import type { StoreChange, WarningCode } from '../../telemetry/events.ts';
import type { Store } from '../contract.ts';
import type { CreateRow } from '../rules/create-row.ts';

/** A call of a client with a store. It gets every report. */
export interface StoreCall {
  store: Store;
  call: Call;
}

/** Reports a change of a reference. */
export function report(
  { call }: StoreCall,
  change: StoreChange,
  reference: string,
  paymentId?: string | undefined,
): void {
  call.emit({ type: 'store', change, reference, paymentId });
}

function warn(
  { call }: StoreCall,
  reference: string | undefined,
  code: WarningCode,
  message: string,
  paymentId?: string,
): void {
  call.emit({ type: 'warning', code, message, reference, paymentId });
}

export function warnNotRecorded(client: StoreCall, reference: string): void {
  const message =
    'The end of the create could not be written to the store for five minutes. If the reference is in doubt, its callback or an operator must settle it.';
  warn(client, reference, 'create_not_recorded', message);
}

/** @param differing fields of the payment */
export function warnMismatch(
  client: StoreCall,
  reference: string,
  { id }: Payment,
  differing: readonly string[],
): void {
  const message = `Payment ${id} differs from the request in ${differing.join(', ')}. The reference stays in doubt: compare them, then call gateway.settle.`;
  warn(client, reference, 'create_mismatch', message, id);
}

/** @param other the id of the other payment; undefined if unknown */
export function reportConflict(client: StoreCall, reference: string, id: string, other: string | undefined): void {
  report(client, 'conflict', reference, id);
  const second = other ? `and ${other}` : 'and one whose create is running or in doubt';
  const message = `Reference ${JSON.stringify(reference)} may have two payments: ${id} ${second}. Check both.`;
  warn(client, reference, 'two_payments', message, id);
}

export function warnStale(client: StoreCall, reference: string, id: string): void {
  const message = `The lookup of payment ${id} failed, so a repeated create returned the record that the store saw last: \`stale\` is true. Act on its status only after a lookup, or its callback.`;
  warn(client, reference, 'stale_replay', message, id);
}

/** @param giveUpAfter milliseconds */
export function warnGaveUp(client: StoreCall, row: CreateRow, giveUpAfter: number): void {
  const days = Math.round(giveUpAfter / 86_400_000);
  const message = `The payment of reference ${JSON.stringify(row.reference)} is not final after ${days} days, so upkeep no longer looks it up. Ask the gateway. A later callback still takes effect.`;
  report(client, 'gave_up', row.reference, row.paymentId);
  warn(client, row.reference, 'sweep_gave_up', message, row.paymentId);
}

export function warnNotSwept(client: StoreCall, row: CreateRow, error: unknown): void {
  const message = `The payment of reference ${JSON.stringify(row.reference)} could not be processed. The next sweep retries it. ${tellableOf(error)}`;
  warn(client, row.reference, 'sweep_failed', message, row.paymentId);
}

export function warnNotSent(client: StoreCall, { reference }: CreateRow, error: unknown): void {
  const message = `upkeep: payout ${JSON.stringify(reference)} was not sent. It stays planned, and upkeep retries it. ${answerOf(client, error)}`;
  warn(client, reference, 'payout_not_sent', message);
}

export function warnReviewFailed(client: StoreCall, { reference }: CreateRow, error: unknown): void {
  const message = `upkeep: the gateway refused payout ${JSON.stringify(reference)}, and its review could not be written. The next upkeep retries that. ${tellableOf(error)}`;
  warn(client, reference, 'upkeep_failed', message);
}

export function warnUpkeepFailed(client: StoreCall, error: unknown): void {
  warn(client, undefined, 'upkeep_failed', `upkeep failed, and retries: ${textOf(error)}`);
}

/** The error of `onPayment` may contain the merchant's own data, such as the values of a query. */
const tellableOf = (error: unknown): string => (isGatewayError(error) ? error.message : labelOf(error));

/** The reader of a warning cannot inspect the error. */
function answerOf({ call }: StoreCall, error: unknown): string {
  if (!(error instanceof ApiError)) return textOf(error);
  const { status } = error;
  return [`The gateway answered ${status}.`, whatToCheck(status, call.baseUrl)].filter(Boolean).join(' ');
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
