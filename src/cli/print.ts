// Prints doubts, reviews and references for people.
import type { Doubt, Entry } from '../payments/references.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import type { Review } from '../store/rules/payment-row.ts';
import { printable, table } from '../terminal/text.ts';

export const NAME = 'payment-gateway-sdk';

const DOUBT_HEAD = ['REFERENCE', 'SINCE', 'TYPE', 'METHOD', 'AMOUNT', 'STATE', 'PAYMENT'];
const REVIEW_HEAD = ['ID', 'STATUS', 'REASON', 'SINCE', 'AMOUNT', 'REFERENCE', 'ORDER'];

const SETTLE = `

Ask the gateway's support about those in doubt. Then:
  npx ${NAME} settle <reference> <id|not_created>`;
const RESOLVE = `

Check each payment and act on it. Then:
  npx ${NAME} resolve <id> <status>`;

const STATES = { planned: 'planned', begun: 'in doubt', created: 'created', freed: 'free, without a payment' };

const secondsOf = (moment: Date) => moment.toISOString().replace(/\.\d+/, '');

export function doubtsTable(doubts: readonly Doubt[], scope: string) {
  if (doubts.length === 0) return `Nothing is in doubt in scope ${printable(scope)}.`;
  const rows = doubts.map(doubt => {
    const { reference, since, paymentType, paymentMethod, amount, currency, underWay, paymentId } = doubt;
    const state = underWay ? 'running' : 'in doubt';
    const ids = [paymentId, ...doubt.conflictingIds].filter(Boolean).join(' ') || '-';
    return [reference, secondsOf(since), paymentType, paymentMethod, `${amount} ${currency}`, state, ids];
  });
  const hint = doubts.every(({ underWay }) => underWay) ? '' : SETTLE;
  return table([DOUBT_HEAD, ...rows]) + hint;
}

export function reviewsTable(reviews: readonly Review[], scope: string) {
  if (reviews.length === 0) return `Nothing is for review in scope ${printable(scope)}.`;
  const rows = reviews.map(({ id, status, reason, since, amount, currency, reference, order }) => {
    const money = amount === undefined ? '-' : `${amount} ${currency}`;
    return [id, status, reason, secondsOf(since), money, reference ?? '-', order ?? '-'];
  });
  return table([REVIEW_HEAD, ...rows]) + RESOLVE;
}

export function entryText(entry: Entry) {
  const { state, underWay, amount, currency, paymentId = '-', payment, conflictingIds } = entry;
  return table([
    ['reference', entry.reference],
    ['state', underWay ? 'running' : STATES[state]],
    ['since', secondsOf(entry.since)],
    ['asked for', `${entry.paymentType} by ${entry.paymentMethod}, ${amount} ${currency}`],
    ['payment', payment ? `${paymentId}, ${rawStatusOf(payment)} when last seen` : paymentId],
    ...(conflictingIds.length > 0 ? [['may also have', conflictingIds.join(' ')]] : []),
    ['scope', entry.scope],
  ]);
}
