// The customer's page: the order, the payment's step or outcome, and the test controls.
import { html } from 'hono/html';
import { isFinalStatus } from '../../../schemas/methods.ts';
import { isOnramp, walletOf } from '../../ledger/ledger.ts';
import { feeOf, QUOTE_MS } from '../../ledger/rates.ts';
import { currencyCode, money } from '../../text/money.ts';
import { input, pageResponse, rows, sent, timeOf, toneOf } from '../layout.ts';
import { ENDS } from './ends.ts';
import { methodOf } from './methods.ts';
import { stepOf } from './steps.ts';
import { formOf, formTargetsOf, type View } from './view.ts';

export function customerPage(view: View) {
  const { record, chosen, isRefused, sum } = view;
  const { id, paymentStatus, description, reference } = record;
  const { shopName, frameAncestors } = view.settings;
  const hue = (Buffer.from(shopName).reduce((sum, byte) => sum + byte) % 5) + 1;
  const outcome = outcomeOf(view);
  const does = outcome ? `${outcome[0]}:` : isRefused ? 'Please check:' : 'Pay';
  const body = html`<div id="page">
    <main class="checkout">
      <section class="summary hue-${hue}" aria-label="Your order">
        <header><span class="mark" aria-hidden="true">${/[\p{L}\p{N}]/u.exec(shopName)?.[0].toUpperCase() ?? '•'}</span><b>${shopName}</b><span class="pill wait">Test</span></header>
        <h1 class="sum">${sent(sum)}</h1>
        ${description && html`<p>${description}</p>`}
        ${rows({ Reference: reference })}
        ${receipt(view)}
      </section>
      <section class="method" aria-label="Payment">
        ${chosen && !outcome && html`<a href="/pay/${id}">Other ways to pay</a>`}
        ${outcome ? outcomeStep(view, ...outcome) : stepOf(view)}
      </section>
    </main>
    <aside class="card tester" id="tests" aria-labelledby="tester">
      <p><b id="tester">Test controls</b> your customers do not see this</p>
      ${paymentStatus === 'PENDING' && numbers(view)}
      ${!isFinalStatus(paymentStatus) && endings(view)}
      <p><a href="/payments/${id}">This payment on the dashboard</a></p>
    </aside>
  </div>
  <footer>A test of the sandbox gateway. No money moves here.</footer>`;
  const title = `${does} ${sum} · ${shopName}`;
  return pageResponse({ title, status: isRefused ? 422 : 200, frameAncestors, formTargets: formTargetsOf(view), body });
}

function receipt({ record, request, quotedAt, now, locale }: View) {
  if (!isOnramp(record) || ['FAILED', 'CANCELED'].includes(record.paymentStatus)) return false;
  const { cryptoAmount, cryptoCurrency, crypto_fx, settled_crypto_amount, currency } = record;
  const isOpen = quotedAt !== undefined && record.paymentStatus === 'PENDING';
  return html`<section aria-labelledby="receipt">
    <h2 id="receipt">${settled_crypto_amount === undefined ? 'You receive' : 'You received'}</h2>
    <p class="sum"><bdi>${settled_crypto_amount?.toFixed(8) ?? cryptoAmount} ${cryptoCurrency}</bdi></p>
    ${rows({
      Rate: `1 ${cryptoCurrency} = ${crypto_fx} ${currencyCode(currency)}`,
      Fee: `${money(feeOf(record), locale)}, in the rate`,
      'Good until': isOpen && html`<bdi>${timeOf(quotedAt + QUOTE_MS, now)} UTC</bdi>`,
      Wallet: html`<code dir="ltr">${walletOf(request)}</code>`,
    })}
  </section>`;
}

function outcomeOf({ record, settings: { shopName } }: View) {
  const goods = isOnramp(record)
    ? `Your ${record.cryptoCurrency} is on its way to the wallet.`
    : `${shopName} has your payment.`;
  const outcomes: Partial<Record<string, [string, string]>> = {
    COMPLETED: ['Payment complete', `Thank you. ${goods}`],
    AUTHORIZED: ['Payment approved', `The amount is reserved. ${shopName} takes it when your order is ready.`],
    FAILED: ['Payment declined', 'Nothing was charged.'],
    CANCELED: ['Payment canceled', 'Nothing was charged.'],
  };
  return outcomes[record.paymentStatus];
}

function outcomeStep({ record, request, shop }: View, title: string, text: string) {
  const { paymentStatus, errorMessage, paymentMethod } = record;
  const isPaid = ['COMPLETED', 'AUTHORIZED'].includes(paymentStatus);
  return html`<section class="outcome" aria-labelledby="outcome">
    <span class="seal ${toneOf(paymentStatus)}" aria-hidden="true">${isPaid ? '✓' : '✕'}</span>
    <h2 id="outcome" tabindex="-1">${title}</h2>
    <p>${text}</p>
    ${rows({ Reason: errorMessage, 'Paid with': isPaid && methodOf(paymentMethod).name })}
    ${shop && html`<a class="button primary" href="${shop}">Back to the shop</a>`}
    ${!shop && request.returnUrl && html`<p class="verdict wait">The shop's return address is not followed: it is neither a web page nor an app. <code dir="ltr">${request.returnUrl}</code></p>`}
  </section>`;
}

function endings(view: View) {
  const { record, method, takesCard } = view;
  const isOffered: Partial<Record<string, boolean>> = {
    authorize: record.paymentStatus === 'PENDING' && !isOnramp(record) && !method.details,
    'no-3ds': takesCard,
    'no-identity': isOnramp(record),
  };
  const buttons = [...ENDS].map(
    ([name, [button]]) => (isOffered[name] ?? true) && html`<button name="act" value="${name}">${button}</button>`,
  );
  const amount = { value: record.amount, type: 'number', min: 0, step: 'any' };
  const content = html`${input('amount', 'Amount that arrives', amount)}<div class="row">${buttons}</div>`;
  return html`<h2>End it here</h2>${formOf(view, content)}`;
}

function numbers(view: View) {
  const lines = view.method.form?.tests.map(
    ([value, end = '', does = ENDS.get(end)?.[0] ?? '']) => html`<li>
      <button name="test" value="${value}" aria-label="Use ${value}">Use</button>
      <span><code>${value}</code><br>${sent(does)}</span></li>`,
  );
  return lines && html`<h2>To try</h2>${formOf(view, html`<ul>${lines}</ul>`, 'get')}`;
}
