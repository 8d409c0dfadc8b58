// The payments: their list with search, next to the latest activity, and one with its timeline, moves and record.
import { html } from 'hono/html';
import { isFinalStatus, PAYMENT_STATUSES } from '../../../schemas/methods.ts';
import { errorMessageOf } from '../../ledger/ledger.ts';
import { MOVES, type MoveName } from '../../ledger/moves.ts';
import { orderOf } from '../../ledger/query.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money } from '../../money.ts';
import type { Parts } from '../../parts.ts';
import { millisecondsOf } from '../../php.ts';
import { SandboxError } from '../../sandbox-error.ts';
import { ENDS } from '../customer/ends.ts';
import { methodName } from '../customer/methods.ts';
import { badge, type Html, nameOf, pill, rows, sent, timeOf, toneOf } from '../layout.ts';
import { drawn, linesOf } from './activity.ts';
import { outcomeOfDelivery, waitingLabel } from './outcome.ts';
import { environment, firstSteps, storyForm } from './start.ts';
import { cards, chipsOf, count, detailsOf, formOf, type Page, pageOf, rawText, searchOf, type View } from './view.ts';

export function paymentsPage(view: View): Page {
  const { ledger } = view.parts;
  const latest = linesOf(view, { limit: 3 * LATEST })
    .slice(-LATEST)
    .reverse();
  const aside = cards([
    [
      'Latest',
      html`${latest.length > 0 ? drawn(view, latest, 'short') : html`<p class="dim">Nothing has happened yet.</p>`}<p><a href="/activity">All activity</a></p>`,
    ],
    ['Play a story', ledger.size > 0 && storyForm(view)],
    ['Connect your app', ledger.size > 0 && environment(view)],
  ]);
  const main = html`<div class="row"><h1 class="grow">Payments</h1>${ledger.size > 0 && html`<a class="button" href="/create">Create one</a>`}</div>
    <div class="beside"><section aria-label="Payments">${ledger.size === 0 ? firstSteps(view) : paymentList(view)}</section><aside aria-label="What happens">${aside}</aside></div>`;
  return { title: `Payments (${ledger.size})`, main };
}

/** Lines next to the payments. */
const LATEST = 8;

