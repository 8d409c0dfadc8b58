// The payments: their list with search, next to the latest callbacks and calls, and one with its timeline and record.
import { html } from 'hono/html';
import {
  DEPOSIT_METHODS,
  NFT_METHODS,
  ONRAMP_METHODS,
  PAYMENT_STATUSES,
  WITHDRAWAL_METHODS,
} from '../../../schemas/methods.ts';
import { curlOf } from '../../api/curl.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money } from '../../money.ts';
import { millisecondsOf } from '../../php.ts';
import { methodName } from '../customer/methods.ts';
import { badge, type Html, nameOf, pill, rows, sent } from '../layout.ts';
import { callbackLine } from './callbacks.ts';
import { callLine } from './calls.ts';
import { moveForm, ownForms } from './moves.ts';
import { outcomeOfDelivery, outcomeOfWaiting } from './outcome.ts';
import { environment, firstSteps, storyForm } from './start.ts';
import { timeOf } from './time.ts';
import { timeline } from './timeline.ts';
import { cards, count, detailsOf, listOf, PAGE, type Page, pageOf, rawText, type View } from './view.ts';

export function paymentsPage(view: View): Page {
  const { ledger, settings } = view.parts;
  const main = html`<h1>Payments</h1>
  <div class="beside">${
    ledger.size === 0
      ? firstSteps(view)
      : html`<section aria-label="Payments">${searchForm(view)}${paymentList(view)}
      ${ledger.forgotten > 0 && html`<p class="dim">${count(ledger.forgotten)} older final payments made way for newer ones: the sandbox keeps ${count(settings.maxPayments)}.</p>`}</section>`
  }${aside(view)}</div>`;
  return { title: `Payments (${ledger.size})`, main };
}

/** Reads the query from the address. */
const queryOf = ({ url: { searchParams } }: View) => ({
  search: searchParams.get('search') ?? '',
  paymentStatus: searchParams.get('status') || undefined,
  paymentMethod: searchParams.get('method') || undefined,
});

function searchForm(view: View): Html {
  const { search, paymentStatus, paymentMethod } = queryOf(view);
  const onramp = view.parts.settings.terminal === 'onramp' ? ONRAMP_METHODS : [];
  const methods = new Set<string>([...DEPOSIT_METHODS, ...WITHDRAWAL_METHODS, ...NFT_METHODS, ...onramp]);
  return html`<form class="row" role="search" data-filter>
    <div class="field grow"><label class="unseen" for="search">Search</label><input type="search" id="search" name="search" value="${search}" placeholder="Search a reference, id, amount or email" autocomplete="off" spellcheck="false"></div>
    <div class="field"><label class="unseen" for="method">Method</label><select id="method" name="method"><option value="">Any method</option>${[
      ...methods,
    ].map(
      method => html`<option value="${method}" ${method === paymentMethod && 'selected'}>${method}</option>`,
    )}</select></div>
    ${paymentStatus && html`<input type="hidden" name="status" value="${paymentStatus}">`}
    <button id="filter">Search</button>
  </form>`;
}

function paymentList(view: View): Html {
  const { ledger } = view.parts;
  const query = queryOf(view);
  const { total, byStatus } = ledger.page(query, { limit: 0, offset: 0 });
  const { payments } = ledger.page(query, { limit: PAGE, offset: pageOf(view, total).offset });
  const counts = PAYMENT_STATUSES.map(status => byStatus[status] ?? 0);
  return listOf<PaymentRecord>(view, {
    filter: ['status', 'States'],
    chips: [
      ['', 'All', counts.reduce((sum, one) => sum + one, 0)],
      ...PAYMENT_STATUSES.map(
        (status, at) => [status, status.charAt(0) + status.slice(1).toLowerCase(), counts[at] ?? 0] as const,
      ),
    ],
    lines: payments,
    total,
    idOf: ({ id }) => `row-${id}`,
    columns: [
      { name: 'state', head: 'State', cell: ({ paymentStatus }) => badge(paymentStatus) },
      {
        name: 'number',
        head: 'Amount',
        cell: one => sent(`${one.paymentType === 'WITHDRAWAL' ? '−' : ''}${money(one)}`),
      },
      {
        name: 'name',
        head: 'Reference',
        cell: one =>
          html`<a id="open-${one.id}" href="/payments/${one.id}">${sent(nameOf(one))}</a>${one.errorMessage && html`<span class="why">${sent(one.errorMessage)}</span>`}`,
      },
      {
        name: 'side',
        head: 'Method',
        cell: ({ paymentMethod, paymentType }) =>
          html`${methodName(paymentMethod)}${paymentType === 'WITHDRAWAL' && html` <span class="dim">withdrawal</span>`}`,
      },
      { name: 'extra', head: 'Callback', cell: ({ id }) => latestCallback(view, id) },
      { name: 'time', head: 'Created', cell: ({ created }) => timeOf(millisecondsOf(created), view.now) },
      {
        name: 'move',
        head: '',
        cell: one =>
          html`<details class="menu" name="menu" id="menu-${one.id}"><summary aria-label="Move ${nameOf(one)}" title="Move">Move</summary>${moveForm(one, 'panel')}</details>`,
      },
    ],
    none: html`No payment fits. <a href="/">Show all ${count(ledger.size)}</a>`,
  });
}

