// The first page: every payment with search and filters, next to the latest callbacks and calls.
import { html } from 'hono/html';
import {
  DEPOSIT_METHODS,
  NFT_METHODS,
  ONRAMP_METHODS,
  PAYMENT_STATUSES,
  WITHDRAWAL_METHODS,
} from '../../../schemas/methods.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money } from '../../money.ts';
import { millisecondsOf } from '../../php.ts';
import { badge, type Html, methodName, nameOf } from '../layout.ts';
import { callLine } from './calls.ts';
import { deliveryLine } from './deliveries.ts';
import { environment, firstSteps } from './empty.ts';
import { moveMenu } from './moves.ts';
import { outcomeOfDelivery, outcomeOfWaiting, pill } from './outcome.ts';
import { storyForm } from './stories.ts';
import { timeOf } from './time.ts';
import { linkTo, PAGE, pageOf, pager, sent, type View } from './view.ts';

/** Lines of each list next to the payments. */
const BESIDE = 6;

/** Reads the query from the address. */
const queryOf = ({ url: { searchParams } }: View) => ({
  search: searchParams.get('search') ?? '',
  paymentStatus: searchParams.get('status') || undefined,
  paymentMethod: searchParams.get('method') || undefined,
});

export function overview(view: View): Html {
  const { ledger } = view.parts;
  if (ledger.size === 0)
    return html`<h1>Payments</h1><div class="beside"><div>${firstSteps(view)}</div>${aside(view)}</div>`;
  const query = queryOf(view);
  const all = ledger.page(query, { limit: PAGE, offset: pageOf(view, ledger.size).offset });
  const { total, byStatus } = all;
  const { offset } = pageOf(view, total);
  // A page beyond the end shows the last one.
  const payments = all.payments.length > 0 ? all.payments : ledger.page(query, { limit: PAGE, offset }).payments;
  return html`<h1>Payments</h1>
  <div class="beside">
    <section aria-label="Payments" id="payments">
      ${filters(view, query, byStatus)}
      ${payments.length === 0 ? html`<p class="card none">No payment fits. <a href="/">Show all ${ledger.size.toLocaleString('en')}</a></p>` : table(view, payments)}
      ${pager(view, total)}
      ${memory(view)}
    </section>
    ${aside(view)}
  </div>`;
}

function filters(view: View, query: ReturnType<typeof queryOf>, byStatus: Partial<Record<string, number>>): Html {
  const { terminal } = view.parts.settings;
  const methods = new Set([
    ...DEPOSIT_METHODS,
    ...WITHDRAWAL_METHODS,
    ...NFT_METHODS,
    ...(terminal === 'onramp' ? ONRAMP_METHODS : []),
  ]);
  const all = Object.values(byStatus).reduce<number>((sum, count = 0) => sum + count, 0);
  const chip = (status: string | undefined, label: string, count: number) =>
    html`<a class="chip" href="${linkTo(view, { status, page: undefined })}" ${query.paymentStatus === status ? html`aria-current="true"` : ''}>${label} <span>${count.toLocaleString('en')}</span></a>`;
  return html`<form class="filters" role="search" data-filter>
    <div class="field grow"><label class="unseen" for="search">Search</label><input type="search" id="search" name="search" value="${query.search}" placeholder="Search a reference, id, amount or email" autocomplete="off" spellcheck="false"></div>
    <div class="field"><label class="unseen" for="method">Method</label><select id="method" name="method"><option value="">Any method</option>${[
      ...methods,
    ].map(
      method => html`<option value="${method}" ${method === query.paymentMethod ? 'selected' : ''}>${method}</option>`,
    )}</select></div>
    ${query.paymentStatus ? html`<input type="hidden" name="status" value="${query.paymentStatus}">` : ''}
    <button id="filter">Search</button>
  </form>
  <nav class="chips" aria-label="States">${chip(undefined, 'All', all)}${PAYMENT_STATUSES.map(status =>
    chip(status, status.charAt(0) + status.slice(1).toLowerCase(), byStatus[status] ?? 0),
  )}</nav>`;
}

