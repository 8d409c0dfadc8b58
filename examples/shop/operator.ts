// The operator's page: doubts, reviews, payouts and orders. It needs a password, because it decides about money.
import { desc, ne } from 'drizzle-orm';
import { Hono } from 'hono';
import { basicAuth } from 'hono/basic-auth';
import { html } from 'hono/html';
import { type Doubt, isGatewayError, type Review } from 'payment-gateway-sdk';
import { money } from './catalogue.ts';
import { listOrders } from './checkout.ts';
import { type Database, type Order, payouts } from './database.ts';
import { type Html, page } from './pages.ts';
import type { Payments } from './payments.ts';

/** The fields that may differ between a payment and its create, once the operator has compared both. */
const DIFFERENCES = ['reference', 'amount', 'currency', 'paymentType', 'paymentId'] as const;

export function openOperator(db: Database, { gateway, payAgain }: Payments, password: string) {
  const app = new Hono();
  app.use(basicAuth({ username: 'operator', password, realm: 'Harbour Tea' }));

  const listPayouts = () => {
    const latest = db.select().from(payouts).where(ne(payouts.state, 'replaced'));
    return latest.orderBy(desc(payouts.createdAt)).limit(20);
  };
  /** Shows the SDK's state of an order, and its number of attempts. */
  async function orderRow({ id, amount, currency }: Order) {
    const order = await gateway.order(id);
    const isOpen = order && !['paid', 'canceled'].includes(order.state);
    const state = html`${order?.state ?? 'not begun'} ${isOpen && button('/orders', 'Cancel', { id })}`;
    return [id, order?.attempts ?? 0, sum(amount, currency), state];
  }

  const show = async (notice?: string): Promise<Html> => {
    const [doubts, reviews, owed, placed] = await Promise.all([
      gateway.doubts(),
      gateway.reviews(),
      listPayouts(),
      listOrders(db).then(orders => Promise.all(orders.map(orderRow))),
    ]);
    return page(
      'Operator',
      html`${notice && html`<p role="alert">${notice}</p>`}
        <h1>Payments in doubt</h1>
        <p>Ask the gateway's support about the reference. Nothing is sent again until you settle it.</p>
        ${doubts.length === 0 ? html`<p class="none">None.</p>` : doubts.map(doubtForm)}
        <h2>Payments to review</h2>
        ${table(['Reference', 'Payment', 'Amount', 'Reason'], reviews.map(reviewRow))}
        <h2>Payouts</h2>
        ${table(
          ['Payout', 'Order', 'Amount', 'State'],
          owed.map(({ reference, orderId, amount, currency, state }) => [
            reference,
            orderId,
            sum(amount, currency),
            html`${state} ${state === 'failed' && button('/payouts', 'Pay again', { reference })}`,
          ]),
        )}
        <h2>Orders</h2>
        ${table(['Order', 'Attempts', 'Amount', 'State'], placed)}`,
    );
  };

  app.get('/', async c => c.html(await show()));

  /** A form that calls the SDK. The message of a refusal says the reason and the next step. */
  const act = (path: string, work: (form: FormData) => Promise<unknown>) =>
    app.post(path, async c => {
      const form = await c.req.formData();
      try {
        await work(form);
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        return c.html(await show(`Nothing was changed. ${error.message}`), 409);
      }
      console.log('The operator has decided:', path, Object.fromEntries(form));
      return c.redirect('/operator', 303);
    });

  act('/doubts', form => {
    const paymentId = String(form.get('resolution') ?? form.get('paymentId')).trim();
    const despite = DIFFERENCES.filter(name => form.getAll('despite').includes(name));
    return gateway.settle(String(form.get('reference')), paymentId, { despite });
  });
  act('/reviews', form => gateway.resolveReview(String(form.get('id')), String(form.get('status'))));
  act('/payouts', form => payAgain(String(form.get('reference'))));
  act('/orders', form => gateway.cancelOrder(String(form.get('id'))));

  return app;
}

const sum = (amount: string | number, currency: string) => html`<span class="sum">${money(amount, currency)}</span>`;

const button = (path: string, label: string, fields: Record<string, string>) => html`
  <form method="post" action="/operator${path}">
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="quiet">${label}</button>
  </form>`;

const reviewRow = ({ id, reference, paymentId, amount, currency, reason, status }: Review) => [
  reference,
  paymentId,
  amount && currency && sum(amount, currency),
  html`${reason.replaceAll('_', ' ')} ${button('/reviews', 'Close', { id, status })}`,
];

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
