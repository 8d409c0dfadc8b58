// How doubts and references are printed, for people.
import type { Doubt, JournalEntry } from '../journal/contract.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { printable, table } from '../terminal/text.ts';

/** The command that operators type. */
export const NAME = 'payment-gateway-sdk';

/** The states of a reference, in words. */
export const STATES = { planned: 'planned', begun: 'in doubt', created: 'created', freed: 'free, without a payment' };

const HEAD = ['REFERENCE', 'SINCE', 'TYPE', 'METHOD', 'AMOUNT', 'STATE', 'SCOPE', 'PAYMENT'];

const HINT = `
Ask the gateway's support about those in doubt. Then:
  npx ${NAME} settle <reference> <id|not_created> --scope <scope>`;

const secondsOf = (moment: Date): string => moment.toISOString().replace(/\.\d+/, '');

/** A table of doubts, and the next step. @param scope undefined for all */
export function doubtsTable(doubts: readonly Doubt[], scope?: string): string {
  if (doubts.length === 0) return `Nothing is in doubt${scope === undefined ? '' : ` in scope ${printable(scope)}`}.`;
  const rows = doubts.map(doubt => {
    const { reference, paymentType, paymentMethod, amount, currency, underWay, paymentId, conflictingIds } = doubt;
    const state = underWay ? 'under way' : 'in doubt';
    const ids = [paymentId, ...conflictingIds].filter(Boolean).join(' ') || '-';
    const since = secondsOf(doubt.since);
    return [reference, since, paymentType, paymentMethod, `${amount} ${currency}`, state, doubt.scope, ids];
  });
  const lines = table([HEAD, ...rows]);
  return doubts.every(({ underWay }) => underWay) ? lines : `${lines}\n${HINT}`;
}

/** The journal's entry of one reference. */
export function entryText(entry: JournalEntry): string {
  const { state, underWay, paymentType, paymentMethod, amount, currency, paymentId, payment, conflictingIds } = entry;
  return table([
    ['reference', entry.reference],
    ['state', underWay ? 'under way' : STATES[state]],
    ['since', secondsOf(entry.since)],
    ['asked for', `${paymentType} by ${paymentMethod}, ${amount} ${currency}`],
    ['payment', `${paymentId ?? '-'}${payment ? `, ${rawStatusOf(payment)} when last seen` : ''}`],
    ...(conflictingIds.length > 0 ? [['may also have', conflictingIds.join(' ')]] : []),
    ['scope', entry.scope],
  ]);
}
