// The activity: calls, moves and callbacks as lines of one list, of everything or of one payment.
import { html } from 'hono/html';
import type { Delivery } from '../../callbacks/delivery.ts';
import { spanOf } from '../../duration.ts';
import type { Call, SandboxEvent } from '../../events.ts';
import { FAULTS, type Fault } from '../../faults/kinds.ts';
import { isRunning, KEPT_LATEST, timeOf as timeOfEvent } from '../../log.ts';
import { badge, type Html, pill, sent, type Tone, timeOf, toneOf } from '../layout.ts';
import { outcomeOfCall, outcomeOfDelivery, waitingLabel } from './outcome.ts';
import { chipsOf, count, formOf, type Page, pageOf, paymentLink, prose, searchOf, type View } from './view.ts';

interface Line {
  id?: string;
  at: number;
  tone: Tone;
  paymentId?: string | undefined;
  what: Html;
  /** The lines below. */
  why?: string | undefined;
  more?: Html | undefined;
  fault?: Fault | undefined;
  /** Returns the text to search in. */
  text(): string;
}

type EventOf<T extends SandboxEvent['type']> = Extract<SandboxEvent, { type: T }>;
/** A call without a duration is still running. */
type Called = Omit<EventOf<'request'>, 'durationMs'> & Pick<Call, 'durationMs'>;
type Happened = Called | Exclude<SandboxEvent, EventOf<'request'>>;
type Group = [Happened, ...Happened[]];

/** Returns the lines of a payment, or of the latest events of all, in order of time. */
export function linesOf(view: View, of: { paymentId?: string; limit?: number }): Line[] {
  const { log, ledger } = view.parts;
  const { paymentId, limit = KEPT_LATEST } = of;
  const running = [...log.calls.all, ...log.deliveries.all]
    .filter(one => isRunning(one) && (paymentId ?? one.paymentId) === one.paymentId)
    .map(
      (one): Happened =>
        'url' in one ? { type: 'callback', at: one.at, delivery: one } : { ...one, type: 'request', callId: one.id },
    );
  const events = paymentId === undefined ? log.latest(limit) : log.timeline(paymentId);
  return grouped([...events, ...running]).flatMap(group => {
    const said = lineOf(view, group);
    const [event] = group;
    if (!said) return [];
    const { paymentId } = event.type === 'callback' ? event.delivery : { paymentId: undefined, ...event };
    const text = () => `${ledger.find(paymentId ?? '')?.reference} ${JSON.stringify(event)}`.toLowerCase();
    return [{ at: timeOfEvent(event as SandboxEvent), paymentId, text, ...said }];
  });
}

const isPlainLookup = (event: Happened | undefined): event is Called =>
  event?.type === 'request' && event.method === 'GET' && !event.fault && event.status === 200;

/** Groups consecutive lookups of a payment, such as a merchant's polling. */
function grouped(events: readonly Happened[]): Group[] {
  const groups: Group[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    const before = last?.[0];
    if (isPlainLookup(before) && isPlainLookup(event) && before.paymentId === event.paymentId) last?.push(event);
    else groups.push([event]);
  }
  return groups;
}

type Said = Omit<Line, 'at' | 'text'>;

function lineOf(view: View, [event, ...others]: Group): Said | undefined {
  switch (event.type) {
    case 'request':
      return called(view, event, others);
    case 'move':
      return moved(event);
    case 'callback':
      return posted(event.delivery);
    case 'callback-waits':
      return waits(view, event);
    case 'scenario': {
      const isGood = event.problems.length === 0;
      const outcome = { tone: isGood ? 'good' : 'bad', label: isGood ? 'as expected' : 'not as expected' } as const;
      const more = html`${event.problems.map(problem => html`<p class="why">${sent(problem)}</p>`)}`;
      return { ...outcome, what: html`<b>Story played</b> <code>${sent(event.name)}</code> ${pill(outcome)}`, more };
    }
  }
}

function called(view: View, event: Called, others: readonly Happened[]): Said {
  const { method, path, fault, message, callId, durationMs, paymentId } = event;
  const outcome = outcomeOfCall(event);
  const last = others.at(-1);
  const name =
    paymentId === undefined
      ? html`<span class="mono">${method} ${sent(path)}</span>`
      : method === 'POST'
        ? 'Created'
        : 'Looked up';
  const what = html`<b>${name}${last && ` ${others.length + 1} times`}</b> ${pill(outcome)}
    <a href="/calls/${callId}">${last ? 'first call' : 'call'} ${callId}</a> <span class="dim">${durationMs !== undefined && spanOf(durationMs)}${last && html`, until ${timeOf(last.at, view.now)}`}</span>`;
  return {
    id: `call-${callId}`,
    tone: fault ? 'bad' : outcome.tone === 'good' ? 'plain' : outcome.tone,
    what,
    why: message,
    fault,
  };
}

