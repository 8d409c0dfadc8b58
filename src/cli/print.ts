// How doubts, reviews and references are printed, for people.

import type { Doubt, Entry } from '../payments/references.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import type { Review } from '../store/rules/payment-row.ts';
import { printable, table } from '../terminal/text.ts';

export const NAME = 'payment-gateway-sdk';

const STATES = { planned: 'planned', begun: 'in doubt', created: 'created', freed: 'free, without a payment' };

const DOUBT_HEAD = ['REFERENCE', 'SINCE', 'TYPE', 'METHOD', 'AMOUNT', 'STATE', 'PAYMENT'];
const REVIEW_HEAD = ['ID', 'STATUS', 'REASON', 'SINCE', 'AMOUNT', 'REFERENCE', 'ORDER'];

const SETTLE = `
Ask the gateway's support about those in doubt. Then:
  npx ${NAME} settle <reference> <id|not_created>`;
const RESOLVE = `
Check each payment and act on it. Then:
  npx ${NAME} resolve <id> <status>`;

const secondsOf = (moment: Date): string => moment.toISOString().replace(/\.\d+/, '');

export function doubtsTable(doubts: readonly Doubt[], scope: string): string {
  if (doubts.length === 0) return `Nothing is in doubt in scope ${printable(scope)}.`;
  const rows = doubts.map(doubt => {
    const { reference, paymentType, paymentMethod, amount, currency, underWay, paymentId, conflictingIds } = doubt;
    const state = underWay ? 'running' : 'in doubt';
    const ids = [paymentId, ...conflictingIds].filter(Boolean).join(' ') || '-';
    return [reference, secondsOf(doubt.since), paymentType, paymentMethod, `${amount} ${currency}`, state, ids];
  });
  const lines = table([DOUBT_HEAD, ...rows]);
  return doubts.every(({ underWay }) => underWay) ? lines : `${lines}\n${SETTLE}`;
}

export function reviewsTable(reviews: readonly Review[], scope: string): string {
  if (reviews.length === 0) return `Nothing is for review in scope ${printable(scope)}.`;
  const rows = reviews.map(({ id, status, reason, since, amount, currency, reference, order }) => {
    const money = amount === undefined ? '-' : `${amount} ${currency}`;
    return [id, status, reason, secondsOf(since), money, reference ?? '-', order ?? '-'];
  });
  return `${table([REVIEW_HEAD, ...rows])}\n${RESOLVE}`;
}

export function entryText(entry: Entry): string {
  const { state, underWay, paymentType, paymentMethod, amount, currency, paymentId, payment, conflictingIds } = entry;
  return table([
    ['reference', entry.reference],
    ['state', underWay ? 'running' : STATES[state]],
    ['since', secondsOf(entry.since)],
    ['asked for', `${paymentType} by ${paymentMethod}, ${amount} ${currency}`],
    ['payment', `${paymentId ?? '-'}${payment ? `, ${rawStatusOf(payment)} when last seen` : ''}`],
    ...(conflictingIds.length > 0 ? [['may also have', conflictingIds.join(' ')]] : []),
    ['scope', entry.scope],
  ]);
}
