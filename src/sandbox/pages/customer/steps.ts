// The steps of a payment, each by one template: a form, a choice, an approval, or instructions.
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import { money } from '../../money.ts';
import { copyButton, type Html, input, rows, sent } from '../layout.ts';
import type { Details } from './details.ts';
import { FIELDS, type Field, type FieldName, NEVER_REAL } from './fields.ts';
import { type Approval, IDENTITY, type Method, offersOf } from './methods.ts';
import { addressOf, formOf, type View } from './view.ts';

/** Chooses the step by the method and the address. */
export function stepOf(view: View): Html {
  const { input, record, isExpired, method } = view;
  const { form, banks = [], approval, details } = method;
  const [step, bank] = [input.get('step'), input.get('bank') ?? ''];
  if (isExpired) return renewal(view);
  if (banks.includes(bank)) return approvalStep(view, bankOf(view, bank, banks.indexOf(bank)));
  if (approval && step === 'confirm') return approvalStep(view, approval);
  if (form && (banks.length === 0 || step === 'card' || input.get('act') === 'submit')) return formStep(view);
  if (banks.length > 0) return bankChoice(view, banks);
  if (details) return instructions(view, details(record));
  return approval
    ? walletButton(view, approval)
    : html`${heading(method)}${choice(view, 'method', offersOf(record.currency))}`;
}

const renewal = (view: View): Html => html`<h2>Your quote has expired</h2>
  <p>A quote is good for two minutes. Get a new one to pay.</p>
  ${formOf(view, mainButton('Get a new quote', 'renew'))}`;

const heading = ({ title, name, text, steps }: Method): Html => html`<h2>${title ?? name}</h2>
  ${text && html`<p>${text}</p>`}
  ${steps && html`<ol class="steps">${steps.map(step => html`<li>${step}</li>`)}</ol>`}`;

const mainButton = (label: string | Html, act: string, isFocused = false): Html =>
  html`<button class="main" name="act" value="${act}" ${isFocused && 'autofocus'}>${label}</button>`;

function formStep(view: View): Html {
  const { method, record, input } = view;
  const { banks, name } = method;
  const fields = method.form?.fields ?? [];
  const [label, act] = method === IDENTITY ? ['Continue', 'identify'] : [`Pay ${money(record)}`, 'submit'];
  return html`${banks && html`<a class="back" href="${addressOf(view)}">Other ways</a>`}
  ${heading(banks ? { name: `${name} card` } : method)}
  ${formOf(
    view,
    html`${fields.includes('number') && html`<p class="advice"><span>${NEVER_REAL} <a href="#tests">Test numbers</a></span></p>`}
    <div class="fields">${fields.map((field, at) => fieldOn(view, field, at === 0))}</div>
    ${mainButton(label, act, input.has('test'))}`,
  )}`;
}

function fieldOn({ input: given, test, error }: View, name: FieldName, isFirst: boolean): Html {
  const { label, attributes, fill }: Field = FIELDS[name];
  const value = given.has('test') && test ? (fill ?? test.value) : '';
  const isWrong = isFirst && error !== undefined;
  const problem = isWrong && { autofocus: true, 'aria-invalid': 'true', 'aria-describedby': `${name}-error` };
  return input(
    name,
    label,
    { value, required: true, ...attributes, ...problem },
    name,
    isWrong && html`<p class="error" id="${name}-error">${error}</p>`,
  );
}

/** Returns a choice that leads to the next step. The place in the list decides the colour. */
const choice = (view: View, field: string, choices: readonly (readonly [value: string, name: string])[]): Html =>
  formOf(
    view,
    html`<ul class="tiles">${choices.map(
      ([value, name], at) =>
        html`<li><button class="tile" name="${field}" value="${value}"><span class="mark hue-${at + 1}" aria-hidden="true">${name.charAt(0)}</span><b>${name}</b></button></li>`,
    )}</ul>`,
    'get',
  );

const bankChoice = (view: View, banks: readonly string[]): Html => html`
  ${heading({ text: 'Choose your bank. You confirm the payment there, and come back.', ...view.method })}
  ${
    view.method.form &&
    html`<a class="tile" href="${addressOf(view, { step: 'card' })}"><b>Card number</b></a>
    <p class="or">or in the app of your bank</p>`
  }
  ${choice(
    view,
    'bank',
    banks.map(name => [name, name]),
  )}`;

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
    <p aria-busy="true">Waiting for your bank. Keep this page open.</p>`
  }
  <section class="approval ${look}" aria-labelledby="approval">
    <header><b>${by}</b><a class="close" href="${addressOf(view)}" aria-label="Close ${by}">✕</a></header>
    <h2 id="approval">${sent(title)}</h2>
    <p class="sum">${money(record)}</p>
    ${rows({
      To: shopName,
      For: record.description,
      From: isWallet ? 'Test Visa •••• 4242' : 'Current account •• 4471',
    })}
    ${hint && html`<p class="small">${hint}</p>`}
    ${formOf(view, html`${mainButton(button, 'pay')}${refuse && html`<button class="main second" name="act" value="canceled">${refuse}</button>`}`)}
  </section>`;
}

/** The shop's button, which opens the device's sheet. */
const walletButton = (view: View, { look, by }: Approval): Html =>
  html`<div class="outcome"><h2>${by}</h2>
  <p>Pay with the card in your wallet. You confirm on your device; the shop does not see your card number.</p>
  <a class="main ${look}" href="${addressOf(view, { step: 'confirm' })}">Buy with ${by}</a></div>`;

function instructions(view: View, { text, rows, code, advice, button }: Details): Html {
  return html`${heading({ ...view.method, text })}
  ${code && html`<div class="qr" role="img" aria-label="QR code of the payment">${raw(renderSVG(code, { ecc: 'L', border: 4 }))}</div>`}
  <dl class="copies">${rows.map(
    ([label, text, copied = text]) => html`<div>
      <dt>${label}</dt><dd><bdi>${text}</bdi>${copyButton(label.toLowerCase(), copied)}</dd>
    </div>`,
  )}</dl>
  ${advice && html`<p class="advice"><span>${advice}</span></p>`}
  ${formOf(view, mainButton(button, 'pay'))}`;
}
