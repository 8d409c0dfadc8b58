// Lists every call, including refused ones.
import { html } from 'hono/html';
import type { Call } from '../../events.ts';
import { KEPT_CALLS } from '../../log.ts';
import { type Html, nameOf } from '../layout.ts';
import { outcomeOfCall, pill } from './outcome.ts';
import { spanOf, timeOf } from './time.ts';
import { type Filters, filtered, sent, type View } from './view.ts';

const FILTERS: Filters<Call> = {
  '': { label: 'All', fits: () => true },
  refused: { label: 'Refused or broken', fits: call => outcomeOfCall(call).tone === 'bad' },
  faulty: { label: 'With a fault', fits: ({ fault }) => fault !== undefined },
};

export function callsPage(view: View): Html {
  const all = view.parts.log.calls.latest();
  const { shown, chips, pager } = filtered(view, all, FILTERS, 'Which calls');
  return html`<h1>Calls</h1>
  <p class="lead">What arrived at the gateway's addresses, and what was answered. The latest ${KEPT_CALLS} are kept, and the create of each payment.</p>
  ${chips}
  ${
    shown.length === 0
      ? html`<p class="card none">${all.length === 0 ? html`None has arrived yet. <a href="/">The first page</a> has a command that makes one.` : 'None of these.'}</p>`
      : html`<table class="log"><thead><tr><th scope="col" class="state">Answer</th><th scope="col">Call</th><th scope="col" class="payment">Payment</th><th scope="col" class="fault">Fault</th><th scope="col" class="number">Took</th><th scope="col" class="created">Arrived</th></tr></thead>
    <tbody>${shown.map(call => row(view, call))}</tbody></table>`
  }
  ${pager}`;
}

const row = (view: View, call: Call): Html => {
  const outcome = outcomeOfCall(call);
  return html`<tr id="call-${call.id}">
    <td class="state">${pill(outcome)}</td>
    <th scope="row"><a href="/calls/${call.id}" id="open-call-${call.id}">${callName(call)}</a>${outcome.sentence ? html`<span class="why">${sent(outcome.sentence)}</span>` : ''}</th>
    <td class="payment">${paymentLink(view, call.paymentId)}</td>
    <td class="fault">${call.fault ? html`<code>${call.fault}</code>` : html`<span class="dim">–</span>`}</td>
    <td class="number">${call.durationMs === undefined ? '' : spanOf(call.durationMs)}</td>
    <td class="created">${timeOf(call.at, view.now)}</td>
  </tr>`;
};

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

/** Links a payment by its name. A forgotten payment has none. */
export function paymentLink({ parts }: View, id: string | undefined): Html {
  const record = id === undefined ? undefined : parts.ledger.find(id);
  return record ? html`<a href="/payments/${record.id}">${sent(nameOf(record))}</a>` : html`<span class="dim">–</span>`;
}
