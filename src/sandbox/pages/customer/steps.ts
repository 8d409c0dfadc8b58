// The steps of a payment, each by one template: a form, a choice, an approval, or instructions.
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import { money } from '../../money.ts';
import { copyButton, type Html, rows } from '../layout.ts';
import type { Details } from './details.ts';
import { digitsIn, type FieldName, fieldOf, NEVER_REAL, type Test } from './fields.ts';
import { icon } from './icons.ts';
import { type Approval, type Method, offersOf } from './methods.ts';
import { addressOf, formOf, methodIn, type View } from './view.ts';

export interface Step {
  body: Html;
  /** The name of another site, such as the customer's bank. Its page lacks the shop's frame. */
  site?: string;
}

/** Chooses the step by the method and the address. */
export function stepOf(view: View): Step {
  const { input, record } = view;
  const method = methodIn(view);
  const { form, banks, approval, details } = method;
  const step = input.get('step');
  const bank = banks?.find(name => name === input.get('bank'));
  if (banks && bank) return bankPage(view, bank, banks.indexOf(bank));
  if (approval && step === 'confirm') return { body: approvalStep(view, approval) };
  if (form && (!banks || step === 'card' || input.get('act') === 'submit')) return { body: formStep(view, method) };
  if (banks) return { body: bankChoice(view, method) };
  if (details) return { body: instructions(view, method, details(record)) };
  return { body: approval ? walletButton(view, approval) : offerChoice(view) };
}

/** The number or code that the tester chose, or that the customer typed. */
export const testIn = ({ input }: View, { form }: Method): Test | undefined => {
  const typed = digitsIn(input.get('test') ?? input.get(form?.fields[0] ?? '') ?? '');
  return form?.tests.find(({ value }) => digitsIn(value) === typed);
};

const heading = ({ title, name, text, steps }: Method): Html => html`<h2>${title ?? name}</h2>
  ${text && html`<p>${text}</p>`}
  ${steps && html`<ol class="steps">${steps.map(step => html`<li>${step}</li>`)}</ol>`}`;

const mainButton = (label: string | Html, act: string, isFocused = false): Html =>
  html`<button class="main" name="act" value="${act}" ${isFocused && 'autofocus'}>${label}</button>`;

const lockedPay = ({ record }: View): Html => html`${icon('lock')}Pay ${money(record)}`;

function formStep(view: View, method: Method): Html {
  const fields = method.form?.fields ?? [];
  const isCard = fields.includes('number');
  return html`${method.banks && html`<a class="back" href="${addressOf(view)}">${icon('back')}Other ways</a>`}
  ${method.banks ? html`<h2>${method.name} card</h2>` : heading(method)}
  ${formOf(
    view,
    html`${isCard && html`<p class="advice">${icon('lock')}<span>${NEVER_REAL} <a href="#tests">Test numbers</a></span></p>`}
    <div class="fields">${fields.map(name => fieldOn(view, method, name))}</div>
    ${mainButton(lockedPay(view), 'submit', view.input.has('test'))}`,
  )}`;
}

/** Seconds until a BLIK code expires. */
const GOOD_FOR = 120;

const HINTS: Partial<Record<FieldName, Html>> = {
  code: html`<p class="hint countdown" id="code-hint" data-seconds="${GOOD_FOR}"><span class="bar" aria-hidden="true"></span><span class="left">A code is good for two minutes.</span></p>`,
};

