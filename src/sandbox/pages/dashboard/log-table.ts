// The table of a log: calls, or callbacks, with filters and pages.
import { html } from 'hono/html';
import type { Fault } from '../../faults/kinds.ts';
import { type Html, nameOf } from '../layout.ts';
import { type Outcome, pill } from './outcome.ts';
import { spanOf, timeOf } from './time.ts';
import { type Filters, filtered, sent, type View } from './view.ts';

interface Line {
  /** The id of its row. */
  id: string;
  outcome: Outcome;
  name: Html;
  why?: string | Html | false | undefined;
  paymentId?: string | undefined;
  fault?: Fault | undefined;
  durationMs?: number | undefined;
  at: number;
}

interface Table<T> {
  all: readonly T[];
  filters: Filters<T>;
  /** The subject of the filters. */
  label: string;
  /** The heads of the columns with the name and the time. */
  heads: readonly [name: string, time: string];
  /** The text of an empty log. */
  none: Html;
  lineOf(one: T): Line;
}

export function logTable<T>(view: View, { all, filters, label, heads, none, lineOf }: Table<T>): Html {
  const { shown, chips, pager } = filtered(view, all, filters, label);
  if (shown.length === 0) return html`${chips}<p class="card none">${all.length === 0 ? none : 'None of these.'}</p>`;
  return html`${chips}
  <table class="log"><thead><tr><th scope="col" class="state">Answer</th><th scope="col">${heads[0]}</th><th scope="col" class="payment">Payment</th><th scope="col" class="fault">Fault</th><th scope="col" class="number">Took</th><th scope="col" class="created">${heads[1]}</th></tr></thead>
  <tbody>${shown.map(one => row(view, lineOf(one)))}</tbody></table>
  ${pager}`;
}

const row = (
  view: View,
  { id, outcome, name, why, paymentId, fault, durationMs, at }: Line,
): Html => html`<tr id="${id}">
    <td class="state">${pill(outcome)}</td>
    <th scope="row">${name}${why && html`<span class="why">${why}</span>`}</th>
    <td class="payment">${paymentLink(view, paymentId)}</td>
    <td class="fault">${fault ? html`<code>${fault}</code>` : html`<span class="dim">–</span>`}</td>
    <td class="number">${durationMs === undefined ? '' : spanOf(durationMs)}</td>
    <td class="created">${timeOf(at, view.now)}</td>
  </tr>`;

/** Links a payment by its name. A forgotten payment has none. */
export function paymentLink({ parts }: View, id: string | undefined): Html {
  const record = id === undefined ? undefined : parts.ledger.find(id);
  return record ? html`<a href="/payments/${record.id}">${sent(nameOf(record))}</a>` : html`<span class="dim">–</span>`;
}
