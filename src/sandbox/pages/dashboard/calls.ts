// Lists every call, including refused ones.
import { html } from 'hono/html';
import type { Call } from '../../events.ts';
import { KEPT_CALLS } from '../../log.ts';
import { type Html, nameOf } from '../layout.ts';
import { logTable } from './log-table.ts';
import { outcomeOfCall, pill } from './outcome.ts';
import { timeOf } from './time.ts';
import { type Filters, sent, type View } from './view.ts';

const FILTERS: Filters<Call> = {
  '': { label: 'All', fits: () => true },
  refused: { label: 'Refused or broken', fits: call => outcomeOfCall(call).tone === 'bad' },
  faulty: { label: 'With a fault', fits: ({ fault }) => fault !== undefined },
};

export const callsPage = (view: View): Html => html`<h1>Calls</h1>
  <p class="lead">What arrived at the gateway's addresses, and what was answered. The latest ${KEPT_CALLS} are kept, and the create of each payment.</p>
  ${logTable(view, {
    all: view.parts.log.calls.latest(),
    filters: FILTERS,
    label: 'Which calls',
    heads: ['Call', 'Arrived'],
    none: html`None has arrived yet. <a href="/">The first page</a> has a command that makes one.`,
    lineOf: call => {
      const outcome = outcomeOfCall(call);
      const name = html`<a href="/calls/${call.id}" id="open-call-${call.id}">${callName(call)}</a>`;
      return { ...call, id: `call-${call.id}`, outcome, name, why: outcome.sentence && sent(outcome.sentence) };
    },
  })}`;

/** Returns a short line for other pages. */
export function callLine(view: View, call: Call): Html {
  const record = call.paymentId === undefined ? undefined : view.parts.ledger.find(call.paymentId);
  return html`<li>
    ${pill(outcomeOfCall(call))}
    <a href="/calls/${call.id}" class="what">${record ? html`<span class="mono">${call.method}</span> ${sent(nameOf(record))}` : callName(call)}</a>
    ${timeOf(call.at, view.now)}
  </li>`;
}

/** Shortens the API's long paths, which begin alike. */
const callName = ({ method, path }: Call): Html =>
  html`<span class="mono">${method} ${path.replace(/^\/api\/v1/, '')}</span>`;
