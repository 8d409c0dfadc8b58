// Reports changes of references to the merchant's listener, and warns the operator.
import { isGatewayError } from '../../errors.ts';
import { type Call, labelOf } from '../../telemetry/call.ts';
import type { StoreChange, WarningCode } from '../../telemetry/events.ts';
import type { Store } from '../contract.ts';
import type { CreateRow } from '../rules/create-row.ts';

/** A call of a client with a store. It gets every report. */
export interface StoreCall {
  store: Store;
  call: Call;
}

export const report = ({ call }: StoreCall, change: StoreChange, reference: string, paymentId?: string): void =>
  call.emit({ type: 'store', change, reference, paymentId });

type Subject = Partial<Pick<CreateRow, 'reference' | 'paymentId'>>;

/** @param name the reference in quotes @param more a fact that the subject lacks */
type Message = (name: string | undefined, paymentId: string | undefined, more: string) => string;

const MESSAGES: Record<Exclude<WarningCode, 'upkeep_missing'>, Message> = {
  create_not_recorded: () =>
    'The end of the create could not be written to the store for five minutes. If the reference is in doubt, its callback or an operator must settle it.',
  create_mismatch: (_name, paymentId, fields) =>
    `Payment ${paymentId} differs from the request in ${fields}. The reference stays in doubt: compare them, then call gateway.settle.`,
  two_payments: (name, paymentId, other) =>
    `Reference ${name} may have two payments: ${paymentId} and ${other}. Check both.`,
  stale_replay: (_name, paymentId) =>
    `The lookup of payment ${paymentId} failed, so a repeated create returned the record that the store saw last: \`stale\` is true. Act on its status only after a lookup, or its callback.`,
  sweep_gave_up: (name, _id, days) =>
    `The payment of reference ${name} is not final after ${days} days, so upkeep no longer looks it up. Ask the gateway. A later callback still takes effect.`,
  sweep_failed: (name, _id, failure) =>
    `The payment of reference ${name} could not be processed. The next sweep retries it. ${failure}`,
  payout_not_sent: (name, _id, failure) =>
    `upkeep: payout ${name} was not sent. It stays planned, and upkeep retries it. ${failure}`,
  upkeep_failed: (name, _id, failure) =>
    name
      ? `upkeep: the gateway refused payout ${name}, and its review could not be written. The next upkeep retries that. ${failure}`
      : `upkeep failed, and retries: ${failure}`,
};

export function warn({ call }: StoreCall, code: keyof typeof MESSAGES, subject: Subject, more = ''): void {
  const { reference, paymentId } = subject;
  const message = MESSAGES[code](JSON.stringify(reference), paymentId, more);
  call.emit({ type: 'warning', code, message, reference, paymentId });
}

/** @param other the other payment of the reference; empty while its create is running or in doubt */
export function reportConflict(client: StoreCall, reference: string, paymentId?: string, other?: string): void {
  if (other === undefined) return;
  warn(client, 'two_payments', { reference, paymentId }, other || 'one whose create is running or in doubt');
}

/** The error of `onPayment` may contain the merchant's own data, such as the values of a query. */
export const tellableOf = (error: unknown): string => (isGatewayError(error) ? error.message : labelOf(error));
