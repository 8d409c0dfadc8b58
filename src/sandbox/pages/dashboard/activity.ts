// The activity: calls, moves and callbacks as lines of one list, of everything or of one payment.
import { html } from 'hono/html';
import type { Delivery } from '../../callbacks/delivery.ts';
import { spanOf } from '../../duration.ts';
import type { Call, SandboxEvent } from '../../events.ts';
import { FAULTS, type Fault } from '../../faults/kinds.ts';
import { isRunning, SHOWN_EVENTS } from '../../log.ts';
import { badge, type Html, type Part, pill, sent, type Tone, timeOf, toneOf } from '../layout.ts';
import { outcomeOfCall, outcomeOfDelivery, waitingLabel } from './outcome.ts';
import { callForm, count, type Page, pageOf, paymentLink, prose, searchForm, type View } from './view.ts';

interface Line {
  id?: string;
  tone: Tone;
  what: Html;
  why?: string | undefined;
  more?: Part;
  fault?: Fault | undefined;
}

type EventOf<T extends SandboxEvent['type']> = Extract<SandboxEvent, { type: T }>;
/** A call without a duration is still running. */
type Called = Omit<EventOf<'request'>, 'durationMs'> & Pick<Call, 'durationMs'>;
type Happened = Called | Exclude<SandboxEvent, EventOf<'request'>>;

const paymentOf = (event: Happened): string | undefined =>
  event.type === 'callback' ? event.delivery.paymentId : 'paymentId' in event ? event.paymentId : undefined;

/** Returns the events of a payment, or of all, in order of time. Running ones come last. */
function eventsOf({ parts: { log } }: View, paymentId?: string): Happened[] {
  const running = [...log.calls, ...log.deliveries]
    .filter(isRunning)
    .map(
      (one): Happened =>
        'url' in one ? { type: 'callback', at: one.at, delivery: one } : { ...one, type: 'request', callId: one.id },
    );
  const ended = paymentId === undefined ? log.latest(SHOWN_EVENTS) : log.timeline(paymentId);
  return [...ended, ...running.filter(event => paymentId === undefined || paymentOf(event) === paymentId)];
}

function lineOf(view: View, event: Happened): Line | undefined {
  switch (event.type) {
    case 'request':
      return called(event);
    case 'move':
      return moved(event);
    case 'callback':
      return posted(event.delivery);
    case 'callback-waits':
      return waits(view, event);
    case 'scenario': {
      const isGood = event.problems.length === 0;
      const outcome = { tone: isGood ? 'good' : 'bad', label: isGood ? 'as expected' : 'not as expected' } as const;
      const what = html`<b>Story played</b> <code>${sent(event.name)}</code> ${pill(outcome)}`;
      return { tone: outcome.tone, what, why: event.problems.join(' ') };
    }
  }
}

function called(event: Called): Line {
  const { method, path, fault, message, callId, durationMs, paymentId } = event;
  const outcome = outcomeOfCall(event);
  const known = method === 'POST' ? 'Created' : 'Looked up';
  const name = paymentId === undefined ? html`<span class="mono">${method} ${sent(path)}</span>` : known;
  return {
    id: `call-${callId}`,
    tone: fault ? 'bad' : outcome.tone === 'good' ? 'plain' : outcome.tone,
    what: html`<b>${name}</b> ${pill(outcome)} <a href="/calls/${callId}">call ${callId}</a> ${took(durationMs)}`,
    why: message,
    fault,
  };
}

const took = (ms: number | undefined): Html | false => ms !== undefined && html`<span class="dim">${spanOf(ms)}</span>`;

const moved = ({ from, paymentStatus, errorMessage, amount }: EventOf<'move'>): Line => ({
  tone: toneOf(paymentStatus),
  what: html`<b>Moved</b> ${badge(from)} <span aria-label="to">→</span> ${badge(paymentStatus)}`,
  why: amount === undefined ? errorMessage : `Paid: ${amount}, which is not the requested amount.`,
  more: from === paymentStatus && html`<p class="dim">Its state did not change, so no callback was posted.</p>`,
});