const table = (view: View, payments: readonly PaymentRecord[]): Html => {
  const callbacks = callbacksOf(view, payments);
  return html`<table class="payments">
    <thead><tr><th scope="col" class="state">State</th><th scope="col" class="number">Amount</th><th scope="col">Reference</th><th scope="col" class="method">Method</th><th scope="col" class="callback">Callback</th><th scope="col" class="created">Created</th><th scope="col" class="move"><span class="unseen">Move</span></th></tr></thead>
    <tbody>${payments.map(
      payment => html`<tr id="row-${payment.id}">
      <td class="state">${badge(payment.paymentStatus)}</td>
      <td class="number">${payment.paymentType === 'WITHDRAWAL' ? '−' : ''}${money(payment)}</td>
      <th scope="row"><a id="open-${payment.id}" href="/payments/${payment.id}">${sent(nameOf(payment))}</a>${payment.errorMessage ? html`<span class="why">${sent(payment.errorMessage)}</span>` : ''}</th>
      <td class="method">${methodName(payment.paymentMethod)}${payment.paymentType === 'WITHDRAWAL' ? html` <span class="dim">withdrawal</span>` : ''}</td>
      <td class="callback">${callbacks.get(payment.id) ?? html`<span class="dim">–</span>`}</td>
      <td class="created">${timeOf(millisecondsOf(payment.created), view.now)}</td>
      <td class="move">${moveMenu(view, payment)}</td>
    </tr>`,
    )}</tbody>
  </table>`;
};

/** Returns the outcome of each payment's latest callback. */
function callbacksOf({ parts: { callbacks, log }, now }: View, payments: readonly PaymentRecord[]): Map<string, Html> {
  const found = new Map<string, Html>();
  for (const { id } of payments) {
    const delivery = log.deliveriesOf(id)[0];
    if (!delivery) continue;
    const outcome = outcomeOfDelivery(delivery);
    found.set(
      id,
      html`<a href="/deliveries/${delivery.id}" aria-label="Callback ${delivery.id}: ${outcome.label}">${pill(outcome)}</a>`,
    );
  }
  for (const waiting of callbacks.waiting) found.set(waiting.callback.paymentId, pill(outcomeOfWaiting(waiting, now)));
  return found;
}

/** Reports forgotten payments. */
function memory({ parts: { ledger, settings } }: View): Html | string {
  if (ledger.forgotten === 0) return '';
  return html`<p class="dim">${ledger.forgotten.toLocaleString('en')} older final payments made way for newer ones: the sandbox keeps ${settings.maxPayments.toLocaleString('en')}.</p>`;
}

function aside(view: View): Html {
  const { log, ledger } = view.parts;
  const deliveries = log.deliveries.latest(BESIDE);
  const latest = log.calls.latest(BESIDE);
  return html`<aside aria-label="What happens">
    <section class="card" aria-labelledby="beside-callbacks"><h2 id="beside-callbacks"><a href="/deliveries">Callbacks</a></h2>
      ${deliveries.length === 0 ? html`<p class="dim">None has been posted yet.</p>` : html`<ul class="lines">${deliveries.map(delivery => deliveryLine(view, delivery))}</ul>`}</section>
    <section class="card" aria-labelledby="beside-calls"><h2 id="beside-calls"><a href="/calls">Calls</a></h2>
      ${latest.length === 0 ? html`<p class="dim">None has arrived yet.</p>` : html`<ul class="lines">${latest.map(call => callLine(view, call))}</ul>`}</section>
    ${
      ledger.size === 0
        ? ''
        : html`<section class="card" aria-labelledby="beside-story"><h2 id="beside-story">Play a story</h2>${storyForm(view)}</section>
    <section class="card" aria-labelledby="beside-connect"><h2 id="beside-connect">Connect your app</h2>${environment(view)}</section>`
    }
  </aside>`;
}
