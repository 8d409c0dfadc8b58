// The log of calls and that of callbacks: one list, and the facts that both have.
import { html } from 'hono/html';
import { FAULTS, type Fault } from '../../faults/kinds.ts';
import type { Kept } from '../../log.ts';
import { type Html, pill, rows, sent } from '../layout.ts';
import type { Outcome } from './outcome.ts';
import { spanOf, timeOf } from './time.ts';
import { listOf, PAGE, type Page, pageOf, paymentLink, prose, type View } from './view.ts';

/** A call or a callback. */
interface Logged {
  id: number;
  at: number;
  paymentId?: string | undefined;
  fault?: Fault | undefined;
  durationMs?: number | undefined;
}

interface LogPage<T extends Logged> {
  title: string;
  lead: Html;
  log: Kept<T>;
  /** The filters. The empty name means all. */
  filters: Readonly<Record<string, readonly [label: string, fits: (one: T) => boolean]>>;
  /** The heads of the columns with the name and the time. */
  heads: readonly [name: string, time: string];
  nameOf(one: T): Html;
  outcomeOf(one: T): Outcome;
  /** The text of an empty log. */
  none: Html;
  before?: Html;
  after?: Html | false;
}

export function logPage<T extends Logged>(view: View, page: LogPage<T>): Page {
  const { title, lead, log, filters, heads, nameOf, outcomeOf, none, before, after } = page;
  const all = log.latest();
  const [, fits] = filters[view.url.searchParams.get('show') ?? ''] ?? [];
  const found = fits ? all.filter(fits) : all;
  const { offset } = pageOf(view, found.length);
  const list = listOf<T>(view, {
    filter: ['show', `Which ${title.toLowerCase()}`],
    chips: Object.entries(filters).map(([value, [label, fits]]) => [value, label, all.filter(fits).length]),
    lines: found.slice(offset, offset + PAGE),
    total: found.length,
    idOf: ({ id }) => `line-${id}`,
    columns: [
      { name: 'state', head: 'Answer', cell: one => pill(outcomeOf(one)) },
      {
        name: 'name',
        head: heads[0],
        cell(one) {
          const { tone, sentence } = outcomeOf(one);
          return html`${nameOf(one)}${tone !== 'good' && sentence && html`<span class="why">${sent(sentence)}</span>`}`;
        },
      },
      { name: 'side', head: 'Payment', cell: ({ paymentId }) => paymentLink(view, paymentId) },
      { name: 'extra', head: 'Fault', cell: ({ fault }) => fault && html`<code>${fault}</code>` },
      { name: 'number', head: 'Took', cell: ({ durationMs }) => (durationMs === undefined ? '' : spanOf(durationMs)) },
      { name: 'time', head: heads[1], cell: ({ at }) => timeOf(at, view.now) },
    ],
    none: log.size === 0 ? none : 'None of these.',
  });
  return {
    title: `${title} (${log.size})`,
    main: html`<h1>${title}</h1><p class="lead">${lead}</p>${before}${list}${after}`,
  };
}

/** The facts of a call or a callback, with its own ones in the middle. */
export const factsOf = (
  view: View,
  { paymentId, fault, at, durationMs }: Logged,
  outcome: Outcome,
  own: Parameters<typeof rows>[0],
): Html | undefined =>
  rows({
    Answer: pill(outcome),
    Payment: paymentLink(view, paymentId),
    Fault: fault && html`<code>${fault}</code> ${prose(FAULTS[fault])}`,
    ...own,
    At: timeOf(at, view.now, { isPrecise: true }),
    Took: durationMs === undefined ? 'under way' : spanOf(durationMs),
  });