const moved = ({ from, paymentStatus, errorMessage, amount }: EventOf<'move'>): Said => ({
  tone: toneOf(paymentStatus),
  what: html`<b>Moved</b> ${badge(from)} <span aria-label="to">→</span> ${badge(paymentStatus)}`,
  why: amount === undefined ? errorMessage : `Paid: ${amount}, which is not the requested amount.`,
  more: html`${from === paymentStatus && html`<p class="dim">Its state did not change, so no callback was posted.</p>`}`,
});

function posted(delivery: Delivery): Said {
  const { id, url, paymentStatus, fault, durationMs, answer = '' } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  return {
    id: `callback-${id}`,
    tone: fault ? 'bad' : outcome.tone,
    what: html`<b><a href="/deliveries/${id}">Callback ${id}</a></b> ${badge(paymentStatus)} ${pill(outcome)}
      ${durationMs !== undefined && html`<span class="dim">${spanOf(durationMs)}</span>`} ${again(delivery)}`,
    why: outcome.tone === 'good' ? undefined : outcome.sentence,
    more: html`<p class="mono dim">POST ${sent(url)}</p>
      ${answer && html`<p class="mono">${sent(answer.slice(0, 200))}${answer.length > 200 && '…'}</p>`}`,
    fault,
  };
}

/** Names the delivery that this one repeats. */
const again = ({ repeats, isEdited }: Delivery): Html | undefined =>
  repeats === undefined
    ? undefined
    : html`<span class="dim">${isEdited ? 'edited, after' : 'again, after'} <a href="/deliveries/${repeats}">${repeats}</a></span>`;

function waits({ parts, now }: View, event: EventOf<'callback-waits'>): Said {
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
      isStill && due && due > now
        ? formOf('/clock', html`<button class="small" name="at" value="${due}">Move the clock there</button>`)
        : undefined,
    fault,
  };
}

/** Draws lines: of one payment with every time, of everything, or of everything in short. */
export const drawn = (view: View, lines: readonly Line[], of: 'one' | 'all' | 'short'): Html =>
  html`<ol class="timeline">${lines.map(({ id, at, tone, paymentId, what, why, more, fault }, index) => {
    const gap = of === 'one' ? at - (lines[index - 1]?.at ?? at) : 0;
    const below = html`${why && html`<p class="why">${sent(why)}</p>`}${more}
      ${fault && html`<p class="why">${pill({ tone: 'wait', label: 'fault' })} <code>${fault}</code> ${prose(FAULTS[fault])}</p>`}`;
    return html`<li class="${tone}" ${id && html`id="${id}"`}>
      <div class="when">${timeOf(at, view.now, { isPrecise: of === 'one' })}${gap > 0 && html`<span>+${spanOf(gap)}</span>`}</div>
      <div><p>${of !== 'one' && paymentLink(view, paymentId)} ${what}</p>${of !== 'short' && below}</div></li>`;
  })}</ol>`;

const FILTERS: readonly (readonly [value: string, label: string, fits: (line: Line) => boolean])[] = [
  ['', 'All', () => true],
  ['calls', 'Calls', ({ id = '' }) => id.startsWith('call-')],
  ['callbacks', 'Callbacks', ({ id = '' }) => id.startsWith('callback-')],
  ['waiting', 'Waiting', ({ tone }) => tone === 'wait'],
  ['problems', 'Problems', ({ tone }) => tone === 'bad'],
];

export function activityPage(view: View): Page {
  const { log, settings } = view.parts;
  const search = (view.url.searchParams.get('search') ?? '').trim().toLowerCase();
  const found = linesOf(view, {})
    .reverse()
    .filter(({ text }) => text().includes(search));
  const [, , fits = () => true] = FILTERS.find(([value]) => value === view.url.searchParams.get('show')) ?? [];
  const lines = found.filter(fits);
  const { limit, offset, links } = pageOf(view, lines.length);
  const main = html`<h1>Activity</h1>
    <p class="lead">Calls of your app, moves of payments, and callbacks to your app, the newest first. The latest ${count(KEPT_LATEST)} events are kept, and ${count(settings.maxDeliveries)} callbacks.${settings.forwardTo && html` All callbacks go to <span class="mono">${settings.forwardTo}</span>.`}</p>
    ${searchOf(view, 'show', 'Search a reference, id, path, message or body')}
    ${chipsOf(
      view,
      'show',
      FILTERS.map(([value, label, fits]) => [value, label, found.filter(fits).length]),
    )}
    <section class="card" aria-label="Activity">${
      lines.length > 0
        ? drawn(view, lines.slice(offset, offset + limit), 'all')
        : html`<p class="dim">None of these. <a href="/create">A form</a> makes a call.</p>`
    }</section>${links}`;
  return { title: `Activity (${log.calls.size + log.deliveries.size})`, main };
}
