// What was called and what was posted, as lists.
import { html } from 'hono/html';
import type { Call } from '../api/call-log.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { PaymentRecord } from '../ledger/ledger.ts';
import { badge, type Html, nameOf } from './layout.ts';

/** What the merchant answered, in its colour. */
const answerOf = ({ status, error, durationMs }: Delivery): Html => {
  if (error) return html`<span class="badge failed">${error}</span>`;
  if (status === undefined) return html`<span class="badge">under way</span>`;
  const tone = status < 300 ? 'completed' : 'failed';
  return html`<span class="badge ${tone}">${status}</span> <span class="dim">${Math.round(durationMs ?? 0)} ms</span>`;
};

export function deliveryList(deliveries: readonly Delivery[]): Html {
  if (deliveries.length === 0) return html`<p class="dim">None has been posted yet.</p>`;
  return html`<ul class="list">${deliveries.map(
    delivery => html`<li>
      <div class="line">
        ${badge(delivery.paymentStatus)} ${answerOf(delivery)}
        ${delivery.fault && html`<span class="badge fault">${delivery.fault}</span>`}
        <form method="post" action="/deliveries/${delivery.id}" data-quiet>
          <button class="small" id="redeliver-${delivery.id}" aria-label="Redeliver callback ${delivery.id}">Redeliver</button>
        </form>
      </div>
      <p class="url">POST ${delivery.url}</p>
      <details id="delivery-${delivery.id}"><summary>Body of callback ${delivery.id}</summary>${rawText(`Body of callback ${delivery.id}`, pretty(delivery.body))}</details>
    </li>`,
  )}</ul>`;
}

export function requestList(requests: readonly Call[], find: (id: string) => PaymentRecord | undefined): Html {
  if (requests.length === 0) return html`<p class="dim">None has arrived yet.</p>`;
  return html`<ul class="list">${requests.map(request => {
    const { method, path, fault } = request;
    const payment = request.paymentId && find(request.paymentId);
    return html`<li>
      <div class="line">
        ${outcomeOf(request)} <code>${method}</code> <span class="url">${path}</span>
        ${payment && html`<a href="/payments/${payment.id}">${nameOf(payment)}</a>`}
        ${fault && html`<span class="badge fault">${fault}</span>`}
      </div>
      ${request.message && html`<p>${request.message}</p>`}
    </li>`;
  })}</ul>`;
}

const outcomeOf = ({ answer, durationMs }: Call): Html => {
  if (!answer) return html`<span class="badge failed">${durationMs === undefined ? 'under way' : 'broken'}</span>`;
  const tone = answer.status < 300 && !answer.isCut ? 'completed' : 'failed';
  return html`<span class="badge ${tone}">${answer.status}</span>`;
};

/** Text as it is; it can be scrolled with the keyboard. */
export const rawText = (label: string, text: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;

/** JSON for people; what is none stays as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
