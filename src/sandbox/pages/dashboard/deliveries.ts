// Lists every posted and waiting callback.
import { html } from 'hono/html';
import type { WaitingCallback } from '../../callbacks/callbacks.ts';
import type { Delivery } from '../../callbacks/delivery.ts';
import { badge, type Html, nameOf } from '../layout.ts';
import { logTable, paymentLink } from './log-table.ts';
import { outcomeOfDelivery, outcomeOfWaiting, pill } from './outcome.ts';
import { timeOf } from './time.ts';
import { type Filters, formOf, PAGE, sent, type View } from './view.ts';

const FILTERS: Filters<Delivery> = {
  '': { label: 'All', fits: () => true },
  'not-taken': { label: 'Not taken', fits: delivery => outcomeOfDelivery(delivery).tone === 'bad' },
  again: { label: 'Posted again', fits: ({ repeats }) => repeats !== undefined },
};

export function deliveriesPage(view: View): Html {
  const { log, settings } = view.parts;
  const { forgotten } = log.deliveries;
  return html`<h1>Callbacks</h1>
  <p class="lead">What was posted to your app, and what it answered. ${settings.forwardTo ? html`All go to <span class="mono">${settings.forwardTo}</span>.` : 'Each goes to the address of its payment.'}</p>
  ${waitingList(view)}
  ${logTable(view, {
    all: log.deliveries.latest(),
    filters: FILTERS,
    label: 'Which callbacks',
    heads: ['Callback', 'Posted'],
    none: html`None has been posted yet: complete a payment, or <a href="/">play a story</a>.`,
    lineOf: delivery => {
      const { id, paymentStatus } = delivery;
      const outcome = outcomeOfDelivery(delivery);
      const name = html`<a href="/deliveries/${id}" id="open-delivery-${id}">Callback ${id}</a> ${badge(paymentStatus)}${again(delivery)}`;
      return { ...delivery, id: `delivery-${id}`, outcome, name, why: outcome.tone !== 'good' && outcome.sentence };
    },
  })}
  ${forgotten > 0 && html`<p class="dim">${forgotten.toLocaleString('en')} older callbacks are forgotten: the sandbox keeps ${settings.maxDeliveries.toLocaleString('en')}, and none of a payment that is forgotten.</p>`}`;
}

/** Names the delivery that this one repeats. */
export const again = ({ repeats, isEdited }: Delivery): Html | undefined =>
  repeats === undefined
    ? undefined
    : html` <span class="dim">${isEdited ? 'edited, after' : 'again, after'} <a href="/deliveries/${repeats}">${repeats}</a></span>`;

/** Returns a short line for other pages. */
export function deliveryLine(view: View, delivery: Delivery): Html {
  const record = view.parts.ledger.find(delivery.paymentId);
  return html`<li>
    ${pill(outcomeOfDelivery(delivery))}
    <a href="/deliveries/${delivery.id}" class="what">${record ? sent(nameOf(record)) : `Callback ${delivery.id}`}<span class="unseen"> is ${delivery.paymentStatus}</span></a>
    ${timeOf(delivery.at, view.now)}
  </li>`;
}

function waitingList(view: View): Html | string {
  const { waiting } = view.parts.callbacks;
  if (waiting.length === 0) return '';
  return html`<section class="card waiting" aria-labelledby="waiting-title"><h2 id="waiting-title">Not posted yet</h2>
  <ul class="lines">${waiting
    .slice(0, PAGE)
    .map(
      one =>
        html`<li>${pill(outcomeOfWaiting(one, view.now))} <span class="what">${badge(one.callback.paymentStatus)} ${paymentLink(view, one.callback.paymentId)} <span class="why">${outcomeOfWaiting(one, view.now).sentence}</span></span> ${moveClockThere(view, one)}</li>`,
    )}</ul>${waiting.length > PAGE ? html`<p class="dim">And ${waiting.length - PAGE} more.</p>` : ''}</section>`;
}

/** Returns a button that moves the clock to a waiting callback. */
export const moveClockThere = (view: View, { due }: Pick<WaitingCallback, 'due'>): Html | string =>
  due === undefined || due <= view.now
    ? ''
    : formOf(view, '/clock', html`<button class="small" name="at" value="${due}">Move the clock there</button>`);

/** Returns the merchant's answer, if it has text. */
export const answerText = ({ answer }: Delivery): Html | string =>
  answer ? html`<p class="answer">${sent(answer.slice(0, 200))}${answer.length > 200 ? '…' : ''}</p>` : '';
