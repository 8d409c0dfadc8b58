// The customers' pages. `html` escapes all inserted values.
import { html } from 'hono/html';
import type { NextAction } from 'payment-gateway-sdk';
import { CURRENCIES, type Currency, METHODS, type Method, methodsOf, money, PRODUCTS } from './catalogue.ts';
import type { OrderState } from './checkout.ts';
import type { Order } from './orders.ts';

export type Html = ReturnType<typeof html>;

/** @param isLive whether the page refreshes until it shows a final state, by a script or the browser */
export const page = (title: string, content: Html, isLive = false): Html => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · Harbour Tea</title>
    <link rel="stylesheet" href="/shop.css" />
    <link rel="icon" href="data:," />
    ${isLive && html`<noscript><meta http-equiv="refresh" content="2" /></noscript>`}
    <script src="/live.js" defer></script>
  </head>
  <body>
    <header><a href="/">Harbour Tea</a></header>
    <main aria-live="polite" ${isLive && 'data-live'}>${content}</main>
  </body>
</html>`;

const choice = (name: string, value: string, isChecked: boolean, label: unknown) => html`
  <label class="choice">
    <input type="radio" name="${name}" value="${value}" required ${isChecked && 'checked'} />
    <span>${label}</span>
  </label>`;

const methodChoices = (currency: Currency, chosen: Method | undefined = methodsOf(currency)[0]) => html`
  <fieldset>
    <legend>How do you pay?</legend>
    ${methodsOf(currency).map(method => choice('method', method, method === chosen, METHODS[method]))}
  </fieldset>`;

export const productsPage = (currency: Currency): Html =>
  page(
    'Teas',
    html`
      <h1>Three teas, 100 grams each</h1>
      <nav aria-label="Currency">
        ${Object.keys(CURRENCIES).map(
          code => html`<a href="/?currency=${code}" ${code === currency && html`aria-current="true"`}>${code}</a>`,
        )}
      </nav>
      <form method="post" action="/orders">
        <input type="hidden" name="currency" value="${currency}" />
        <fieldset class="products">
          <legend>Which one?</legend>
          ${Object.entries(PRODUCTS).map(([id, { name, about, prices }], index) =>
            choice(
              'product',
              id,
              index === 0,
              html`<i class="tin ${id}"></i><b>${name}</b> <span>${about}</span>
                <strong>${money(prices[currency], currency)}</strong>`,
            ),
          )}
        </fieldset>
        ${methodChoices(currency)}
        <button>Buy</button>
      </form>`,
  );

const payForm = ({ key, method }: Order, label: string, choices: unknown = '') => html`
  <form method="post" action="/orders/${key}/pay">
    ${choices || html`<input type="hidden" name="method" value="${method}" />`}
    <button>${label}</button>
  </form>`;

const pending = (order: Order, action: NextAction): Html => {
  switch (action.type) {
    case 'redirect':
      return html`<h1>Your payment is not finished</h1>
        <p>This page changes as soon as it is.</p>
        ${payForm(order, 'Continue to payment')}`;
    case 'transfer': {
      const { number, full_holder_name, payment_description, amount, currency } = action.transfer;
      return html`<h1>Transfer the money by PayID</h1>
        <p>In the app of your bank. This page changes when the money has arrived.</p>
        <dl>
          <dt>PayID</dt>
          <dd>${number}</dd>
          <dt>Name</dt>
          <dd>${full_holder_name}</dd>
          <dt>Description</dt>
          <dd>${payment_description}</dd>
          <dt>Amount</dt>
          <dd>${money(amount ?? order.amount, currency ?? order.currency)}</dd>
        </dl>`;
    }
    case 'wait':
      return html`<h1>We are waiting for your payment</h1>
        <p>The payment service has it, and this page changes when it is done. Please do not pay again.</p>`;
  }
};

const said = (title: string, text: string) => html`<h1>${title}</h1><p>${text}</p>`;

function stateView(order: Order, state: OrderState): Html {
  const total = money(order.amount, order.currency);
  switch (state.is) {
    case 'paid':
      return said('Thank you, it is paid', 'Your tea is on its way, and so is your receipt.');
    case 'booking':
      return said('Your payment has arrived', 'We are booking it now.');
    case 'checking':
      return said(
        'We are checking your payment',
        'The connection to the payment service broke. Please do not pay again: this page tells you as soon as we know more.',
      );
    case 'lost':
      return said(
        'The link to your payment was lost',
        'Nothing was charged. Please write to us with the number of this order: we cancel the payment, and you can pay again here.',
      );
    case 'pending':
      return pending(order, state.nextAction);
    case 'declined':
      return html`${said('The payment was not made', 'It was declined or cancelled. You can try again.')}
        ${payForm(order, `Pay ${total}`, methodChoices(order.currency, order.method))}`;
    case 'refused':
      return html`${said('That did not work', 'The payment service did not take the payment. Nothing was charged.')}
        ${payForm(order, 'Try again')} <a href="/">Start again</a>`;
    case 'open':
      return html`${said('Not paid yet', 'Nothing was charged so far.')} ${payForm(order, `Pay ${total}`)}`;
  }
}

const LIVE = ['booking', 'checking', 'lost', 'pending'];

export const orderPage = (order: Order, state: OrderState): Html =>
  page(
    `Order ${order.id}`,
    html`<section class="state ${state.is}">${stateView(order, state)}</section>
      <p class="summary">
        ${PRODUCTS[order.product].name}, 100 g
        <span>${money(order.amount, order.currency)} by ${METHODS[order.method]}</span>
        <span>Order ${order.id}</span>
      </p>`,
    LIVE.includes(state.is),
  );

export const problemPage = (text: string): Html =>
  page('Sorry', html`<h1>${text}</h1><p><a href="/">Back to the teas</a></p>`);
