// What a journal reports to the merchant's listener: nothing failed, and somebody should look at a reference.
import { type EventListener, notify, type WarningCode } from '../events.ts';
import type { Payment } from '../schemas/payment.ts';
import type { Journal } from './contract.ts';

/** The journal of one client. */
export interface ClientJournal {
  journal: Journal;
  scope: string;
  onEvent?: EventListener | undefined;
}

function warn(
  { onEvent }: ClientJournal,
  reference: string,
  code: WarningCode,
  message: string,
  paymentId?: string,
): void {
  notify(onEvent, { operation: 'create', reference, paymentId, type: 'warning', code, message });
}

export function warnNotRecorded(client: ClientJournal, reference: string): void {
  const message =
    'The result could not be written to the journal. The reference stays in doubt until its callback arrives.';
  warn(client, reference, 'journal_not_recorded', message);
}

export function warnMismatch(client: ClientJournal, reference: string, { id }: Payment): void {
  const message = `Payment ${id} differs from the request in type, amount, currency or reference. The reference stays in doubt: compare them, then call gateway.settle.`;
  warn(client, reference, 'journal_mismatch', message, id);
}

/** @param other the id of the other payment; undefined if its create is still running */
export function warnTwoPayments(client: ClientJournal, reference: string, id: string, other: string | undefined): void {
  const second = other ? `and ${other}` : 'and one whose create is still running';
  const message = `Reference ${JSON.stringify(reference)} may have two payments: ${id} ${second}. Check both.`;
  warn(client, reference, 'journal_two_payments', message, id);
}
