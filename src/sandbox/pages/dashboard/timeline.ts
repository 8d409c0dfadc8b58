// The timeline of a payment: calls, moves, callbacks with their answers, and waiting ones.
import { html } from 'hono/html';
import type { Delivery } from '../../callbacks/delivery.ts';
import type { SandboxEvent } from '../../events.ts';
import { FAULTS, type Fault } from '../../faults/kinds.ts';
import { isRunning, timeOf as timeOfEvent } from '../../log.ts';
import { badge, type Html, pill, sent, type Tone } from '../layout.ts';
import { again, moveClockThere } from './callbacks.ts';
import { outcomeOfDelivery } from './outcome.ts';
import { spanOf, timeOf } from './time.ts';
import { prose, type View } from './view.ts';

interface Entry {
  tone: Tone;
  /** The first line. */
  what: Html;
  /** The lines below. */
  why?: string | undefined;
  more?: Html | undefined;
  fault?: Fault | undefined;
}

type EventOf<T extends SandboxEvent['type']> = Extract<SandboxEvent, { type: T }>;

export function timeline(view: View, paymentId: string): Html {
  const { log } = view.parts;
  const running = log.deliveriesOf(paymentId).filter(isRunning).reverse();
  const entries = [
    ...grouped(log.timeline(paymentId)).map(group => ({ at: timeOfEvent(group[0]), ...entryOf(view, group) })),
    ...running.map(delivery => ({ at: delivery.at, ...posted(delivery) })),
  ];
  return html`<ol class="timeline">${entries.map(({ at, tone, what, why, more, fault }, index) => {
    const previous = entries[index - 1]?.at ?? at;
    return html`<li class="${tone}" id="event-${index}">
      <div class="when">${timeOf(at, view.now, { isPrecise: true })}${at > previous && html`<span>+${spanOf(at - previous)}</span>`}</div>
      <div><p>${what}</p>
      ${why && html`<p class="why">${sent(why)}</p>`}${more}
      ${fault && html`<p class="why">${pill({ tone: 'wait', label: 'fault' })} <code>${fault}</code> ${prose(FAULTS[fault])}</p>`}</div></li>`;
  })}</ol>`;
}

type Group = readonly [SandboxEvent, ...SandboxEvent[]];

const isPlainLookup = (event: SandboxEvent | undefined): boolean =>
  event?.type === 'request' && event.method === 'GET' && !event.fault && event.status === 200;

/** Groups consecutive lookups, such as a merchant's polling, into one entry. */
function grouped(events: readonly SandboxEvent[]): Group[] {
  const groups: [SandboxEvent, ...SandboxEvent[]][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last && isPlainLookup(last[0]) && isPlainLookup(event)) last.push(event);
    else groups.push([event]);
  }
  return groups;
}

function entryOf(view: View, group: Group): Entry {
  const [event] = group;
  switch (event.type) {
    case 'request':
      return called(view, event, group);
    case 'move':
      return moved(event);
    case 'callback':
      return posted(event.delivery);
    case 'callback-waits':
      return waits(view, event);
    case 'scenario': {
      const [tone, label] =
        event.problems.length === 0 ? (['good', 'as expected'] as const) : (['bad', 'not as expected'] as const);
      const what = html`<b>Story played</b> <code>${sent(event.name)}</code> ${pill({ tone, label })}`;
      return { tone, what, more: html`${event.problems.map(problem => html`<p class="why">${sent(problem)}</p>`)}` };
    }
    default:
      return { tone: 'plain', what: html`${event.type}` };
  }
}

function called({ now }: View, event: EventOf<'request'>, group: Group): Entry {
  const { method, status = 'no answer', fault, message, callId, durationMs } = event;
  const tone = typeof status === 'number' && status < 300 ? 'good' : 'bad';
  const [times, first, until] =
    group.length === 1
      ? ['', 'call', '']
      : [` ${group.length} times`, 'first call', html`, until ${timeOf(group.at(-1)?.at ?? 0, now)}`];
  const what = html`<b>${method === 'POST' ? 'Created' : 'Looked up'}${times}</b> ${pill({ tone, label: String(status) })}
    <a href="/calls/${callId}">${first} ${callId}</a> <span class="dim">${spanOf(durationMs)}${until}</span>`;
  return { tone: fault ? 'bad' : 'plain', what, why: message, fault };
}

function moved({ from, paymentStatus, errorMessage, amount }: EventOf<'move'>): Entry {
  return {
    tone: paymentStatus === 'COMPLETED' ? 'good' : paymentStatus === 'FAILED' ? 'bad' : 'plain',
    what: html`<b>Moved</b> ${badge(from)} <span aria-label="to">→</span> ${badge(paymentStatus)}`,
    why: amount === undefined ? errorMessage : `Paid: ${amount}, which is not the requested amount.`,
    more: html`${from === paymentStatus && html`<p class="dim">Its state did not change, so no callback was posted.</p>`}`,
  };
}

function posted(delivery: Delivery): Entry {
  const { id, url, paymentStatus, fault, durationMs, answer = '' } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  return {
    tone: fault ? 'bad' : outcome.tone,
    what: html`<b><a href="/deliveries/${id}">Callback ${id}</a></b> ${badge(paymentStatus)} ${pill(outcome)}
      ${durationMs !== undefined && html`<span class="dim">${spanOf(durationMs)}</span>`}${again(delivery)}`,
    why: outcome.tone === 'good' ? undefined : outcome.sentence,
    more: html`<p class="mono dim">POST ${sent(url)}</p>
      ${answer && html`<p class="mono">${sent(answer.slice(0, 200))}${answer.length > 200 && '…'}</p>`}`,
    fault,
  };
}

function waits(view: View, { paymentId, paymentStatus, due, fault }: EventOf<'callback-waits'>): Entry {
  const isStill = view.parts.callbacks.waiting.some(
    ({ callback, due: other }) =>
      callback.paymentId === paymentId && callback.paymentStatus === paymentStatus && other === due,
  );
  const label = due === undefined ? 'held back' : fault ? 'delayed' : 'retry due';
  const until =
    due === undefined
      ? 'until the next callback of this payment was posted'
      : html`until ${timeOf(due, view.now, { isPrecise: true })}`;
  return {
    tone: 'wait',
    what: html`<b>Callback</b> ${badge(paymentStatus)} ${pill({ tone: 'wait', label })} ${until}`,
    more: isStill ? moveClockThere(view, { due }) : undefined,
    fault,
  };
}