function paymentList(view: View): Html {
  const { ledger, settings } = view.parts;
  const { search, status } = Object.fromEntries(view.url.searchParams);
  const query = { search, paymentStatus: status || undefined };
  const { orders, byStatus } = ledger.orders(query);
  const { links, limit, offset } = pageOf(view, orders.length);
  const chips = PAYMENT_STATUSES.map(
    status => [status, status.charAt(0) + status.slice(1).toLowerCase(), byStatus[status] ?? 0] as const,
  );
  const all = chips.reduce((sum, [, , lines]) => sum + lines, 0);
  return html`${searchOf(view, 'status', 'Search a reference, id, method, amount or email')}
    ${chipsOf(view, 'status', [['', 'All', all], ...chips])}
    ${
      orders.length === 0
        ? html`<p class="card dim">No payment fits. <a href="/">Show all ${count(ledger.size)}</a></p>`
        : html`<table><thead><tr>${HEADS.map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
        <tbody>${orders.slice(offset, offset + limit).map(attempts => rowOf(view, attempts))}</tbody></table>`
    }${links}
    ${ledger.size >= settings.maxPayments && html`<p class="dim">The sandbox keeps ${count(settings.maxPayments)} payments. The oldest final ones make way for newer ones.</p>`}`;
}

const HEADS = ['State', 'Amount', 'Reference', 'Method', 'Callback', 'Created', 'Move'];

/** Draws one line of an order: the attempt that paid it, or the newest one, and links to all. */
function rowOf(view: View, attempts: readonly PaymentRecord[]): Html | undefined {
  const record = attempts.findLast(({ paymentStatus }) => paymentStatus === 'COMPLETED') ?? attempts[0];
  if (!record) return undefined;
  const { id, paymentStatus, paymentMethod, paymentType, errorMessage, created } = record;
  const name = (attempts.length > 1 && orderOf(record)) || nameOf(record);
  const reasons = attempts.flatMap(({ id }) => view.reviews.get(id) ?? []);
  const isWithdrawal = paymentType === 'WITHDRAWAL';
  return html`<tr id="row-${id}">
    <td>${badge(paymentStatus)}</td>
    <td>${sent(`${isWithdrawal ? '−' : ''}${money(record)}`)}</td>
    <th scope="row"><a id="open-${id}" href="/payments/${id}">${sent(name)}</a>
      ${errorMessage && html`<span class="why">${sent(errorMessage)}</span>`}
      ${attemptsOf(attempts)}
      ${reasons.map(reason => html`<span class="why">${pill({ tone: 'wait', label: `review: ${reason}` })}</span>`)}</th>
    <td>${methodName(paymentMethod)}${isWithdrawal && html` <span class="dim">withdrawal</span>`}</td>
    <td>${latestCallback(view, id)}</td>
    <td>${timeOf(millisecondsOf(created), view.now)}</td>
    <td>${!isFinalStatus(paymentStatus) && moveForm(record, { complete: 'Complete', fail: 'Fail' }, 'small')}</td>
  </tr>`;
}

/** Links the attempts of an order, the first one first. */
const attemptsOf = (attempts: readonly PaymentRecord[]): Html | false =>
  attempts.length > 1 &&
  html`<span class="why">${attempts.toReversed().map(record => {
    const { id, paymentStatus } = record;
    const label = `${nameOf(record).split('.').at(-1)} ${paymentStatus.toLowerCase()}`;
    return html`<a href="/payments/${id}" aria-label="Attempt ${label}">${pill({ tone: toneOf(paymentStatus), label })}</a> `;
  })}</span>`;

/** Returns the outcome of a payment's latest callback. */
function latestCallback({ parts: { callbacks, log } }: View, paymentId: string): Html {
  const waiting = callbacks.waiting.findLast(({ callback }) => callback.paymentId === paymentId);
  if (waiting) return pill({ tone: 'wait', label: waitingLabel({ due: waiting.due, fault: waiting.callback.fault }) });
  const [latest] = log.deliveriesOf(paymentId);
  if (!latest) return html`<span class="dim">–</span>`;
  const outcome = outcomeOfDelivery(latest);
  return html`<a href="/deliveries/${latest.id}" aria-label="Callback ${latest.id}: ${outcome.label}">${pill(outcome)}</a>`;
}

export function paymentPage(view: View, path: string): Page {
  const { ledger, callbacks } = view.parts;
  const record = ledger.get(path);
  const { id, paymentStatus, paymentType, paymentMethod, errorMessage, reference, description } = record;
  const { amount: requested } = ledger.detailsOf(id).request;
  const reason = view.reviews.get(id);
  const own = ledger.callbackUrlOf(id);
  const target = callbacks.targetOf(id, own);
  const facts = rows({
    Type: paymentType === 'DEPOSIT' ? 'Deposit: the customer pays' : 'Withdrawal: the merchant pays',
    Method: methodName(paymentMethod),
    Description: description,
    Requested: requested !== record.amount && money({ ...record, amount: requested }),
    Created: timeOf(millisecondsOf(record.created), view.now),
    'Callbacks go to': html`<span class="mono">${sent(target)}</span>`,
    'Instead of': target !== own && html`<span class="mono">${sent(own)}</span>`,
    "Customer's page": paymentType === 'DEPOSIT' && html`<a href="/pay/${id}">/pay/${id.slice(0, 8)}…</a>`,
  });
  const main = detailsOf({
    crumbs: ['/', 'Payments', id],
    heading: html`<span class="sum">${money(record)}</span> ${badge(paymentStatus)} <small>${reference ? sent(reference) : 'Without a reference'}</small>`,
    verdicts: [
      { tone: 'bad', sentence: errorMessage },
      { tone: 'wait', sentence: reason && `A person must check it: ${reason}.` },
    ],
    left: [['Timeline', drawn(view, linesOf(view, { paymentId: id }), 'one')]],
    right: [
      ['Move it', movesOf(record)],
      ['Payment', facts],
      [
        'Record',
        html`<p class="dim">As a lookup shows it.</p>${rawText('record-json', 'Record of the payment', JSON.stringify(record, null, 2))}`,
      ],
    ],
  });
  return { title: `${paymentStatus}: ${nameOf(record)}, ${money(record)}`, main };
}

const forceOf = ({ paymentStatus }: PaymentRecord): Html | false =>
  isFinalStatus(paymentStatus) && html`<input type="hidden" name="force" value="yes">`;

const moveForm = (record: PaymentRecord, moves: Partial<Record<MoveName, string>>, size = ''): Html =>
  formOf(
    `/payments/${record.id}`,
    html`${forceOf(record)}${Object.entries(moves).map(([name, label]) => html`<button class="${size}" id="${name}-${record.id}" name="move" value="${name}">${label}</button>`)}`,
    'row',
  );

/** The forms of every move. Out of a final state they go by force, and explain that. */
const movesOf = (record: PaymentRecord): Html => html`
  ${forceOf(record) && html`<p class="force">${record.paymentStatus} is final: the gateway makes no more moves. These go by force, to see what your app does.</p>`}
  ${moveForm(record, { complete: 'Complete', authorize: 'Authorise', cancel: 'Cancel' })}
  ${ownForm(
    record,
    'complete',
    html`<label for="amount">Complete with another amount</label>
    <input id="amount" name="amount" type="number" min="0" step="any" required autocomplete="off">`,
  )}
  ${ownForm(
    record,
    'fail',
    html`<label for="reason">Fail for a reason, if any</label>
    <input id="reason" name="reason" list="reasons" maxlength="1000" autocomplete="off">
    <datalist id="reasons">${Object.values(ENDS).map(end => 'reason' in end && html`<option>${errorMessageOf(end.reason).errorMessage}</option>`)}</datalist>`,
  )}`;

const ownForm = (record: PaymentRecord, move: 'complete' | 'fail', field: Html): Html =>
  formOf(
    `/payments/${record.id}`,
    html`${forceOf(record)}<div class="field grow">${field}</div>
    <button name="move" value="${move}" id="${move}-own">${move === 'fail' ? 'Fail' : 'Complete with it'}</button>`,
    'row',
  );

/** Makes the move of a form. @returns a description */
export function makeMove({ ledger, move }: Parts, id: string, form: URLSearchParams): Html {
  const name = form.get('move') ?? '';
  if (!Object.hasOwn(MOVES, name)) {
    throw new SandboxError('refused', `There is no such move: ${Object.keys(MOVES).join(', ')}.`);
  }
  const before = ledger.get(id);
  const payment = sent(nameOf(before));
  const reason = (name === 'fail' && form.get('reason')) || undefined;
  const isThere = before.paymentStatus === MOVES[name as MoveName] && reason === before.errorMessage;
  if (isThere)
    return html`Nothing changed: ${payment} was ${before.paymentStatus} already, and no callback was posted.`;
  const amount = form.get('amount');
  const record = move(id, name as MoveName, {
    ...(reason && { reason }),
    ...(amount && { amount: Number(amount) }),
    force: form.has('force'),
  });
  const { paymentStatus, errorMessage } = record;
  const why = errorMessage && html` (${sent(errorMessage)})`;
  return paymentStatus === before.paymentStatus
    ? html`${payment} stays ${paymentStatus}${why}: a callback is posted only when the state changes.`
    : html`${payment} is now ${paymentStatus}${amount && ` with ${money(record)}`}${why}, and its callback goes out.`;
}
