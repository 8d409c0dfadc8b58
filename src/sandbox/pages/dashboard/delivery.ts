// One callback: its post, the merchant's answer, and an editor to post it again.
import { html } from 'hono/html';
import { curlOf } from '../../api/curl.ts';
import type { Delivery } from '../../callbacks/delivery.ts';
import { FAULTS } from '../../faults/kinds.ts';
import { badge, facts, type Html, nameOf } from '../layout.ts';
import { pretty } from './bytes.ts';
import { paymentLink } from './log-table.ts';
import { outcomeOfDelivery, pill } from './outcome.ts';
import { spanOf, timeOf } from './time.ts';
import { formOf, prose, rawText, sent, type View } from './view.ts';

export function deliveryTitle({ parts }: View, delivery: Delivery): string {
  const record = parts.ledger.find(delivery.paymentId);
  const { label } = outcomeOfDelivery(delivery);
  return `${label}: ${delivery.paymentStatus} ${record ? nameOf(record) : ''}, callback ${delivery.id}`;
}

export function deliveryPage(view: View, delivery: Delivery): Html {
  const { id, at, paymentId, paymentStatus, url, body, durationMs, fault, repeats, isEdited } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  const repeated = view.parts.log.deliveriesOf(paymentId).filter(one => one.repeats === id);
  const link = (id: number) => html`<a href="/deliveries/${id}">callback ${id}</a> `;
  return html`<p class="crumbs"><a href="/deliveries">Callbacks</a> <span aria-hidden="true">/</span> ${id}</p>
  <h1 class="request">Callback ${id} ${badge(paymentStatus)} ${pill(outcome)}</h1>
  <p class="verdict ${outcome.tone}">${outcome.sentence}</p>
  <div class="columns">
    <div>
      <section class="card" aria-labelledby="posted"><h2 id="posted">Posted</h2>
        <p class="mono address">POST ${sent(url)}</p>
        ${rawText('body', 'Body, as it was posted', body)}
      </section>
      <section class="card" aria-labelledby="again"><h2 id="again">Edit and redeliver</h2>
        ${formOf(
          view,
          `/deliveries/${id}`,
          html`<label for="edited">Body <span class="dim">posted exactly as it stands here, once it is changed</span></label>
          <textarea id="edited" name="body" rows="18" spellcheck="false" autocomplete="off" dir="ltr">${pretty(body)}</textarea>
          <button class="primary" id="post-edited">Redeliver this body</button>`,
          'editor',
        )}
      </section>
    </div>
    <div>
      <section class="card" aria-labelledby="facts"><h2 id="facts">What happened</h2>
        ${facts({
          Payment: paymentLink(view, paymentId),
          Answer: pill(outcome),
          Fault: fault && html`<code>${fault}</code> ${prose(FAULTS[fault])}`,
          Repeats: repeats === undefined ? undefined : html`${link(repeats)} ${isEdited ? 'with an edited body' : ''}`,
          Redelivered: repeated.length === 0 ? undefined : html`${repeated.map(one => link(one.id))}`,
          Posted: timeOf(at, view.now, { isPrecise: true }),
          Took: durationMs === undefined ? undefined : spanOf(durationMs),
        })}
        ${formOf(view, `/deliveries/${id}`, html`<button id="redeliver">Redeliver as it was</button>`)}
      </section>
      <section class="card" aria-labelledby="answered"><h2 id="answered">Your app's answer</h2>${answerOf(delivery)}</section>
      <section class="card" aria-labelledby="as-curl"><h2 id="as-curl">As curl</h2>
        ${rawText('curl', 'The callback as a curl command', curlOf({ method: 'POST', url, headers: [['content-type', 'application/json']], body: new TextEncoder().encode(body) }))}
      </section>
    </div>
  </div>`;
}

function answerOf({ status, answer, error }: Delivery): Html {
  if (status === undefined) return html`<p class="dim">${error ? sent(error) : 'There is none yet.'}</p>`;
  return html`<p>${status}</p>${answer ? rawText('answer', "Body of your app's answer", answer) : html`<p class="dim">Without a body.</p>`}`;
}
