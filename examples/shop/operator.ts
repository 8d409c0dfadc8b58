// The operator's page: doubts, payments to check, and payouts. It needs a password, because it decides about money.
import { Hono } from 'hono';
import { basicAuth } from 'hono/basic-auth';
import { html } from 'hono/html';
import {
  type Difference,
  type Doubt,
  type GatewayClient,
  isGatewayError,
  type WebhookHandler,
} from 'payment-gateway-sdk';
import { money } from './catalogue.ts';
import type { Database } from './database.ts';
import { paymentsToCheck } from './orders.ts';
import { type Html, page } from './pages.ts';
import type { Payouts } from './payouts.ts';

export interface OperatorParts {
  db: Database;
  gateway: GatewayClient;
  callbacks: WebhookHandler;
  payouts: Payouts;
  password: string;
}

/** The fields that may differ between a payment and its create, once the operator has compared both. */
const DIFFERENCES: readonly Difference[] = ['reference', 'amount', 'currency', 'paymentType', 'paymentId'];

export function openOperator({ db, gateway, callbacks, payouts, password }: OperatorParts) {
  const app = new Hono();
  app.use(basicAuth({ username: 'operator', password, realm: 'Harbour Tea' }));

  const show = async (notice?: string): Promise<Html> => {
    const [doubts, checks, owed] = await Promise.all([gateway.inDoubt(), paymentsToCheck(db), payouts.list()]);
    return page(
      'Operator',
      html`${notice && html`<p role="alert">${notice}</p>`}
        <h1>Payments in doubt</h1>
        <p>Ask the gateway's support about the reference. Nothing is sent again until you settle it.</p>
        ${doubts.length === 0 ? html`<p class="none">None.</p>` : doubts.map(doubtForm)}
        <h2>Payments to check</h2>
        ${table(
          ['Reference', 'Payment', 'Amount', 'Status'],
          checks.map(({ reference, paymentId, amount, currency, status }) => [
            reference,
            paymentId,
            sum(amount, currency),
            status.toLowerCase(),
          ]),
        )}
        <h2>Payouts</h2>
        ${table(
          ['Order', 'Attempt', 'Amount', 'Status'],
          owed.map(({ orderId, attempt, amount, currency, state, isUnpaid }) => [
            orderId,
            attempt,
            sum(amount, currency),
            html`${state.toLowerCase()} ${isUnpaid && payAgainForm(orderId)}`,
          ]),
        )}`,
    );
  };

  app.get('/', async c => c.html(await show()));

  app.post('/doubts', async c => {
    const form = await c.req.formData();
    const reference = String(form.get('reference'));
    const paymentId = String(form.get('resolution') ?? form.get('paymentId')).trim();
    const despite = DIFFERENCES.filter(name => form.getAll('despite').includes(name));
    try {
      await gateway.settle(reference, paymentId, { despite });
      console.log('The operator has settled a doubt:', { reference, paymentId, despite });
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      // The message names the differences, or the time to wait for.
      return c.html(await show(`${reference} was not settled. ${error.message}`), 409);
    }
    // Applies the payment as its callback would. If this fails, the next sweep does it.
    if (paymentId !== 'not_created') await callbacks.process(paymentId).catch(console.error);
    return c.redirect('/operator', 303);
  });

  app.post('/payouts', async c => {
    const orderId = Number((await c.req.formData()).get('order'));
    if (Number.isSafeInteger(orderId)) await payouts.payAgain(orderId);
    return c.redirect('/operator', 303);
  });

  return app;
}

const doubtForm = ({ reference, amount, currency, paymentType, paymentMethod, since, ...doubt }: Doubt) => html`
  <form method="post" action="/operator/doubts" class="doubt">
    <h2>${reference} <span>${money(amount, currency)}</span></h2>
    <p>
      ${paymentType === 'DEPOSIT' ? 'A deposit' : 'A payout'} by ${paymentMethod}, since
      <time datetime="${since.toISOString()}">${since.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>.
      ${doubt.underWay && 'Its create may still be running.'} ${doubt.paymentId && `It may be payment ${doubt.paymentId}.`}
      ${doubt.conflictingIds.length > 0 && `There is also: ${doubt.conflictingIds.join(', ')}.`}
    </p>
    <input type="hidden" name="reference" value="${reference}" />
    <label>Its payment's id <input name="paymentId" value="${doubt.paymentId ?? ''}" autocomplete="off" /></label>
    <details>
      <summary>It differs, and it is this one</summary>
      ${DIFFERENCES.map(name => html`<label><input type="checkbox" name="despite" value="${name}" /> ${name}</label>`)}
    </details>
    <div>
      <button>Settle</button>
      <button name="resolution" value="not_created" class="quiet">There is no payment</button>
    </div>
  </form>`;

const sum = (amount: string, currency: string) => html`<span class="sum">${money(amount, currency)}</span>`;

const payAgainForm = (orderId: number) => html`
  <form method="post" action="/operator/payouts">
    <button name="order" value="${orderId}" class="quiet">Pay again</button>
  </form>`;

const table = (head: readonly string[], rows: readonly (readonly unknown[])[]) =>
  rows.length === 0
    ? html`<p class="none">None.</p>`
    : html`<table>
        <thead>
          <tr>${head.map(name => html`<th scope="col">${name}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map(cells => html`<tr>${cells.map(cell => html`<td>${cell}</td>`)}</tr>`)}
        </tbody>
      </table>`;
