// The steps of a payment, each by one template: a form, a choice, an approval, or instructions.
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import { money } from '../../money.ts';
import { copyButton, type Html, rows, sent } from '../layout.ts';
import type { Details } from './details.ts';
import { FIELDS, type Field, type FieldName, NEVER_REAL } from './fields.ts';
import { icon } from './icons.ts';
import { type Approval, IDENTITY, type Method, offersOf } from './methods.ts';
import { addressOf, formOf, isExpired, methodIn, testIn, type View } from './view.ts';

/** Chooses the step by the method and the address. */
export function stepOf(view: View): Html {
  const { input, record } = view;
  if (isExpired(view)) return renewal(view);
  const method = methodIn(view);
  const { form, banks = [], approval, details } = method;
  const step = input.get('step');
  const at = banks.indexOf(input.get('bank') ?? '');
  if (at >= 0) return approvalStep(view, bankOf(view, banks[at] ?? '', at));
  if (approval && step === 'confirm') return approvalStep(view, approval);
  if (form && (banks.length === 0 || step === 'card' || input.get('act') === 'submit')) return formStep(view, method);
  if (banks.length > 0) return bankChoice(view, method);
  if (details) return instructions(view, method, details(record));
  return approval ? walletButton(view, approval) : offerChoice(view);
}

const renewal = (view: View): Html => html`<h2>Your quote has expired</h2>
  <p>A quote is good for two minutes. Get a new one to pay.</p>
  ${formOf(view, mainButton('Get a new quote', 'renew'))}`;

const heading = ({ title, name, text, steps }: Method): Html => html`<h2>${title ?? name}</h2>
  ${text && html`<p>${text}</p>`}
  ${steps && html`<ol class="steps">${steps.map(step => html`<li>${step}</li>`)}</ol>`}`;

const mainButton = (label: string | Html, act: string, isFocused = false): Html =>
  html`<button class="main" name="act" value="${act}" ${isFocused && 'autofocus'}>${label}</button>`;

function formStep(view: View, method: Method): Html {
  const { banks, name, form } = method;
  const fields = form?.fields ?? [];
  return html`${banks && html`<a class="back" href="${addressOf(view)}">${icon('back')}Other ways</a>`}
  ${banks ? html`<h2>${name} card</h2>` : heading(method)}
  ${formOf(
    view,
    html`${fields.includes('number') && html`<p class="advice">${icon('lock')}<span>${NEVER_REAL} <a href="#tests">Test numbers</a></span></p>`}
    <div class="fields">${fields.map((field, at) => fieldOn(view, field, at === 0))}</div>
    ${
      method === IDENTITY
        ? mainButton('Continue', 'identify', view.input.has('test'))
        : mainButton(html`${icon('lock')}Pay ${money(view.record)}`, 'submit', view.input.has('test'))
    }`,
  )}`;
}

function fieldOn(view: View, name: FieldName, isFirst: boolean): Html {
  const { label, attributes, fill }: Field = FIELDS[name];
  const test = view.input.has('test') && testIn(view);
  const error = isFirst && view.error;
  return html`<div class="field ${name}">
    <label for="${name}">${label}${name === 'number' && html` ${brands(methodIn(view))}`}</label>
    <input id="${name}" name="${name}" value="${test && (fill ?? test.value)}" required autocomplete="off" ${Object.entries(attributes).map(([key, text]) => html` ${key}="${text}"`)} ${error && html`autofocus aria-invalid="true" aria-describedby="${name}-error"`}>
    ${name === 'code' && html`<p class="hint countdown">A code is good for two minutes.</p>`}
    ${error && html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`;
}

const brands = ({ banks, name }: Method): Html =>
  html`<span class="brands" aria-hidden="true">${(banks ? [name] : ['Visa', 'Mastercard', 'Amex']).map(brand => html`<i>${brand}</i>`)}</span>`;

const tile = (field: string, value: string, mark: Html, words: Html): Html =>
  html`<li><button class="tile" name="${field}" value="${value}">${mark}${words}${icon('next')}</button></li>`;

