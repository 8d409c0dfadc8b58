// Reports changes of references to the merchant's listener, and warns about problems that an operator should check.
import { ApiError, isGatewayError } from '../../errors.ts';
import { whatToCheck } from '../../http-statuses.ts';
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
export const report = ({ call }: StoreCall, change: StoreChange, reference: string, paymentId?: string): void =>
  call.emit({ type: 'store', change, reference, paymentId });

type Subject = Partial<Pick<CreateRow, 'reference' | 'paymentId'>>;

const warn = ({ call }: StoreCall, code: WarningCode, { reference, paymentId }: Subject, message: string): void =>
  call.emit({ type: 'warning', code, message, reference, paymentId });

export function warnNotRecorded(client: StoreCall, reference: string): void {
  const message =
    'The end of the create could not be written to the store for five minutes. If the reference is in doubt, its callback or an operator must settle it.';
  warn(client, 'create_not_recorded', { reference }, message);
}

export function warnMismatch(client: StoreCall, reference: string, paymentId: string, differing: string[]): void {
  const message = `Payment ${paymentId} differs from the request in ${differing.join(', ')}. The reference stays in doubt: compare them, then call gateway.settle.`;
  warn(client, 'create_mismatch', { reference, paymentId }, message);
}

/** @param other the id of the other payment; undefined if unknown */
export function reportConflict(client: StoreCall, reference: string, paymentId: string, other?: string): void {
  const second = other ? `and ${other}` : 'and one whose create is running or in doubt';
  const message = `Reference ${JSON.stringify(reference)} may have two payments: ${paymentId} ${second}. Check both.`;
  report(client, 'conflict', reference, paymentId);
  warn(client, 'two_payments', { reference, paymentId }, message);
}

export function warnStale(client: StoreCall, reference: string, paymentId: string): void {
  const message = `The lookup of payment ${paymentId} failed, so a repeated create returned the record that the store saw last: \`stale\` is true. Act on its status only after a lookup, or its callback.`;
  warn(client, 'stale_replay', { reference, paymentId }, message);
}

/** @param giveUpAfter milliseconds */
export function warnGaveUp(client: StoreCall, row: CreateRow, giveUpAfter: number): void {
  const days = Math.round(giveUpAfter / 86_400_000);
  const message = `The payment of reference ${JSON.stringify(row.reference)} is not final after ${days} days, so upkeep no longer looks it up. Ask the gateway. A later callback still takes effect.`;
  report(client, 'gave_up', row.reference, row.paymentId);
  warn(client, 'sweep_gave_up', row, message);
}

export function warnNotSwept(client: StoreCall, row: CreateRow, error: unknown): void {
  const message = `The payment of reference ${JSON.stringify(row.reference)} could not be processed. The next sweep retries it. ${tellableOf(error)}`;
  warn(client, 'sweep_failed', row, message);
}

export function warnNotSent(client: StoreCall, { reference }: CreateRow, error: unknown): void {
  const check = error instanceof ApiError ? whatToCheck(error.status, client.call.baseUrl) : undefined;
  const answer = error instanceof ApiError ? `The gateway answered ${error.status}.` : textOf(error);
  const message = `upkeep: payout ${JSON.stringify(reference)} was not sent. It stays planned, and upkeep retries it. ${answer}`;
  warn(client, 'payout_not_sent', { reference }, check ? `${message} ${check}` : message);
}

export function warnReviewFailed(client: StoreCall, { reference }: CreateRow, error: unknown): void {
  const message = `upkeep: the gateway refused payout ${JSON.stringify(reference)}, and its review could not be written. The next upkeep retries that. ${tellableOf(error)}`;
  warn(client, 'upkeep_failed', { reference }, message);
}

export function warnUpkeepFailed(client: StoreCall, error: unknown): void {
  warn(client, 'upkeep_failed', {}, `upkeep failed, and retries: ${textOf(error)}`);
}

/** The error of `onPayment` may contain the merchant's own data, such as the values of a query. */
const tellableOf = (error: unknown): string => (isGatewayError(error) ? error.message : labelOf(error));

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
