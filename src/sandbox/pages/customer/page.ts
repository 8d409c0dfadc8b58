// The frame of the customer's page: the shop, the amount, the payment form, and the outcome.
import { html } from 'hono/html';
import { money } from '../../money.ts';
import { type Html, htmlResponse } from '../layout.ts';
import { controls } from './controls.ts';
import { faceOf } from './faces.ts';
import { icon } from './icons.ts';
import { receipt } from './onramp.ts';
import { drawOutcome, outcomeOf } from './outcome.ts';
import { addressOf, type Drawn, rows, type View } from './view.ts';

export function customerPage(view: View, status = 200): Promise<Response> {
  const { record, shopName } = view;
  const outcome = outcomeOf(view);
  const drawn: Drawn = outcome ? { body: drawOutcome(view, outcome) } : faceOf(view).draw(view);
  const isWrong = Object.keys(view.errors).length > 0;
  const does = outcome?.title ?? (drawn.site ? 'Approve' : isWrong ? 'Please check' : 'Pay');
  const title = `${does}${outcome || isWrong ? ':' : ''} ${money(record)} · ${drawn.site ?? shopName}`;
  const main = drawn.site ? drawn.body : shopPage(view, drawn.body);
  return htmlResponse(document(view, title, main), status);
}

const document = (view: View, title: string, main: Html): Html => html`<!doctype html>
<html lang="en" dir="ltr">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/customer.css">
    <script src="/customer.js" defer></script>
  </head>
  <body data-live="/pay/${view.record.id}/live">
    <div id="page" data-state="${view.record.paymentStatus.toLowerCase()}">
      ${main}
      ${controls(view)}
    </div>
    <p class="unseen" id="news" role="status"></p>
    <footer>A test of the sandbox gateway. No money moves here.</footer>
  </body>
</html>
`;

const shopPage = (view: View, body: Html): Html => {
  const { record, shopName, chosen } = view;
  return html`<main class="checkout">
    <section class="summary" aria-label="Your order">
      <p class="shop"><span class="monogram" aria-hidden="true">${monogramOf(shopName)}</span><b>${shopName}</b><span class="test">Test</span></p>
      <h1 class="${lengthOf(money(record))}">${money(record)}</h1>
      ${record.description && html`<p class="description">${record.description}</p>`}
      ${rows({ Reference: record.reference })}
      ${receipt(view)}
      <p class="powered">${icon('lock')}Payments by Sandbox gateway</p>
    </section>
    <section class="method" aria-label="Payment">
      ${chosen && !outcomeOf(view) && html`<a class="back" href="${addressOf({ ...view, chosen: undefined })}">${icon('back')}Other ways to pay</a>`}
      ${body}
    </section>
  </main>`;
};

/** Returns the first letters of the first two words. */
const monogramOf = (name: string): string =>
  name
    .split(/\s+/)
    .filter(word => /^[\p{L}\p{N}]/u.test(word))
    .slice(0, 2)
    .map(word => [...word][0]?.toUpperCase())
    .join('') || '•';

/** Returns a class that shrinks long amounts. */
const lengthOf = (text: string): string => (text.length > 24 ? 'longest' : text.length > 14 ? 'long' : '');
