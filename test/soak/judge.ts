// The end check of a soak: the shop's tables compared with the gateway's books, and the resources of a process over time.

import type { Review } from '../../src/index.ts';
import type { Held } from './messages.ts';
import { type Effect, otherPrice, type ShopOrder, type ShopPayout } from './shop.ts';

/** A payment in the gateway's books. */
export interface Booked {
  id: string;
  reference: string | null;
  paymentStatus: string;
  paymentType: string;
  amount: number;
}

/** The facts at the end. */
export interface Facts {
  orders: readonly Pick<ShopOrder, 'id' | 'way' | 'amount' | 'state'>[];
  payouts: readonly Pick<ShopPayout, 'id' | 'amount'>[];
  /** In the order of their commits. */
  effects: readonly Effect[];
  /** The open reviews. */
  reviews: readonly (Omit<Partial<Review>, 'reason'> & { reason: string })[];
  /** The references in the store. */
  creates: readonly { reference: string; state: string }[];
  /** The gateway's books. */
  payments: readonly Booked[];
}

/** Folds a reference as the most careless gateway does. */
export const fold = (reference: string | null): string => (reference ?? '').trim().toLowerCase();

/** The folded id of an attempt's order. */
const orderIn = (reference = ''): string => fold(reference.replace(/\.\d+\s*$/, ''));

/** The folded id of a review's order. A review of an unknown reference has only the reference as the gateway wrote it. */
export const reviewedOrder = ({ order, reference }: Pick<Review, 'order' | 'reference'>): string =>
  order ? fold(order) : orderIn(reference);

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** The change of the shop's credit by an effect. */
const CREDIT: Record<Effect['what'], number> = { paid: 1, paid_out: 1, reversed: -1, taken_back: -1, payout_failed: 0 };

/** Sums the credits, if they stay between 0 and 1. */
function creditOf(effects: readonly Effect[]): number | undefined {
  let credit = 0;
  for (const { what } of effects) {
    credit += CREDIT[what];
    if (credit < 0 || credit > 1) return undefined;
  }
  return credit;
}

/** Returns a line for each lost, doubled or open item. */
export function judge({ orders, payouts, effects, reviews, creates, payments }: Facts): string[] {
  const problems: string[] = [];
  const prices = new Map<string, string[]>([
    ...orders.map(({ id, amount }) => [fold(id), [amount, otherPrice(amount)]] as [string, string[]]),
    ...payouts.map(({ id, amount }) => [fold(id), [amount]] as [string, string[]]),
  ]);
  const ownerOf = ({ reference, paymentType }: Pick<Booked, 'reference' | 'paymentType'>) =>
    paymentType === 'DEPOSIT' ? orderIn(reference ?? '') : fold(reference);
  const ofReference = grouped(payments, ({ reference }) => fold(reference));
  const ofPayment = grouped(effects, ({ payment_id }) => payment_id);
  const ofOwner = grouped(effects, ({ owner }) => fold(owner));

  for (const [reference, made] of ofReference)
    if (made.length > 1) problems.push(`doubled: ${reference} has ${made.length} payments`);
  for (const payment of payments) {
    const { id, reference, paymentStatus, paymentType, amount } = payment;
    const of = `payment ${id} of ${reference}`;
    const had = ofPayment.get(id) ?? [];
    const credit = creditOf(had);
    const isReviewed = (status: string) => reviews.some(open => open.paymentId === id && open.status === status);
    const allowed = prices.get(ownerOf(payment));
    if (!allowed) problems.push(`unwanted: ${of} has no order and no payout`);
    // A gateway that rounds shows a failed payout with another amount, and no money moves.
    const moved = had.filter(({ what }) => what !== 'payout_failed');
    if (moved.some(effect => Number(effect.amount) !== amount || !allowed?.some(price => Number(price) === amount)))
      problems.push(`mistaken: an effect of ${of} has a wrong amount`);
    if (credit === undefined) problems.push(`doubled: ${of} had ${had.map(({ what }) => what).join(', ')}`);
    if (paymentStatus === 'COMPLETED') {
      if (credit === 0 && !isReviewed('COMPLETED')) problems.push(`lost: ${of} is neither credited nor in review`);
      if (credit === 1 && isReviewed('COMPLETED')) problems.push(`mistaken: ${of} is credited, and in review`);
    } else if (paymentStatus === 'FAILED' || paymentStatus === 'CANCELED') {
      if (credit === 1) problems.push(`lost: ${of} is ${paymentStatus}, and still credited`);
      const failures = had.filter(({ what }) => what === 'payout_failed' || what === 'taken_back').length;
      const isTold = failures === 1 || isReviewed(paymentStatus);
      if (paymentType === 'WITHDRAWAL' && !isTold)
        problems.push(`lost: ${of} failed, and the shop heard of it ${failures} times`);
    } else problems.push(`open: ${of} is ${paymentStatus}`);
  }
  const booked = new Set(payments.map(({ id }) => id));
  for (const id of ofPayment.keys()) if (!booked.has(id)) problems.push(`mistaken: payment ${id} does not exist`);

  for (const { id, way, state } of orders) {
    const credit = creditOf(ofOwner.get(fold(id)) ?? []);
    const isReviewed = reviews.some(review => review.status === 'COMPLETED' && reviewedOrder(review) === fold(id));
    if (credit === undefined) problems.push(`doubled: order ${id} (${way}) was paid more than once`);
    else if (credit !== (state === 'paid' ? 1 : 0))
      problems.push(`mistaken: order ${id} is ${state}, with ${credit} credits`);
    if ((state === 'open' || state === 'review') && !isReviewed)
      problems.push(`lost: order ${id} (${way}) is not paid`);
  }
  for (const { id } of payouts) if (!ofReference.has(fold(id))) problems.push(`lost: payout ${id} has no payment`);
  for (const { reference, state } of creates) {
    if (state === 'begun') problems.push(`in doubt: ${reference}`);
    if (state === 'planned') problems.push(`not sent: ${reference} is still planned`);
  }
  for (const { reason, paymentId } of reviews)
    if (reason === 'effect_uncertain') problems.push(`uncertain: an effect of payment ${paymentId} was cut off`);
  return problems;
}

/** The allowed growth of each minimum from the second third of a process's time to the last one. */
const ALLOWED = { heap: 0.5, sockets: 3 } as const;

/**
 * Lists the grown measures. Running work comes and goes, but a leak raises the minimum. The first third does not count,
 * because code is compiled in it and connections are opened.
 */
export function growths(held: readonly Held[]): string[] {
  const [begin, end] = [held[0]?.at ?? 0, held.at(-1)?.at ?? 0];
  const third = ({ at }: Held) => Math.min(2, Math.floor((3 * (at - begin)) / (end - begin || 1)));
  return (Object.keys(ALLOWED) as (keyof typeof ALLOWED)[]).flatMap(measure => {
    const leastOf = (index: number) => Math.min(...held.filter(one => third(one) === index).map(one => one[measure]));
    const [second, last] = [leastOf(1), leastOf(2)];
    // Without samples the difference is NaN, which is not flat.
    if (last - second <= ALLOWED[measure]) return [];
    return [`grown: ${measure} from ${second.toFixed(1)} to ${last.toFixed(1)}`];
  });
}
