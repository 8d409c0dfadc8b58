// One payment: its state and moves, its timeline, the record, and the merchant's request.
import { html } from 'hono/html';
import { curlOf } from '../../api/curl.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money } from '../../money.ts';
import { millisecondsOf } from '../../php.ts';
import { badge, facts, type Html, methodName, nameOf } from '../layout.ts';
import { movePanel } from './moves.ts';
import { timeOf } from './time.ts';
import { timeline } from './timeline.ts';
import { rawText, sent, type View } from './view.ts';

export const paymentTitle = (record: PaymentRecord): string =>
  `${record.paymentStatus}: ${nameOf(record)}, ${money(record)}`;

export function paymentPage(view: View, record: PaymentRecord): Html {
  const { ledger, log } = view.parts;
  const { id, paymentStatus, paymentType, paymentMethod, errorMessage, reference, description } = record;
  const creation = log.creationOf(id);
  return html`<p class="crumbs"><a href="/">Payments</a> <span aria-hidden="true">/</span> <span class="mono">${id}</span></p>
  <h1 class="amount"><span>${money(record)}</span> ${badge(paymentStatus)}</h1>
  <p class="lead">${reference ? sent(reference) : 'Without a reference'}${errorMessage ? html` · ${sent(errorMessage)}` : ''}</p>
  <div class="columns">
    <div>
      <section class="card" aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>${timeline(view, id)}</section>
    </div>
    <div>
      <section class="card" aria-labelledby="move"><h2 id="move">Move it</h2>${movePanel(view, record)}</section>
      <section class="card" aria-labelledby="facts"><h2 id="facts">Payment</h2>
        ${facts({
          Type: paymentType === 'DEPOSIT' ? 'Deposit: the customer pays' : 'Withdrawal: the merchant pays',
          Method: methodName(paymentMethod),
          Description: description && sent(description),
          Created: timeOf(millisecondsOf(record.created), view.now),
          'Callbacks go to': html`<span class="mono">${sent(ledger.callbackUrlOf(id))}</span>`,
          "Customer's page":
            paymentType === 'DEPOSIT' ? html`<a href="/pay/${id}">/pay/${id.slice(0, 8)}…</a>` : undefined,
          Create: creation ? html`<a href="/calls/${creation.id}">call ${creation.id}</a>` : 'it was not kept',
        })}
      </section>
      <section class="card" aria-labelledby="record"><h2 id="record">Record</h2>
        <p class="dim">As a lookup shows it.</p>
        ${rawText('record-json', 'Record of the payment', JSON.stringify(record, null, 2))}
        <details id="lookup"><summary>Look it up with curl</summary>${rawText('lookup-curl', 'The lookup as a curl command', lookupOf(view, id))}</details>
      </section>
    </div>
  </div>`;
}

const lookupOf = ({ url, parts }: View, id: string): string =>
  curlOf({
    method: 'GET',
    url: `${url.origin}/api/v1/payments/${id}`,
    headers: [['authorization', `Bearer ${parts.settings.apiKey}`]],
    body: new Uint8Array(),
  });
