// The list of payments, and the page of one.
import { html } from 'hono/html';
import { isFinalStatus, PAYMENT_STATUSES } from '../../../schemas/methods.ts';
import type { MoveName } from '../../ledger/moves.ts';
import { orderOf } from '../../ledger/query.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money } from '../../text/money.ts';
import { millisecondsOf } from '../../text/php.ts';
import { methodOf } from '../customer/methods.ts';
import { badge, type Html, input, nameOf, type Part, pill, rows, select, sent, timeOf, toneOf } from '../layout.ts';
import { timelineOf, waitingPill } from './activity.ts';
import { outcomeOfDelivery } from './exchange.ts';
import { createPage } from './start.ts';
import { callForm, columns, count, firstOf, rawText, searchForm, type View, verdict } from './view.ts';

export function paymentsPage(view: View) {
  const { ledger, query } = view;
  const { maxPayments } = view.settings;
  if (ledger.size === 0) return createPage(view);
  const { search, status } = query;
  const { shown, more } = firstOf(view, ledger.orders({ search, paymentStatus: status || undefined }));
  const main = html`<div class="row"><h1 class="grow">Payments</h1>
      <a class="button" href="/create">Create one</a> <a class="button" href="/report">Test my server</a></div>
    ${searchForm(view, 'A reference, id, method, amount or email', select('status', 'State', STATES, status))}
    ${
      shown.length === 0
        ? html`<p class="card dim">No payment fits. <a href="/">Show all ${count(ledger.size)}</a></p>`
        : html`<table><thead><tr>${HEADS.map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
        <tbody>${shown.map(attempts => rowOf(view, attempts))}</tbody></table>`
    }${more}
    ${ledger.size >= maxPayments && html`<p class="dim">The sandbox keeps ${count(maxPayments)} payments. The oldest final ones make way for newer ones.</p>`}`;
  return { title: `Payments (${ledger.size})`, main };
}

const HEADS = ['State', 'Amount', 'Reference', 'Method', 'Callback', 'Created', 'Move'];

const STATES = [['', 'all'], ...PAYMENT_STATUSES] as const;

/** One line of an order: of the attempt that paid it, or the newest one. */
function rowOf(view: View, attempts: readonly PaymentRecord[]) {
  const record = attempts.findLast(({ paymentStatus }) => paymentStatus === 'COMPLETED') ?? attempts[0];
  if (!record) return undefined;
  const { id, paymentStatus, paymentMethod, paymentType, errorMessage, created } = record;
  const name = (attempts.length > 1 && orderOf(record)) || nameOf(record);
  const reasons = attempts.flatMap(({ id }) => view.reviews.get(id) ?? []);
  const isWithdrawal = paymentType === 'WITHDRAWAL';
  const below: Part[] = [
    errorMessage && sent(errorMessage),
    attempts.length > 1 && html`${attempts.toReversed().map(attemptLink)}`,
    ...reasons.map(reason => pill({ tone: 'wait', label: `review: ${reason}` })),
  ];
  return html`<tr id="row-${id}">
    <td>${badge(paymentStatus)}</td>
    <td>${sent(`${isWithdrawal ? '−' : ''}${money(record)}`)}</td>
    <th scope="row"><a id="open-${id}" href="/payments/${id}">${sent(name)}</a> ${below.map(part => part && html`<div class="dim">${part}</div>`)}</th>
    <td>${methodOf(paymentMethod).name}${isWithdrawal && html` <span class="dim">withdrawal</span>`}</td>
    <td>${latestCallback(view, id)}</td>
    <td>${timeOf(millisecondsOf(created), view.clock.now())}</td>
    <td>${!isFinalStatus(paymentStatus) && moveForm(record, { complete: 'Complete', fail: 'Fail' })}</td>
  </tr>`;
}

function attemptLink(record: PaymentRecord) {
  const { id, paymentStatus } = record;
  const label = `${nameOf(record).split('.').at(-1)} ${paymentStatus.toLowerCase()}`;
  return html`<a href="/payments/${id}" aria-label="Attempt ${label}">${pill({ tone: toneOf(paymentStatus), label })}</a> `;
}

function latestCallback({ callbacks, log }: View, paymentId: string) {
  const waiting = callbacks.waiting.findLast(({ callback }) => callback.paymentId === paymentId);
  if (waiting) return waitingPill(waiting);
  const [latest] = log.deliveriesOf(paymentId);
  if (!latest) return html`<span class="dim">–</span>`;
  const outcome = outcomeOfDelivery(latest);
  return html`<a href="/deliveries/${latest.id}" aria-label="Callback ${latest.id}: ${outcome.label}">${pill(outcome)}</a>`;
}

export function paymentPage(view: View, path: string) {
  const record = view.ledger.get(path);
  const { id, paymentStatus, paymentType, errorMessage } = record;
  const { request, callbackUrl, postedTo } = view.ledger.detailsOf(id);
  const reason = view.reviews.get(id);
  const right = {
    'Move it': movesOf(record),
    Payment: rows({
      Requested: request.amount !== record.amount && money({ ...record, amount: request.amount }),
      'Callbacks go to': postedTo,
      'Instead of': postedTo !== callbackUrl && callbackUrl,
      "Customer's page": paymentType === 'DEPOSIT' && html`<a href="/pay/${id}">/pay/${id.slice(0, 8)}…</a>`,
    }),
    'Record, as a lookup shows it': rawText('record', 'Record of the payment', JSON.stringify(record, null, 2)),
  };
  const main = html`<h1>${sent(nameOf(record))}: ${sent(money(record))} ${badge(paymentStatus)}</h1>
    ${verdict('bad', errorMessage)}${verdict('wait', reason && `A person must check it: ${reason}.`)}
    ${columns({ Timeline: timelineOf(view, id) }, right)}`;
  return { title: `${paymentStatus}: ${nameOf(record)}, ${money(record)}`, main };
}

/** Out of a final state the moves go by force. */
const moveForm = (record: PaymentRecord, moves: Partial<Record<MoveName, string>>, fields?: Html) =>
  callForm(
    `POST /payments/${record.id}/moves`,
    html`${isFinalStatus(record.paymentStatus) && html`<input type="hidden" name="force" value="yes">`}${fields}
    ${Object.entries(moves).map(([name, label]) => html`<button id="${name}-${record.id}" name="move" value="${name}">${label}</button>`)}`,
    'row',
  );

const movesOf = (record: PaymentRecord) => html`
  ${isFinalStatus(record.paymentStatus) && verdict('wait', `${record.paymentStatus} is final: the gateway makes no more moves. These go by force, to see what your app does.`)}
  ${moveForm(
    record,
    { complete: 'Complete', authorize: 'Authorise', cancel: 'Cancel', fail: 'Fail' },
    html`${input('amount', 'Complete with another amount', { type: 'number', min: 0, step: 'any' }, 'grow')}
    ${input('reason', 'Fail for a reason', {}, 'grow')}`,
  )}`;
