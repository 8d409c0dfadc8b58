// What must hold at the end of a soak: the merchant's tables beside the gateway's books, and what a process held over time.
import type { Booked, Held } from './messages.ts';
import type { Want } from './shop.ts';

/** What is known at the end. */
export interface Facts {
  wants: readonly Pick<Want, 'reference' | 'way' | 'state'>[];
  /** In the order in which they were made. */
  effects: readonly { payment_id: string; status: string; amount: number }[];
  /** The payments that creates have answered with. */
  told: readonly { reference: string; payment_id: string }[];
  journal: readonly { reference: string; state: string }[];
  /** Effects that have begun, and of which nobody knows the end. */
  uncertain: number;
  /** The gateway's books. */
  payments: readonly Booked[];
}

const FINAL: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELED']);
const OPEN: ReadonlySet<string> = new Set(['PENDING', 'AUTHORIZED']);

/** As the most meddling of gateways would write a reference. */
export const fold = (reference: string | null): string => (reference ?? '').trim().toLowerCase();

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** @returns what was lost, doubled, or left open, a line each */
export function judge({ wants, effects, told, journal, uncertain, payments }: Facts): string[] {
  const problems: string[] = [];
  const byReference = grouped(payments, ({ reference }) => fold(reference));
  const wanted = new Map(wants.map(want => [fold(want.reference), want]));

  for (const { reference, way, state } of wants) {
    const made = byReference.get(fold(reference)) ?? [];
    if (made.length > 1) problems.push(`doubled: ${reference} (${way}) has ${made.length} payments`);
    if (made.length === 0 && state !== 'refused') problems.push(`lost: ${reference} (${way}) has no payment`);
  }
  for (const { id, reference } of payments) {
    if (!wanted.has(fold(reference)))
      problems.push(`unwanted: payment ${id} of ${reference}, which nobody has ordered`);
  }
  for (const { reference, payment_id } of told) {
    const isOwn = (byReference.get(fold(reference)) ?? []).some(({ id }) => id === payment_id);
    if (!isOwn) problems.push(`mistaken: the create of ${reference} was answered with ${payment_id}`);
  }

  const byPayment = grouped(effects, ({ payment_id }) => payment_id);
  for (const { id, reference, paymentStatus, amount } of payments) {
    const had = byPayment.get(id) ?? [];
    const of = `payment ${id} of ${reference}`;
    if (!FINAL.has(paymentStatus)) problems.push(`open: ${of} is ${paymentStatus}`);
    for (const [status, same] of grouped(had, ({ status }) => status)) {
      if (same.length > 1) problems.push(`doubled: ${status} of ${of} took effect ${same.length} times`);
      if (FINAL.has(status) && status !== paymentStatus) problems.push(`mistaken: ${of} never was ${status}`);
    }
    if (!had.some(({ status }) => status === paymentStatus))
      problems.push(`lost: ${paymentStatus} of ${of} took no effect`);
    const end = had.findIndex(({ status }) => FINAL.has(status));
    if (end >= 0 && had.slice(end).some(({ status }) => OPEN.has(status))) problems.push(`late: ${of} was open again`);
    if (had.some(effect => effect.amount !== amount)) problems.push(`mistaken: an effect of ${of} has another amount`);
  }
  const booked = new Set(payments.map(({ id }) => id));
  for (const id of byPayment.keys())
    if (!booked.has(id)) problems.push(`mistaken: payment ${id} took effect, and is none`);

  for (const { reference, state } of journal) {
    if (state === 'begun') problems.push(`in doubt: ${reference}`);
    if (state === 'planned') problems.push(`not sent: ${reference} is still planned`);
  }
  if (uncertain > 0) problems.push(`uncertain: ${uncertain} effects have begun, and nobody knows their end`);
  return problems;
}

/** How much more each may be held at least in the last third than in the one before. */
export const ALLOWED = { heap: 0.5, rss: 10, sockets: 3, resources: 3 } as const;
export type Measure = keyof typeof ALLOWED;

/** The least that a process held in each third of its time. */
export type Thirds = Record<Measure, readonly [first: number, second: number, third: number]>;

/** The least: what is under way at a moment comes and goes, and what is never let go raises that as well. */
export function thirdsOf(held: readonly Held[]): Thirds {
  const [begin, end] = [held[0]?.at ?? 0, held.at(-1)?.at ?? 0];
  const third = (index: number) =>
    held.filter(({ at }) => Math.min(2, Math.floor((3 * (at - begin)) / (end - begin || 1))) === index);
  const leastOf = (measure: Measure) =>
    [0, 1, 2].map(index => {
      const values = third(index).map(one => one[measure]);
      return values.length > 0 ? Math.min(...values) : Number.NaN;
    }) as unknown as Thirds[Measure];
  return { heap: leastOf('heap'), rss: leastOf('rss'), sockets: leastOf('sockets'), resources: leastOf('resources') };
}

/** @returns what has grown. The first third is left out: code is compiled then, and connections are opened */
export function growths(thirds: Thirds): string[] {
  return (Object.keys(ALLOWED) as Measure[]).flatMap(measure => {
    const [, second, third] = thirds[measure];
    // What was not measured is not flat.
    if (third - second <= ALLOWED[measure]) return [];
    return [`grown: ${measure} from ${second.toFixed(1)} to ${third.toFixed(1)}`];
  });
}
