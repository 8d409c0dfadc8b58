// The dashboard: every payment, call and callback of the sandbox, live, and the faults to arm.
import { html } from 'hono/html';
import { isFinalStatus } from '../../schemas/methods.ts';
import type { Delivery } from '../callbacks.ts';
import type { Call } from '../calls.ts';
import { environmentOf } from '../environment.ts';
import { type Armed, CALL_FAULTS, CALLBACK_FAULTS } from '../faults.ts';
import type { TerminalOptions } from '../gateway.ts';
import type { PaymentRecord } from '../ledger.ts';
import { badge, type Html, methodName, money } from './layout.ts';

export interface Overview {
  origin: string;
  terminal: TerminalOptions;
  payments: readonly PaymentRecord[];
  total: number;
  page: number;
  pages: number;
  armed: readonly Armed[];
  calls: readonly Call[];
  /** A payment of theirs, if the sandbox has it still. */
  find(id: string): PaymentRecord | undefined;
  deliveries: readonly Delivery[];
}

export const dashboard = (overview: Overview): Html => html`<main>
  <h1>Payments</h1>
  ${payments(overview)}
  <div class="columns">
    <div>
      <section class="card" aria-labelledby="callbacks"><h2 id="callbacks">Callbacks</h2>${callbacks(overview.deliveries)}</section>
      <section class="card" aria-labelledby="calls"><h2 id="calls">Calls</h2>${calls(overview)}</section>
    </div>
    <div>
      <section class="card" aria-labelledby="faults"><h2 id="faults">Faults</h2>${faults(overview.armed)}</section>
      <section class="card" aria-labelledby="connect"><h2 id="connect">Connect your app</h2>${connection(overview)}</section>
    </div>
  </div>
</main>`;

const nameOf = ({ reference, id }: PaymentRecord): string => reference || id.slice(0, 8);

export const timeOf = (created: PaymentRecord['created']): Html => {
  const [day, time = ''] = created.date.split(' ');
  return html`<time datetime="${day}T${time}Z" title="${day} UTC">${time.slice(0, 8)}</time>`;
};

function payments({ payments, total, page, pages }: Overview): Html {
  if (total === 0) {
    return html`<section class="card empty"><p>No payment yet.</p>
      <p>Create one through your app, or play a whole story: <code>npx payment-gateway-sandbox trigger deposit-completed</code></p></section>`;
  }
  return html`<section class="card" aria-label="Payments">
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

const row = (payment: PaymentRecord): Html => html`<tr>
  <th scope="row"><a href="/payments/${payment.id}">${nameOf(payment)}</a></th>
  <td>${badge(payment.paymentStatus)}</td>
  <td class="number">${payment.paymentType === 'WITHDRAWAL' ? '−' : ''}${money(payment)}</td>
  <td>${methodName(payment.paymentMethod)}<span class="dim"> ${payment.paymentType.toLowerCase()}</span></td>
  <td>${timeOf(payment.created)}</td>
  <td>${
    isFinalStatus(payment.paymentStatus)
      ? html`<span class="dim">final</span>`
      : html`<form method="post" action="/payments/${payment.id}" class="row" data-quiet>
          <button class="small" name="move" value="complete" aria-label="Complete ${nameOf(payment)}">Complete</button>
          <button class="small" name="move" value="fail" aria-label="Fail ${nameOf(payment)}">Fail</button>
        </form>`
  }</td>
</tr>`;

/** What the merchant answered, in its colour. */
const answerOf = ({ status, error, durationMs }: Delivery): Html => {
  if (error) return html`<span class="badge failed">${error}</span>`;
  if (status === undefined) return html`<span class="badge">under way</span>`;
  const tone = status < 300 ? 'completed' : 'failed';
  return html`<span class="badge ${tone}">${status}</span> <span class="dim">${Math.round(durationMs ?? 0)} ms</span>`;
};

export function callbacks(deliveries: readonly Delivery[]): Html {
  if (deliveries.length === 0) return html`<p class="dim">None has been posted yet.</p>`;
  return html`<ul class="list">${deliveries.map(
    delivery => html`<li>
      <div class="line">
        ${badge(delivery.paymentStatus)} ${answerOf(delivery)}
        ${delivery.fault && html`<span class="badge fault">${delivery.fault}</span>`}
        <form method="post" action="/deliveries/${delivery.id}" data-quiet>
          <button class="small" aria-label="Redeliver callback ${delivery.id}">Redeliver</button>
        </form>
      </div>
      <p class="url">POST ${delivery.url}</p>
      <details id="delivery-${delivery.id}"><summary>Body of callback ${delivery.id}</summary>${code(`Body of callback ${delivery.id}`, pretty(delivery.body))}</details>
    </li>`,
  )}</ul>`;
}

function faults(armed: readonly Armed[]): Html {
  const options = (table: Readonly<Record<string, string>>) =>
    Object.entries(table).map(
      ([name, does]) => html`<option value="${name}" title="${does}">${name}</option>`,
    );
  return html`
    <form method="post" action="/faults" class="stack" data-quiet>
      <label for="fault">The next call, or the next callback, meets</label>
      <select id="fault" name="fault">
        <optgroup label="Calls">${options(CALL_FAULTS)}</optgroup>
        <optgroup label="Callbacks">${options(CALLBACK_FAULTS)}</optgroup>
      </select>
      <fieldset class="row"><legend>A fault of calls befalls</legend>
        <label><input type="radio" name="on" value="create" id="on-create" checked> a create</label>
        <label><input type="radio" name="on" value="lookup" id="on-lookup"> a lookup</label>
      </fieldset>
      <button name="act" value="arm">Arm</button>
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
    }).map(
      ([name, does]) => html`<dt><code>${name}</code></dt><dd>${does.replaceAll('`', '')}</dd>`,
    )}</dl></details>`;
}

function calls({ calls, find }: Overview): Html {
  if (calls.length === 0) return html`<p class="dim">None has arrived yet.</p>`;
  return html`<ul class="list">${calls.map(call => {
    const { method, path, answer, fault } = call;
    const payment = call.paymentId && find(call.paymentId);
    return html`<li>
      <div class="line">
        ${outcomeOf(call)} <code>${method}</code> <span class="url">${path}</span>
        ${payment && html`<a href="/payments/${payment.id}">${nameOf(payment)}</a>`}
        ${fault && html`<span class="badge fault">${fault}</span>`}
      </div>
      ${answer?.message && html`<p>${answer.message}</p>`}
    </li>`;
  })}</ul>`;
}

const outcomeOf = ({ answer, durationMs }: Call): Html => {
  if (!answer)
    return html`<span class="badge failed">${durationMs === undefined ? 'under way' : 'broken'}</span>`;
  const tone = answer.status < 300 && !answer.isCut ? 'completed' : 'failed';
  return html`<span class="badge ${tone}">${answer.status}</span>`;
};

function connection({ origin, terminal }: Overview): Html {
  return html`<p>Paste into your shell, or your <code>.env</code>:</p>
    ${code('Environment of your app', environmentOf(origin, terminal).join('\n'))}
    <form method="post" action="/reset" data-quiet><button class="quiet" name="act" value="reset">Forget everything: reset the sandbox</button></form>`;
}

/** Text as it is; it can be scrolled with the keyboard. */
export const code = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;

/** JSON for people; what is none stays as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
