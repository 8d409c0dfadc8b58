// The activity: calls, moves and callbacks in one list, of everything or of one payment.
import { html } from 'hono/html';
import type { Delivery, WaitingCallback } from '../../callbacks/delivery.ts';
import { FAULTS, type Fault } from '../../faults/kinds.ts';
import type { Call, SandboxEvent } from '../../log/events.ts';
import { spanOf } from '../../text/duration.ts';
import { badge, type Html, type Part, pill, select, sent, type Tone, timeOf, toneOf } from '../layout.ts';
import { nameOfCall, outcomeOfCall, outcomeOfDelivery } from './exchange.ts';
import { callForm, firstOf, paymentLink, prose, searchForm, type View } from './view.ts';

interface Line {
  /** For its time, its fault and a search. */
  about: { at: number; paymentId?: string | undefined; fault?: Fault | undefined };
  id?: string;
  tone: Tone;
  what: Html;
  why?: string | undefined;
  more?: Part;
}

function linesOf({ log, callbacks, clock }: View, paymentId?: string): Line[] {
  const isOf = (one: object) => paymentId === undefined || ('paymentId' in one && one.paymentId === paymentId);
  return [
    ...log.calls.filter(isOf).map(called),
    ...log.events.filter(isOf).flatMap(happened),
    ...log.deliveries.filter(isOf).map(posted),
    ...callbacks.waiting.filter(({ callback }) => isOf(callback)).map(one => waits(one, clock.now())),
  ].sort((a, b) => a.about.at - b.about.at);
}

function called(call: Call): Line {
  const { id, method, fault, durationMs, paymentId } = call;
  const outcome = outcomeOfCall(call);
  const name = paymentId === undefined ? nameOfCall(call) : method === 'POST' ? 'Created' : 'Looked up';
  return {
    about: call,
    id: `call-${id}`,
    tone: fault ? 'bad' : outcome.tone === 'good' ? 'plain' : outcome.tone,
    what: html`<b>${name}</b> ${pill(outcome)} <a href="/calls/${id}">call ${id}</a> ${took(durationMs)}`,
    why: outcome.sentence,
  };
}

const took = (ms: number | undefined) => ms !== undefined && html`<span class="dim">${spanOf(ms)}</span>`;

/** Calls and callbacks have their own lines. */
function happened(event: SandboxEvent): Line[] {
  if (event.type === 'scenario') {
    const tone = event.problems.length === 0 ? 'good' : 'bad';
    const outcome = pill({ tone, label: tone === 'good' ? 'as expected' : 'not as expected' });
    const what = html`<b>Scenario played</b> <code>${sent(event.name)}</code> ${outcome}`;
    return [{ about: event, tone, what, why: event.problems.join(' ') }];
  }
  if (event.type !== 'move') return [];
  const { from, paymentStatus, errorMessage, amount } = event;
  const paid = amount === undefined ? errorMessage : `Paid: ${amount}, which is not the requested amount.`;
  const what = html`<b>Moved</b> ${badge(from)} <span aria-label="to">→</span> ${badge(paymentStatus)}`;
  const why = from === paymentStatus ? 'Its state did not change, so no callback was posted.' : paid;
  return [{ about: event, tone: toneOf(paymentStatus), what, why }];
}

function posted(delivery: Delivery): Line {
  const { id, paymentStatus, fault, durationMs, answer = '', repeats, isEdited } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  const after =
    repeats && html`${isEdited ? 'edited' : 'again'}, after <a href="/deliveries/${repeats}">${repeats}</a>`;
  return {
    about: delivery,
    id: `callback-${id}`,
    tone: fault ? 'bad' : outcome.tone,
    what: html`<b><a href="/deliveries/${id}">Callback ${id}</a></b> ${badge(paymentStatus)} ${pill(outcome)} ${took(durationMs)} ${after}`,
    why: `${outcome.tone === 'good' ? '' : outcome.sentence} ${answer.slice(0, 200)}`.trim(),
  };
}

export const waitingPill = ({ due, callback: { fault } }: WaitingCallback) =>
  pill({ tone: 'wait', label: due === undefined ? 'held back' : fault ? 'delayed' : 'retry due' });

function waits(waiting: WaitingCallback, now: number): Line {
  const { due, callback } = waiting;
  return {
    about: { ...callback, at: due ?? now },
    tone: 'wait',
    what: html`<b>Callback</b> ${badge(callback.paymentStatus)} ${waitingPill(waiting)}`,
    why: due === undefined ? 'It follows the next callback of this payment.' : undefined,
    more:
      due !== undefined &&
      callForm(
        'PUT /clock',
        html`<button name="at" value="${new Date(due).toISOString()}">Move the clock there</button>`,
      ),
  };
}

const timeline = (view: View, lines: readonly Line[], isOfAll = false) =>
  html`<ol>${lines.map(
    ({ about, id, tone, what, why, more }) => html`<li class="${tone}" ${id && html`id="${id}"`}>
      ${timeOf(about.at, view.clock.now(), { isPrecise: true })}
      <div><p>${isOfAll && paymentLink(view, about.paymentId)} ${what}</p>${why && html`<p class="dim">${sent(why)}</p>`}${more}
      ${about.fault && html`<p class="dim">${pill({ tone: 'wait', label: 'fault' })} <code>${about.fault}</code> ${prose(FAULTS[about.fault])}</p>`}</div></li>`,
  )}</ol>`;

export const timelineOf = (view: View, paymentId: string) => timeline(view, linesOf(view, paymentId));

const SHOWN: readonly (readonly [value: string, label: string, fits?: (line: Line) => unknown])[] = [
  ['', 'everything'],
  ['calls', 'calls', ({ id }) => id?.startsWith('call-')],
  ['callbacks', 'callbacks', ({ id }) => id?.startsWith('callback-')],
  ['waiting', 'what waits', ({ tone }) => tone === 'wait'],
  ['problems', 'problems', ({ tone }) => tone === 'bad'],
];

export function activityPage(view: View) {
  const { log, settings, ledger } = view;
  const { search = '', show = '' } = view.query;
  const [, , fits] = SHOWN.find(([value]) => value === show) ?? [];
  const wanted = search.trim().toLowerCase();
  const readable = (_: string, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value);
  const textOf = ({ about }: Line) =>
    `${ledger.find(about.paymentId ?? '')?.reference} ${JSON.stringify(about, readable)}`.toLowerCase();
  const found = linesOf(view).filter(line => (!fits || fits(line)) && (!wanted || textOf(line).includes(wanted)));
  const { shown, more } = firstOf(view, found.reverse());
  const main = html`<h1>Activity</h1>
    <p class="lead">Calls of your app, moves of payments, and callbacks to your app, the newest first.${settings.forwardTo && html` All callbacks go to <span class="mono">${settings.forwardTo}</span>.`}</p>
    ${searchForm(view, 'A reference, id, path, message or body', select('show', 'Show', SHOWN, show))}
    <section class="card" aria-label="Activity">${
      shown.length > 0
        ? timeline(view, shown, true)
        : html`<p class="dim">None of these. <a href="/create">A form</a> makes a call.</p>`
    }</section>${more}`;
  return { title: `Activity (${log.calls.length + log.deliveries.length})`, main };
}
