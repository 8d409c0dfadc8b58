// The dashboard: every payment, call and callback of the sandbox, live, and the faults to arm.
import { html } from 'hono/html';
import { isFinalStatus } from '../../schemas/methods.ts';
import type { Call } from '../api/call-log.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import { environmentOf } from '../environment.ts';
import type { Armed } from '../faults/faults.ts';
import { CALL_FAULTS, CALLBACK_FAULTS } from '../faults/kinds.ts';
import type { PaymentRecord } from '../ledger/ledger.ts';
import { money } from '../money.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import { badge, type Html, methodName, nameOf, timeOf } from './layout.ts';
import { deliveryList, rawText, requestList } from './logs.ts';

export interface Overview {
  origin: string;
  settings: SandboxSettings;
  payments: readonly PaymentRecord[];
  total: number;
  page: number;
  pages: number;
  armed: readonly Armed[];
  requests: readonly Call[];
  /** The payment of a call, if the sandbox still has it. */
  find(id: string): PaymentRecord | undefined;
  deliveries: readonly Delivery[];
}

export const dashboard = (overview: Overview): Html => html`<main>
  <h1>Payments</h1>
  ${payments(overview)}
  <div class="columns">
    <div>
      <section class="card" id="part-callbacks" aria-labelledby="callbacks"><h2 id="callbacks">Callbacks</h2>${deliveryList(overview.deliveries)}</section>
      <section class="card" id="part-calls" aria-labelledby="calls"><h2 id="calls">Calls</h2>${requestList(overview.requests, overview.find)}</section>
    </div>
    <div>
      <section class="card" id="part-faults" aria-labelledby="faults"><h2 id="faults">Faults</h2>${faults(overview.armed)}</section>
      <section class="card" id="part-connect" aria-labelledby="connect"><h2 id="connect">Connect your app</h2>${connection(overview)}</section>
    </div>
  </div>
</main>`;

function payments({ payments, total, page, pages }: Overview): Html {
  if (total === 0) {
    return html`<section class="card empty" id="part-payments"><p>No payment yet.</p>
      <p>Create one through your app, or play a whole story: <code>npx payment-gateway-sandbox trigger deposit-completed</code></p></section>`;
  }
  return html`<section class="card" id="part-payments" aria-label="Payments">
    <table class="payments">
      <thead><tr><th scope="col">Reference</th><th scope="col">State</th><th scope="col">Amount</th><th scope="col">Method</th><th scope="col">Created</th><th scope="col">Move</th></tr></thead>
      <tbody>${payments.map(row)}</tbody>
    </table>
    ${
      pages > 1 &&
      html`<nav class="pages" aria-label="Pages of payments">
      ${page > 1 && html`<a href="/?page=${page - 1}">Newer</a>`}
      <span>Page ${page} of ${pages}</span>
      ${page < pages && html`<a href="/?page=${page + 1}">Older</a>`}
    </nav>`
    }
  </section>`;
}

const row = (payment: PaymentRecord): Html => html`<tr id="row-${payment.id}">
  <th scope="row"><a id="open-${payment.id}" href="/payments/${payment.id}">${nameOf(payment)}</a></th>
  <td>${badge(payment.paymentStatus)}</td>
  <td class="number">${payment.paymentType === 'WITHDRAWAL' ? '−' : ''}${money(payment)}</td>
  <td>${methodName(payment.paymentMethod)}<span class="dim"> ${payment.paymentType.toLowerCase()}</span></td>
  <td>${timeOf(payment.created)}</td>
  <td>${
    isFinalStatus(payment.paymentStatus)
      ? html`<span class="dim">final</span>`
      : html`<form method="post" action="/payments/${payment.id}" class="row" data-quiet>
          <button class="small" id="complete-${payment.id}" name="move" value="complete" aria-label="Complete ${nameOf(payment)}">Complete</button>
          <button class="small" id="fail-${payment.id}" name="move" value="fail" aria-label="Fail ${nameOf(payment)}">Fail</button>
        </form>`
  }</td>
</tr>`;

function faults(armed: readonly Armed[]): Html {
  const options = (table: Readonly<Record<string, string>>) =>
    Object.entries(table).map(([name, does]) => html`<option value="${name}" title="${does}">${name}</option>`);
  return html`
    <form method="post" action="/faults" class="stack" data-quiet>
      <label for="fault">The next call, or the next callback, meets</label>
      <select id="fault" name="fault">
        <optgroup label="Calls">${options(CALL_FAULTS)}</optgroup>
        <optgroup label="Callbacks">${options(CALLBACK_FAULTS)}</optgroup>
      </select>
      <fieldset class="row"><legend>A fault of calls is injected into</legend>
        <label><input type="radio" name="on" value="create" id="on-create" checked> a create</label>
        <label><input type="radio" name="on" value="lookup" id="on-lookup"> a lookup</label>
      </fieldset>
      <button id="arm" name="act" value="arm">Arm</button>
    </form>
    ${
      armed.length > 0 &&
      html`<h3>Armed</h3>
      <ol class="armed">${armed.map(({ fault, on }) => html`<li><code>${fault}</code> <span class="dim">for the next ${on}</span></li>`)}</ol>
      <form method="post" action="/faults" data-quiet><button class="quiet" name="act" value="clear">Disarm all</button></form>`
    }
    <details id="all-faults"><summary>What each does</summary><dl class="terms">${Object.entries({
      ...CALL_FAULTS,
      ...CALLBACK_FAULTS,
    }).map(([name, does]) => html`<dt><code>${name}</code></dt><dd>${does.replaceAll('`', '')}</dd>`)}</dl></details>`;
}

function connection({ origin, settings }: Overview): Html {
  return html`<p>Paste into the <code>.env</code> of your app:</p>
    ${rawText('Environment of your app', environmentOf(origin, settings).join('\n'))}
    <form method="post" action="/reset" data-quiet data-confirm="Forget every payment, callback and fault?"><button class="quiet" name="act" value="reset">Forget everything: reset the sandbox</button></form>`;
}
