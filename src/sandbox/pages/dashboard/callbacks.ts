// The callbacks: the list of posted and waiting ones, and one with its post, its answer and an editor.
import { html } from 'hono/html';
import { curlOf } from '../../api/curl.ts';
import type { WaitingCallback } from '../../callbacks/callbacks.ts';
import type { Delivery } from '../../callbacks/delivery.ts';
import { badge, type Html, nameOf, pill, sent } from '../layout.ts';
import { factsOf, logPage } from './log.ts';
import { outcomeOfDelivery, outcomeOfWaiting } from './outcome.ts';
import { timeOf } from './time.ts';
import {
  cards,
  count,
  detailsOf,
  formOf,
  lineOf,
  PAGE,
  type Page,
  paymentLink,
  pretty,
  rawText,
  type View,
} from './view.ts';

export function callbacksPage(view: View): Page {
  const { log, settings, callbacks } = view.parts;
  const { forgotten } = log.deliveries;
  const { waiting } = callbacks;
  const lines = html`<ul class="lines wrap">${waiting.slice(0, PAGE).map(one => waitingLine(view, one))}</ul>
    ${waiting.length > PAGE && html`<p class="dim">And ${waiting.length - PAGE} more.</p>`}`;
  return logPage<Delivery>(view, {
    title: 'Callbacks',
    lead: html`What was posted to your app, and what it answered. ${settings.forwardTo ? html`All go to <span class="mono">${settings.forwardTo}</span>.` : 'Each goes to the address of its payment.'}`,
    log: log.deliveries,
    filters: {
      '': ['All', () => true],
      'not-taken': ['Not taken', delivery => outcomeOfDelivery(delivery).tone === 'bad'],
      again: ['Posted again', ({ repeats }) => repeats !== undefined],
    },
    heads: ['Callback', 'Posted'],
    nameOf: delivery => html`${link(delivery.id)} ${badge(delivery.paymentStatus)}${again(delivery)}`,
    outcomeOf: outcomeOfDelivery,
    none: html`None has been posted yet: complete a payment, or <a href="/">play a story</a>.`,
    before: cards([['Not posted yet', waiting.length > 0 && lines]]),
    after:
      forgotten > 0 &&
      html`<p class="dim">${count(forgotten)} older callbacks are forgotten: the sandbox keeps ${count(settings.maxDeliveries)}, and none of a payment that is forgotten.</p>`,
  });
}

const link = (id: number): Html => html`<a href="/deliveries/${id}">Callback ${id}</a>`;

/** Names the delivery that this one repeats. */
export const again = ({ repeats, isEdited }: Delivery): Html | undefined =>
  repeats === undefined
    ? undefined
    : html` <span class="dim">${isEdited ? 'edited, after' : 'again, after'} <a href="/deliveries/${repeats}">${repeats}</a></span>`;

/** Returns a short line for other pages. */
export function callbackLine(view: View, delivery: Delivery): Html {
  const record = view.parts.ledger.find(delivery.paymentId);
  const name = record ? sent(nameOf(record)) : `Callback ${delivery.id}`;
  const what = html`<a href="/deliveries/${delivery.id}">${name}<span class="unseen"> is ${delivery.paymentStatus}</span></a>`;
  return lineOf(outcomeOfDelivery(delivery), what, timeOf(delivery.at, view.now));
}

function waitingLine(view: View, waiting: WaitingCallback): Html {
  const { paymentId, paymentStatus } = waiting.callback;
  const outcome = outcomeOfWaiting(waiting, view.now);
  const what = html`${badge(paymentStatus)} ${paymentLink(view, paymentId)} <span class="why">${outcome.sentence}</span>`;
  return lineOf(outcome, what, moveClockThere(view, waiting));
}

/** Returns a button that moves the clock to a waiting callback. */
export const moveClockThere = ({ now }: View, { due = 0 }: { due?: number | undefined }): Html | undefined =>
  due > now
    ? formOf('/clock', html`<button class="small" name="at" value="${due}">Move the clock there</button>`)
    : undefined;

export function callbackPage(view: View, path: string): Page {
  const delivery = view.parts.log.delivery(Number(path));
  const { id, paymentId, paymentStatus, url, body, repeats, isEdited, status, answer, error } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  const record = view.parts.ledger.find(paymentId);
  const repeated = view.parts.log.deliveriesOf(paymentId).filter(one => one.repeats === id);
  const command = curlOf({
    method: 'POST',
    url,
    headers: [['content-type', 'application/json']],
    body: new TextEncoder().encode(body),
  });
  const main = detailsOf({
    list: ['/deliveries', 'Callbacks'],
    id,
    heading: html`Callback ${id} ${badge(paymentStatus)} ${pill(outcome)}`,
    verdicts: [outcome],
    left: [
      [
        'Posted',
        html`<p class="mono">POST ${sent(url)}</p>${rawText('body', 'Body, as it was posted', body)}
        ${formOf(`/deliveries/${id}`, html`<button id="redeliver">Redeliver as it was</button>`)}`,
      ],
      [
        'Edit and redeliver',
        formOf(
          `/deliveries/${id}`,
          html`<label for="edited">Body <span class="dim">posted exactly as it stands here, once it is changed</span></label>
          <textarea id="edited" name="body" rows="18" spellcheck="false" autocomplete="off" dir="ltr">${pretty(body)}</textarea>
          <button class="primary" id="post-edited">Redeliver this body</button>`,
        ),
      ],
    ],
    right: [
      [
        'What happened',
        factsOf(view, delivery, outcome, {
          Repeats: repeats !== undefined && html`${link(repeats)} ${isEdited && 'with an edited body'}`,
          Redelivered: repeated.length > 0 && html`${repeated.map(one => html`${link(one.id)} `)}`,
        }),
      ],
      [
        "Your app's answer",
        status === undefined
          ? html`<p class="dim">${error ? sent(error) : 'There is none yet.'}</p>`
          : html`<p>${status}</p>${answer ? rawText('answer', "Body of your app's answer", answer) : html`<p class="dim">Without a body.</p>`}`,
      ],
      ['As curl', rawText('curl', 'The callback as a curl command', command)],
    ],
  });
  return { title: `${outcome.label}: ${paymentStatus} ${record ? nameOf(record) : ''}, callback ${id}`, main };
}