/** Returns the outcome of a payment's latest callback. */
function latestCallback({ parts: { callbacks, log }, now }: View, paymentId: string): Html | undefined {
  const waiting = callbacks.waiting.findLast(({ callback }) => callback.paymentId === paymentId);
  if (waiting) return pill(outcomeOfWaiting(waiting, now));
  const [latest] = log.deliveriesOf(paymentId);
  if (!latest) return undefined;
  const outcome = outcomeOfDelivery(latest);
  return html`<a href="/deliveries/${latest.id}" aria-label="Callback ${latest.id}: ${outcome.label}">${pill(outcome)}</a>`;
}

/** Lines of each list next to the payments. */
const BESIDE = 6;

function aside(view: View): Html {
  const { log, ledger } = view.parts;
  const lines = <T>(all: readonly T[], lineOf: (view: View, one: T) => Html, none: string) =>
    all.length === 0
      ? html`<p class="dim">${none}</p>`
      : html`<ul class="lines">${all.map(one => lineOf(view, one))}</ul>`;
  return html`<aside aria-label="What happens">${cards([
    ['Callbacks', lines(log.deliveries.latest(BESIDE), callbackLine, 'None has been posted yet.')],
    ['Calls', lines(log.calls.latest(BESIDE), callLine, 'None has arrived yet.')],
    ['Play a story', ledger.size > 0 && storyForm(view)],
    ['Connect your app', ledger.size > 0 && environment(view)],
  ])}</aside>`;
}

export function paymentPage(view: View, path: string): Page {
  const { ledger, log, settings } = view.parts;
  const record = ledger.get(path);
  const { id, paymentStatus, paymentType, paymentMethod, errorMessage, reference, description } = record;
  const creation = log.creationOf(id);
  const { amount: requested } = ledger.requestOf(id);
  const lookup = curlOf({
    method: 'GET',
    url: `${view.url.origin}/api/v1/payments/${id}`,
    headers: [['authorization', `Bearer ${settings.apiKey}`]],
    body: new Uint8Array(),
  });
  const main = detailsOf({
    list: ['/', 'Payments'],
    id,
    heading: html`<span class="sum">${money(record)}</span> ${badge(paymentStatus)} <small>${reference ? sent(reference) : 'Without a reference'}</small>`,
    verdicts: [errorMessage ? { tone: 'bad', sentence: errorMessage } : undefined],
    left: [['Timeline', timeline(view, id)]],
    right: [
      ['Move it', html`${moveForm(record, 'moves')}${ownForms(record)}`],
      [
        'Payment',
        rows({
          Type: paymentType === 'DEPOSIT' ? 'Deposit: the customer pays' : 'Withdrawal: the merchant pays',
          Method: methodName(paymentMethod),
          Description: description,
          Requested: requested !== record.amount && money({ ...record, amount: requested }),
          Created: timeOf(millisecondsOf(record.created), view.now),
          'Callbacks go to': html`<span class="mono">${sent(ledger.callbackUrlOf(id))}</span>`,
          "Customer's page": paymentType === 'DEPOSIT' && html`<a href="/pay/${id}">/pay/${id.slice(0, 8)}…</a>`,
          Create: creation ? html`<a href="/calls/${creation.id}">call ${creation.id}</a>` : 'it was not kept',
        }),
      ],
      [
        'Record',
        html`<p class="dim">As a lookup shows it.</p>${rawText('record-json', 'Record of the payment', JSON.stringify(record, null, 2))}
        <details id="lookup"><summary>Look it up with curl</summary>${rawText('lookup-curl', 'The lookup as a curl command', lookup)}</details>`,
      ],
    ],
  });
  return { title: `${paymentStatus}: ${nameOf(record)}, ${money(record)}`, main };
}