const offerChoice = (view: View): Html => html`${heading(methodIn({ ...view, chosen: undefined }))}
  ${formOf(
    view,
    html`<ul class="tiles">${offersOf(view.record.currency).map(([value, { name, offer }]) =>
      tile(
        'method',
        value,
        html`<span class="mark">${offer && icon(offer[1])}</span>`,
        html`<span><b>${name}</b><small>${offer?.[0]}</small></span>`,
      ),
    )}</ul>`,
    'get',
  )}`;

const bankMark = (name: string, at: number): Html =>
  html`<span class="mark hue-${at + 1}" aria-hidden="true">${name.charAt(0)}</span>`;

const bankChoice = (view: View, method: Method): Html => html`
  ${heading({ text: 'Choose your bank. You confirm the payment there, and come back.', ...method })}
  ${
    method.form &&
    html`<a class="tile" href="${addressOf(view, { step: 'card' })}"><span class="mark">${icon('card')}</span><b>Card number</b>${icon('next')}</a>
    <p class="or">or in the app of your bank</p>`
  }
  ${formOf(view, html`<ul class="tiles">${method.banks?.map((name, at) => tile('bank', name, bankMark(name, at), html`<b>${name}</b>`))}</ul>`, 'get')}`;

const bankOf = ({ shopName }: View, by: string, at: number): Approval => ({
  look: `bank hue-${at + 1}`,
  by,
  title: 'Approve this payment?',
  button: 'Approve',
  hint: `The amount leaves your account at once. You go back to ${shopName} afterwards.`,
  refuse: 'Cancel payment',
});

/** The customer's consent: in an app, on a device, or at a bank. Closing it leads back. */
function approvalStep(view: View, { look, by, title, button, hint, refuse }: Approval): Html {
  const { record, shopName } = view;
  const isWallet = look === 'apple' || look === 'google';
  return html`${
    look === 'phone' &&
    html`<h2>Confirm in your banking app</h2>
    <p class="waiting" aria-busy="true">Waiting for your bank. Keep this page open.</p>`
  }
  <section class="approval ${look}" aria-labelledby="approval">
    <header>${!isWallet && icon('bank')}<b>${by}</b><a class="close" href="${addressOf(view)}" aria-label="Close ${by}">${icon('cross')}</a></header>
    <h2 id="approval">${sent(title)}</h2>
    <p class="sum">${money(record)}</p>
    ${rows({
      To: shopName,
      For: record.description,
      From: isWallet
        ? html`<span class="plastic" aria-hidden="true"></span> ${sent('Test Visa •••• 4242')}`
        : 'Current account •• 4471',
    })}
    ${hint && html`<p class="small">${hint}</p>`}
    ${formOf(view, html`${mainButton(button, 'pay')}${refuse && html`<button class="main second" name="act" value="canceled">${refuse}</button>`}`)}
  </section>`;
}

/** The shop's button, which opens the device's sheet. */
const walletButton = (view: View, { look, by }: Approval): Html =>
  html`<div class="outcome"><span class="seal">${icon('wallet')}</span><h2>${by}</h2>
  <p>Pay with the card in your wallet. You confirm on your device; the shop does not see your card number.</p>
  <a class="main ${look}" href="${addressOf(view, { step: 'confirm' })}">Buy with ${by}</a></div>`;

function instructions(view: View, method: Method, { text, rows, code, advice, button }: Details): Html {
  return html`${heading({ ...method, text })}
  ${code && html`<div class="qr" role="img" aria-label="QR code of the payment">${raw(renderSVG(code, { ecc: 'L', border: 4 }))}</div>`}
  <dl class="copies">${rows.map(
    ([label, text, copied = text]) => html`<div>
      <dt>${label}</dt><dd><bdi class="${text.length > 40 && 'lengthy'}">${text}</bdi>${copyButton(label.toLowerCase(), copied)}</dd>
    </div>`,
  )}</dl>
  ${advice && html`<p class="advice">${icon('transfer')}<span>${advice}</span></p>`}
  ${formOf(view, mainButton(button, 'pay'))}`;
}
