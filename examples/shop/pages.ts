// The customers' pages. `html` escapes all inserted values.
import { html } from 'hono/html';
import type { Transfer } from 'payment-gateway-sdk';
import { CURRENCIES, type Currency, METHODS, type Method, methodsOf, money, PRODUCTS } from './catalogue.ts';
import type { OrderState } from './checkout.ts';
import type { Order } from './database.ts';

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

const said = (title: string, text: string) => html`<h1>${title}</h1><p>${text}</p>`;

const transferView = (order: Order, transfer: Transfer): Html => html`
  ${said('Transfer the money by PayID', 'In the app of your bank. This page changes when the money has arrived.')}
  <dl>
    <dt>PayID</dt>
    <dd>${transfer.number}</dd>
    <dt>Name</dt>
    <dd>${transfer.full_holder_name}</dd>
    <dt>Description</dt>
    <dd>${transfer.payment_description}</dd>
    <dt>Amount</dt>
    <dd>${money(transfer.amount ?? order.amount, transfer.currency ?? order.currency)}</dd>
  </dl>`;

function stateView(order: Order, state: OrderState): Html {
  const total = money(order.amount, order.currency);
  const choices = () => methodChoices(order.currency, order.method);
  switch (state.is) {
    case 'paid':
      return said('Thank you, it is paid', 'Your tea is on its way, and so is your receipt.');
    case 'checking':
      return html`${said(
        'We are checking your payment',
        'The connection to the payment service broke. Please wait: this page shows the result as soon as we know it.',
      )}
        ${payForm(order, 'Check again')}`;
    case 'transfer':
      return transferView(order, state.transfer);
    case 'pending':
      return html`${said('Your payment is not finished', 'This page changes once it is.')}
        ${payForm(order, 'Continue to payment', choices())}`;
    case 'declined':
      return html`${said('The payment was not made', 'It was declined or cancelled. You can try again.')}
        ${payForm(order, `Pay ${total}`, choices())}`;
    case 'reversed':
      return html`${said('Your bank took the payment back', 'Please pay again, or write to us.')}
        ${payForm(order, `Pay ${total}`, choices())}`;
    case 'canceled':
      return said('This order was cancelled', 'If you have paid it, we pay you back.');
    case 'refused':
      return html`${said('That did not work', 'The payment service did not take the payment. Nothing was charged.')}
        ${payForm(order, 'Try again')} <a href="/">Start again</a>`;
    case 'open':
      return html`${said('Not paid yet', 'Nothing was charged so far.')} ${payForm(order, `Pay ${total}`)}`;
  }
}

const LIVE = ['checking', 'pending', 'transfer'];

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
