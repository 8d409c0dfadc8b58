// The timeline of a payment: calls, moves, callbacks with their answers, and waiting ones.
import { html } from 'hono/html';
import type { WaitingCallback } from '../../callbacks/callbacks.ts';
import type { Delivery } from '../../callbacks/delivery.ts';
import type { SandboxEvent } from '../../events.ts';
import { FAULTS, type Fault } from '../../faults/kinds.ts';
import { isRunning, timeOf as timeOfEvent } from '../../log.ts';
import { badge, type Html } from '../layout.ts';
import { again, answerText, moveClockThere } from './deliveries.ts';
import { outcomeOfDelivery, pill } from './outcome.ts';
import { spanOf, timeOf } from './time.ts';
import { prose, sent, type View } from './view.ts';

interface Entry {
  at: number;
  tone: 'good' | 'bad' | 'wait' | 'plain';
  content: Html;
}

export function timeline(view: View, paymentId: string): Html {
  const { log } = view.parts;
  const underWay = log.deliveriesOf(paymentId).filter(isRunning).reverse();
  const entries = [
    ...grouped(log.timeline(paymentId)).map(group => entryOf(view, group)),
    ...underWay.map(delivery => posted(delivery)),
  ];
  return html`<ol class="timeline">${entries.map(
    ({ at, tone, content }, index) => html`<li class="${tone}" id="event-${index}">
      <div class="when">${timeOf(at, view.now, { isPrecise: true })}${sincePrevious(entries[index - 1], at)}</div>
      <div class="event">${content}</div></li>`,
  )}</ol>`;
}

const sincePrevious = (previous: Entry | undefined, at: number): Html | string =>
  previous && at > previous.at ? html`<span class="dim">+${spanOf(at - previous.at)}</span>` : '';

type RequestEvent = Extract<SandboxEvent, { type: 'request' }>;
const isPlainLookup = (event: SandboxEvent): event is RequestEvent =>
  event.type === 'request' && event.method === 'GET' && !event.fault && event.status === 200;

/** Groups consecutive lookups, such as a merchant's polling, into one entry. */
function grouped(events: readonly SandboxEvent[]): SandboxEvent[][] {
  const groups: SandboxEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last?.every(isPlainLookup) && isPlainLookup(event)) last.push(event);
    else groups.push([event]);
  }
  return groups;
}

function entryOf(view: View, group: readonly SandboxEvent[]): Entry {
  const event = group[0] as SandboxEvent;
  const at = timeOfEvent(event);
  switch (event.type) {
    case 'request':
      return { at, ...call(view, event, group) };
    case 'move':
      return { at, ...move(event) };
    case 'callback':
      return posted(event.delivery);
    case 'callback-waits':
      return { at, tone: 'wait', content: waits(view, event) };
    case 'scenario':
      return { at, tone: event.problems.length === 0 ? 'good' : 'bad', content: played(event) };
    default:
      return { at, tone: 'plain', content: html`${event.type}` };
  }
}

function call({ now }: View, event: RequestEvent, group: readonly SandboxEvent[]): Omit<Entry, 'at'> {
  const { method, status, fault, message, callId, durationMs } = event;
  const label = status === undefined ? 'no answer' : String(status);
  const tone = status !== undefined && status < 300 ? 'good' : 'bad';
  const name = method === 'POST' ? 'Created' : 'Looked up';
  const last = group.at(-1) as SandboxEvent;
  const content = html`<p><b>${name}${group.length > 1 ? ` ${group.length} times` : ''}</b> ${pill({ tone, label })} <a href="/calls/${callId}">${group.length > 1 ? 'first call' : 'call'} ${callId}</a> <span class="dim">${spanOf(durationMs)}${group.length > 1 ? html`, until ${timeOf(last.at, now)}` : ''}</span></p>
    ${message ? html`<p class="why">${sent(message)}</p>` : ''}${faulty(fault)}`;
  return { tone: fault ? 'bad' : 'plain', content };
}

function move({ from, paymentStatus, errorMessage }: Extract<SandboxEvent, { type: 'move' }>): Omit<Entry, 'at'> {
  const tone = paymentStatus === 'COMPLETED' ? 'good' : paymentStatus === 'FAILED' ? 'bad' : 'plain';
  return {
    tone,
    content: html`<p><b>Moved</b> ${badge(from)} <span aria-label="to">→</span> ${badge(paymentStatus)}</p>
      ${errorMessage ? html`<p class="why">${sent(errorMessage)}</p>` : ''}
      ${from === paymentStatus ? html`<p class="dim">Its state did not change, so no callback was posted.</p>` : ''}`,
  };
}

function posted(delivery: Delivery): Entry {
  const { id, at, url, paymentStatus, fault, durationMs } = delivery;
  const outcome = outcomeOfDelivery(delivery);
  const content = html`<p><b><a href="/deliveries/${id}">Callback ${id}</a></b> ${badge(paymentStatus)} ${pill(outcome)} ${durationMs === undefined ? '' : html`<span class="dim">${spanOf(durationMs)}</span>`}${again(delivery)}</p>
    <p class="mono address">POST ${sent(url)}</p>
    ${outcome.tone === 'good' ? '' : html`<p class="why">${outcome.sentence}</p>`}
    ${answerText(delivery)}${faulty(fault)}`;
  return { at, tone: fault ? 'bad' : outcome.tone, content };
}

function waits(view: View, event: Extract<SandboxEvent, { type: 'callback-waits' }>): Html {
  const { paymentId, paymentStatus, due, fault } = event;
  const isSame = ({ callback, due: other }: WaitingCallback) =>
    callback.paymentId === paymentId && callback.paymentStatus === paymentStatus && other === due;
  const isStill = view.parts.callbacks.waiting.some(isSame);
  const until =
    due === undefined
      ? 'until the next callback of this payment was posted'
      : html`until ${timeOf(due, view.now, { isPrecise: true })}`;
  const what = due === undefined ? 'held back' : fault ? 'delayed' : 'retry due';
  return html`<p><b>Callback</b> ${badge(paymentStatus)} ${pill({ tone: 'wait', label: what })} ${until}</p>
    ${isStill ? moveClockThere(view, { due: due as number }) : ''}${faulty(fault)}`;
}

const played = ({ name, problems }: Extract<SandboxEvent, { type: 'scenario' }>): Html => html`<p><b>Story played</b>
  <code>${sent(name)}</code> ${pill(problems.length === 0 ? { tone: 'good', label: 'as expected' } : { tone: 'bad', label: 'not as expected' })}</p>
  ${problems.map(problem => html`<p class="why">${sent(problem)}</p>`)}`;

const faulty = (fault: Fault | undefined): Html | string =>
  fault
    ? html`<p class="fault"><span class="pill wait">fault</span> <code>${fault}</code> ${prose(FAULTS[fault])}</p>`
    : '';