function posted(delivery: Delivery): Line {
  const { id, url, paymentStatus, fault, durationMs, answer = '', repeats, isEdited } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  const after =
    repeats !== undefined &&
    html`<span class="dim">${isEdited ? 'edited, after' : 'again, after'} <a href="/deliveries/${repeats}">${repeats}</a></span>`;
  return {
    id: `callback-${id}`,
    tone: fault ? 'bad' : outcome.tone,
    what: html`<b><a href="/deliveries/${id}">Callback ${id}</a></b> ${badge(paymentStatus)} ${pill(outcome)} ${took(durationMs)} ${after}`,
    why: outcome.tone === 'good' ? undefined : outcome.sentence,
    more: html`<p class="mono dim">POST ${sent(url)}</p>
      ${answer && html`<p class="mono">${sent(answer.slice(0, 200))}${answer.length > 200 && '…'}</p>`}`,
    fault,
  };
}

function waits({ parts, now }: View, event: EventOf<'callback-waits'>): Line {
  const { paymentId, paymentStatus, due, fault } = event;
  const isStill = parts.callbacks.waiting.some(
    ({ callback, due: other }) =>
      callback.paymentId === paymentId && callback.paymentStatus === paymentStatus && other === due,
  );
  const until =
    due === undefined ? 'the next callback of this payment was posted' : timeOf(due, now, { isPrecise: true });
  return {
    tone: isStill ? 'wait' : 'plain',
    what: html`<b>Callback</b> ${badge(paymentStatus)} ${pill({ tone: 'wait', label: waitingLabel(event) })} until ${until}`,
    more:
      isStill &&
      due !== undefined &&
      due > now &&
      callForm(
        'PUT /clock',
        html`<button class="small" name="at" value="${new Date(due).toISOString()}">Move the clock there</button>`,
      ),
    fault,
  };
}

const timeline = (view: View, events: readonly Happened[], isOfAll = false): Html =>
  html`<ol class="timeline">${events.map(event => {
    const line = lineOf(view, event);
    if (!line) return undefined;
    const { id, tone, what, why, more, fault } = line;
    return html`<li class="${tone}" ${id && html`id="${id}"`}>
      ${timeOf(event.at, view.now, { isPrecise: true })}
      <div><p>${isOfAll && paymentLink(view, paymentOf(event))} ${what}</p>${why && html`<p class="dim">${sent(why)}</p>`}${more}
      ${fault && html`<p class="dim">${pill({ tone: 'wait', label: 'fault' })} <code>${fault}</code> ${prose(FAULTS[fault])}</p>`}</div></li>`;
  })}</ol>`;

/** Draws the events of one payment, the oldest first. */
export const timelineOf = (view: View, paymentId: string): Html => timeline(view, eventsOf(view, paymentId));

const SHOWN: Readonly<Record<string, readonly [label: string, fits: (line: Line) => boolean]>> = {
  '': ['everything', () => true],
  calls: ['calls', ({ id }) => id?.startsWith('call-') ?? false],
  callbacks: ['callbacks', ({ id }) => id?.startsWith('callback-') ?? false],
  waiting: ['what waits', ({ tone }) => tone === 'wait'],
  problems: ['problems', ({ tone }) => tone === 'bad'],
};

export function activityPage(view: View): Page {
  const { log, settings, ledger } = view.parts;
  const { search = '', show = '' } = Object.fromEntries(view.url.searchParams);
  const [, fits] = SHOWN[Object.hasOwn(SHOWN, show) ? show : ''] ?? [];
  const wanted = search.trim().toLowerCase();
  const found = eventsOf(view).filter(event => {
    const line = lineOf(view, event);
    const text = `${ledger.find(paymentOf(event) ?? '')?.reference} ${JSON.stringify(event)}`;
    return line && fits?.(line) && text.toLowerCase().includes(wanted);
  });
  const { shown, links } = pageOf(view, found.reverse());
  const choices = Object.entries(SHOWN).map(([value, [label]]) => [value, label] as const);
  const main = html`<h1>Activity</h1>
    <p class="lead">Calls of your app, moves of payments, and callbacks to your app, the newest first. The latest ${count(SHOWN_EVENTS)} events are shown.${settings.forwardTo && html` All callbacks go to <span class="mono">${settings.forwardTo}</span>.`}</p>
    ${searchForm(view, 'A reference, id, path, message or body', { name: 'show', label: 'Show', choices })}
    <section class="card" aria-label="Activity">${
      shown.length > 0
        ? timeline(view, shown, true)
        : html`<p class="dim">None of these. <a href="/create">A form</a> makes a call.</p>`
    }</section>${links}`;
  return { title: `Activity (${log.calls.length + log.deliveries.length})`, main };
}
