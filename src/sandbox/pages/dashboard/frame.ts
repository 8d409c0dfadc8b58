// The frame of the dashboard: its tabs, the clock and armed faults.
import { html } from 'hono/html';
import { sentenceOf } from '../../faults/faults.ts';
import { spanOf } from '../../text/duration.ts';
import { BRAND, pageResponse } from '../layout.ts';
import { callForm, count, type Page, prose, type View, verdict } from './view.ts';

export const dashboardPage = (view: View, tab: string, { title, main }: Page) =>
  pageResponse({
    title: `${title} · Sandbox gateway`,
    body: html`<header>
      ${BRAND}<span class="pill" id="live" data-own>Reload to see what is new</span>
      ${clockMenu(view)}
    </header>
    ${tabs(view, tab)}
    ${banner(view)}
    <p class="verdict bad" id="problem" role="alert" data-own hidden></p>
    ${verdict('bad', view.problem)}
    <main>${main}</main>`,
  });

function tabs({ ledger, log, faults }: View, current: string) {
  const all = [
    ['payments', 'Payments', '/', ledger.size],
    ['activity', 'Activity', '/activity', log.calls.length + log.deliveries.length],
    ['faults', 'Faults', '/faults', faults.armed.length],
  ] as const;
  return html`<nav aria-label="Dashboard">${all.map(
    ([name, label, href, number]) =>
      html`<a href="${href}" id="tab-${name}" ${name === current && html`aria-current="page"`}>${label} <span class="pill">${count(number)}</span></a>`,
  )}</nav>`;
}

const banner = ({ faults: { armed } }: View) =>
  armed.length > 0 &&
  html`<div class="verdict wait" id="banner" role="region" aria-label="Armed faults"><b>Armed.</b>
    <ul>${armed.map(
      one =>
        html`<li id="armed-${one.id}"><span>${prose(sentenceOf(one))}</span>
        ${callForm(`DELETE /faults/${one.id}`, html`<button aria-label="Disarm ${one.fault}, number ${one.id}">Disarm</button>`)}</li>`,
    )}</ul></div>`;

function clockMenu({ clock, clock: { offset } }: View) {
  const span = spanOf(Math.abs(offset));
  const moves = html`${['1m', '1h', '1d'].map(step => html`<button name="advance" value="${step}">Advance by ${step}</button>`)}
    ${offset !== 0 && html`<button formaction="/clock">Set it right</button>`}`;
  return html`<button type="button" class="clock" popovertarget="clock-menu">Sandbox clock ${offset !== 0 && html`<b>${offset > 0 ? '+' : '−'}${span}</b>`}</button>
  <div id="clock-menu" class="panel" popover>
    <p>${new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ')} UTC at the last refresh${offset !== 0 && `, ${span} ${offset > 0 ? 'ahead of' : 'behind'} this machine`}. Every time on these pages is of this clock.</p>
    ${callForm('PUT /clock', moves)}
    <p class="dim">Delayed callbacks and repetitions that wait for that time are posted.</p>
    <details><summary>Reset the sandbox</summary>
      <p>Forget every payment, call, callback and armed fault, and set the clock right?</p>
      ${callForm('POST /reset', html`<button class="bad" id="reset">Yes, forget everything</button>`)}
    </details>
  </div>`;
}
