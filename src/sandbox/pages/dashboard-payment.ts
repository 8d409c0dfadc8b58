// One payment on the dashboard: its moves, the raw request and record, and each callback.
import { html } from 'hono/html';
import { isFinalStatus } from '../../schemas/methods.ts';
import type { Call } from '../api/call-log.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { PaymentRecord } from '../ledger/ledger.ts';
import { money } from '../money.ts';
import { DECLINES } from './customer/declines.ts';
import { badge, facts, type Html, methodName, timeOf } from './layout.ts';
import { deliveryList, pretty, rawText } from './logs.ts';

export const paymentPage = (
  record: PaymentRecord,
  request: Call | undefined,
  deliveries: Delivery[],
): Html => html`<main>
  <p><a href="/">All payments</a></p>
  <h1>${record.reference || 'Payment without a reference'}</h1>
  <div class="columns">
    <div>
    <section class="card" id="part-state" aria-labelledby="state"><h2 id="state">State</h2>
      ${facts({
        State: badge(record.paymentStatus),
        Reason: record.errorMessage,
        Amount: money(record),
        Type: record.paymentType === 'DEPOSIT' ? 'Deposit: the customer pays' : 'Withdrawal: the merchant pays',
        Method: methodName(record.paymentMethod),
        Id: html`<code>${record.id}</code>`,
        Created: timeOf(record.created),
      })}
      ${moves(record)}
      ${record.paymentType === 'DEPOSIT' && html`<p><a href="/pay/${record.id}">The payment page</a></p>`}
    </section>
    <section class="card" id="part-callbacks" aria-labelledby="callbacks"><h2 id="callbacks">Callbacks</h2>${deliveryList(deliveries)}</section>
    </div>
    <div>
    <section class="card" id="part-record" aria-labelledby="record"><h2 id="record">Record</h2>
      <p>As a lookup shows it.</p>
      ${rawText('Record of the payment', JSON.stringify(record, null, 2))}
    </section>
    <section class="card" id="part-request" aria-labelledby="request"><h2 id="request">Request</h2>${request ? rawRequest(request) : html`<p class="dim">It was not kept.</p>`}</section>
    </div>
  </div>
</main>`;

function moves({ id, paymentStatus }: PaymentRecord): Html {
  const isFinal = isFinalStatus(paymentStatus);
  const buttons = html`<form method="post" action="/payments/${id}" class="moves" data-quiet>
    ${isFinal && html`<input type="hidden" name="force" value="yes">`}
    <div class="row">
      <button class="${isFinal ? '' : 'primary'}" id="complete" name="move" value="complete">Complete</button>
      <button id="authorize" name="move" value="authorize">Authorise</button>
      <button id="cancel" name="move" value="cancel">Cancel</button>
    </div>
    <label for="reason">Fail, because</label>
    <div class="row">
      <select id="reason" name="reason">
        ${Object.entries(DECLINES).map(([value, { label }]) => html`<option value="${value}">${label}</option>`)}
        <option value="">no reason is given</option>
      </select>
      <button id="fail" name="move" value="fail">Fail</button>
    </div>
  </form>`;
  if (!isFinal) return buttons;
  return html`<details id="force"><summary>${paymentStatus} is final. Move it all the same</summary>${buttons}</details>`;
}

const rawRequest = ({ method, path, headers, body, answer, fault }: Call): Html => html`
  ${fault && html`<p>Injected fault: <span class="badge fault">${fault}</span></p>`}
  ${rawText('Raw request', [`${method} ${path}`, ...headers.map(([name, value]) => `${name}: ${value}`), '', new TextDecoder().decode(body)].join('\n'))}
  <h3>Answer</h3>
  ${
    answer
      ? rawText('Raw answer', `${answer.status}\n\n${pretty(answer.body)}`)
      : html`<p>None was sent: the connection broke, or the caller left.</p>`
  }`;