function fieldOn(view: View, method: Method, name: FieldName): Html {
  const { label, attributes, fill, isKept } = fieldOf(name);
  const { errors, input, now } = view;
  const error = errors[name];
  const hint = HINTS[name];
  const test = testIn(view, method);
  // The page never shows a security code or a real card number again.
  const isFilled = test && (input.has('test') || name === method.form?.fields[0]);
  const value = isFilled ? fill({ test, now }) : isKept ? (input.get(name) ?? '') : '';
  const notes = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  const given = Object.entries({
    ...attributes,
    ...(notes && { 'aria-describedby': notes }),
    ...(error && { 'aria-invalid': 'true' }),
    ...(Object.keys(errors)[0] === name && { autofocus: '' }),
  });
  return html`<div class="field ${name}">
    <label for="${name}">${label}${name === 'number' && html` ${brands(method)}`}</label>
    <input id="${name}" name="${name}" value="${value}" autocomplete="off" ${given.map(([key, text]) => html` ${key}="${text}"`)}>
    ${hint}
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

interface Frame {
  look: string;
  head: Html;
  title: Html;
  facts: Parameters<typeof rows>[0];
  note?: Html | string | undefined;
  approve: string | Html;
  refuse?: string | undefined;
  more?: Html;
}

/** A page, app or sheet in which the customer approves the payment. */
const approvalFrame = (view: View, { look, head, title, facts, note, approve, refuse, more }: Frame): Html =>
  html`<section class="approval ${look}" aria-labelledby="approval">
    <header>${head}</header>
    ${title}
    <p class="sum">${money(view.record)}</p>
    ${rows(facts)}
    ${note && html`<p class="small">${note}</p>`}
    ${formOf(view, html`${mainButton(approve, 'pay')}${refuse && html`<button class="main second" name="act" value="canceled">${refuse}</button>`}`)}
    ${more}
  </section>`;

function bankPage(view: View, bank: string, at: number): Step {
  const { record, shopName } = view;
  const body = approvalFrame(view, {
    look: `site hue-${at + 1}`,
    head: html`${bankMark(bank, at)}<b>${bank}</b><span class="secure">${icon('lock')}Secure</span>`,
    title: html`<h1 id="approval">Approve this payment?</h1>`,
    facts: {
      To: shopName,
      For: record.description,
      Reference: record.reference,
      From: html`Current account <bdi>•• 4471</bdi>`,
    },
    note: `The amount leaves your account at once. You go back to ${shopName} afterwards.`,
    approve: 'Approve',
    refuse: 'Cancel payment',
    more: html`<p class="small"><a href="${addressOf(view)}">Choose another bank</a></p>`,
  });
  return { site: bank, body: html`<main>${body}</main>` };
}

function approvalStep(view: View, { look, by, title, button, isWithAmount, hint, refuse }: Approval): Html {
  const isWallet = look !== 'phone';
  const frame = approvalFrame(view, {
    look,
    head: isWallet
      ? html`<b>${by}</b><a class="close" href="${addressOf(view)}" aria-label="Close ${by}">${icon('cross')}</a>`
      : html`${icon('bank')}<b>${by}</b>`,
    title: html`<h2 id="approval">${title}</h2>`,
    facts: {
      To: view.shopName,
      For: view.record.description,
      From: isWallet && html`<span class="plastic" aria-hidden="true"></span> Test Visa <bdi>•••• 4242</bdi>`,
    },
    note: hint && html`${icon('phone')} ${hint}`,
    approve: isWithAmount ? `${button} ${money(view.record)}` : button,
    refuse,
  });
  return isWallet
    ? frame
    : html`<h2>Confirm in your banking app</h2>
      <p class="waiting" aria-busy="true">Waiting for your bank. Keep this page open.</p>${frame}`;
}

/** The shop's button, which opens the device's sheet. */
const walletButton = (view: View, { look, by }: Approval): Html =>
  html`<div class="outcome"><span class="seal">${icon('wallet')}</span><h2>${by}</h2>
  <p>Pay with the card in your wallet. You confirm on your device; the shop does not see your card number.</p>
  <a class="main ${look}" href="${addressOf(view, { step: 'confirm' })}">Buy with ${by}</a>
  <p class="small">${icon('lock')} Your device asks you before anything is charged.</p></div>`;

function instructions(
  view: View,
  method: Method,
  { text, rows, code, advice, deadline, steps, button }: Details,
): Html {
  const shown = deadline?.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return html`${heading({ ...method, text })}
  ${code && html`<div class="qr" role="img" aria-label="QR code of the payment">${raw(renderSVG(code, { ecc: 'L', border: 4 }))}</div>`}
  <dl class="copies">${rows.map(
    ([label, text, copied = text]) => html`<div>
      <dt>${label}</dt><dd><bdi class="${text.length > 40 && 'lengthy'}">${text}</bdi>${copyButton(label.toLowerCase(), copied)}</dd>
    </div>`,
  )}</dl>
  ${advice && html`<p class="advice">${icon(deadline ? 'clock' : 'transfer')}<span>${advice}${deadline && html`<time datetime="${deadline.toISOString()}">${shown} UTC</time>`}</span></p>`}
  ${steps && html`<ol class="steps">${steps.map(step => html`<li>${step}</li>`)}</ol>`}
  ${formOf(view, mainButton(button, 'pay'))}`;
}
