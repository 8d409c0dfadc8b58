// The head of every page of the dashboard: its tabs, the clock, armed faults, and the latest notice.
import { html } from 'hono/html';
import { type Html, pageResponse } from '../layout.ts';
import { clockMenu } from './clock.ts';
import { armedSentence } from './faults.ts';
import { noticeOf } from './notice.ts';
import { formOf, type View } from './view.ts';

export type Tab = 'payments' | 'calls' | 'deliveries' | 'faults';

interface Framed {
  title: string;
  tab: Tab;
  main: Html;
}

export const dashboardPage = (view: View, { title, tab, main }: Framed): Promise<Response> =>
  pageResponse({ title, top: top(view, tab), main: html`<main id="main" data-part tabindex="-1">${main}</main>` });

function top(view: View, tab: Tab): Html {
  const { ledger, log, faults } = view.parts;
  const notice = noticeOf(view);
  const link = (name: Tab, label: string, href: string, count: number) =>
    html`<a href="${href}" id="tab-${name}" ${tab === name ? html`aria-current="page"` : ''}>${label} <span class="count ${name === 'faults' && count > 0 ? 'armed' : ''}">${count.toLocaleString('en')}</span></a>`;
  return html`<a class="skip" href="#main">To the content</a>
  <header id="top" data-part>
    <div class="bar">
      <a class="brand" href="/">Sandbox gateway</a>
      <span class="tag">No money moves</span>
      <span class="live" id="live" data-own hidden></span>
      <noscript class="live">Reload to see what is new</noscript>
      ${clockMenu(view)}
    </div>
  </header>
  <nav id="tabs" data-part aria-label="Dashboard">
    ${link('payments', 'Payments', '/', ledger.size)}
    ${link('calls', 'Calls', '/calls', log.calls.size)}
    ${link('deliveries', 'Callbacks', '/deliveries', log.deliveries.size)}
    ${link('faults', 'Faults', '/faults', faults.armed.length)}
  </nav>
  <div id="banner" data-part>${banner(view)}</div>
  <p class="unseen" id="news" role="status"></p>
  <p class="problem" id="problem" role="alert" hidden></p>
  <p class="done" id="notice" ${notice ? '' : 'hidden'}>${notice}</p>`;
}

function banner(view: View): Html | string {
  const { armed } = view.parts.faults;
  const [first] = armed;
  if (!first) return '';
  const more = armed.length > 1 ? ` ${armed.length - 1} more ${armed.length === 2 ? 'is' : 'are'} armed.` : '';
  return html`<div class="armedBanner" role="region" aria-label="Armed faults">
    <p><b>Armed.</b> ${armedSentence(first)}${more}</p>
    <a href="/faults">See them</a>
    ${formOf(view, '/faults', html`<button class="small" name="clear" value="yes" id="clear-banner">Disarm all</button>`)}
  </div>`;
}
