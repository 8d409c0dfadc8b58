// How doubts, references and complaints are printed, for people.
import type { Doubt, JournalEntry, JournalState } from '../journal/contract.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { columns } from '../terminal/columns.ts';
import { printable } from '../terminal/printable.ts';
import { SDK } from './commands.ts';

const secondsOf = (moment: Date): string => moment.toISOString().replace(/\.\d+/, '');

const moneyOf = ({ amount, currency }: Doubt): string => `${amount} ${printable(currency)}`;

const idsOf = ({ paymentId, conflictingIds }: Doubt): string =>
  [...(paymentId ? [paymentId] : []), ...conflictingIds].join(' ') || '-';

const HEAD = ['REFERENCE', 'SINCE', 'TYPE', 'METHOD', 'AMOUNT', 'STATE', 'SCOPE', 'PAYMENT'];

/** A table of doubts, and what to do about them. @param scope the one that was asked for, if not all were */
export function doubtsTable(doubts: readonly Doubt[], scope?: string): string {
  if (doubts.length === 0) return `Nothing is in doubt${scope === undefined ? '' : ` in scope ${printable(scope)}`}.`;
  const rows = doubts.map(doubt => [
    printable(doubt.reference),
    secondsOf(doubt.since),
    doubt.paymentType,
    printable(doubt.paymentMethod),
    moneyOf(doubt),
    doubt.underWay ? 'under way' : 'in doubt',
    printable(doubt.scope),
    idsOf(doubt),
  ]);
  const table = columns([HEAD, ...rows]);
  if (doubts.every(({ underWay }) => underWay)) return table;
  return `${table}

Ask the gateway's support about those in doubt. Then:
  npx payment-gateway-sdk settle <reference> <id or not_created> --scope <scope>`;
}

/** What an operator has done. @param before the state until then */
export function settledText({ reference, paymentId }: JournalEntry, before: JournalState): string {
  const name = printable(reference);
  if (paymentId) return `Settled: ${name} is payment ${paymentId}.`;
  if (before === 'planned') return `Withdrawn: ${name} is planned no more, and no drain sends it.`;
  return `Free: the next create of ${name} pays. If it was planned, no drain sends it now: plan it again.`;
}

/** The states of a reference, in words. */
export const STATES = { planned: 'planned', begun: 'in doubt', created: 'created', freed: 'free, without a payment' };

/** What is known of one reference. */
export function entryText(entry: JournalEntry): string {
  const { reference, scope, state, underWay, since, paymentType, paymentMethod, paymentId, payment } = entry;
  const lines = [
    ['reference', printable(reference)],
    ['state', underWay ? 'under way' : STATES[state]],
    ['since', secondsOf(since)],
    ['asked for', `${paymentType} by ${printable(paymentMethod)}, ${moneyOf(entry)}`],
    ['payment', `${paymentId ?? '-'}${payment ? `, ${printable(rawStatusOf(payment))} when last seen` : ''}`],
    ...(entry.conflictingIds.length > 0 ? [['may also have', entry.conflictingIds.join(' ')]] : []),
    ['scope', printable(scope)],
  ];
  return columns(lines);
}

/** Beside the output, which a script may read. */
export const complain = (text: string): void => console.error(`${SDK.name}: ${printable(text)}`);
