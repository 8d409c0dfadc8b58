// The steps of a payment, each by one template: a form, a choice, an approval, or instructions.
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import { money } from '../../money.ts';
import { copyButton, type Html, input, rows, sent } from '../layout.ts';
import { FIELDS, type Field, type FieldName, NEVER_REAL } from './fields.ts';
import { type Approval, IDENTITY, offersOf } from './methods.ts';
import { formOf, type View } from './view.ts';

/** Chooses the step by the method and the address. */
export function stepOf(view: View): Html {
  const { input, record, isExpired, method } = view;
  const { form, banks, approval, details } = method;
  const bank = banks?.find(name => name === input.get('bank'));
  if (isExpired) return renewal(view);
  if (bank) return approvalStep(view, { by: bank, title: 'Approve this payment?' });
  if (approval && (!form || input.get('step') === 'confirm')) return approvalStep(view, approval);
  if (form) return formStep(view);
  if (details) return instructions(view, details(record));
  if (!banks) return choice(view, 'method', offersOf(record.currency));
  const names = banks.map(name => [name, name] as const);
  return choice(view, 'bank', names, 'Choose your bank. You confirm the payment there, and come back.');
}

const renewal = (view: View): Html => html`<h2>Your quote has expired</h2>
  <p>A quote is good for two minutes. Get a new one to pay.</p>
  ${formOf(view, mainButton('Get a new quote', 'renew'))}`;

const heading = ({ method: { title, name, text } }: View, other = text): Html =>
  html`<h2>${title ?? name}</h2>${other && html`<p>${other}</p>`}`;

const mainButton = (label: string, act: string, isFocused = false): Html =>
  html`<button class="main" name="act" value="${act}" ${isFocused && 'autofocus'}>${label}</button>`;

function formStep(view: View): Html {
  const { method, record, input } = view;
  const fields = method.form?.fields ?? [];
  const [label, act] = method === IDENTITY ? ['Continue', 'identify'] : [`Pay ${money(record)}`, 'submit'];
  return html`${heading(view)}
  ${formOf(
    view,
    html`${fields.includes('number') && html`<p class="verdict wait">${NEVER_REAL} <a href="#tests">Test numbers</a></p>`}
    ${fields.map((field, at) => fieldOn(view, field, at === 0))}
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
    '',
    isWrong && html`<p class="error" id="${name}-error">${error}</p>`,
  );
}

/** Returns a choice that leads to the next step. The place in the list decides the colour. */
const choice = (view: View, field: string, choices: readonly (readonly [string, string])[], text?: string): Html =>
  html`${heading(view, text)}${formOf(
    view,
    html`<ul class="tiles">${choices.map(
      ([value, name], at) =>
        html`<li><button class="tile" name="${field}" value="${value}"><span class="mark hue-${at + 1}" aria-hidden="true">${name.charAt(0)}</span><b>${name}</b></button></li>`,
    )}</ul>`,
    'get',
  )}`;

/** The customer's consent: in an app, on a device, or at a bank. */
const approvalStep = (view: View, { by, title }: Approval): Html => html`
  <section class="card" aria-labelledby="approval">
    <b>${by}</b>
    <h2 id="approval">${sent(title)}</h2>
    <p class="sum">${sent(money(view.record))}</p>
    ${rows({ To: view.shopName, For: view.record.description })}
    ${formOf(view, html`${mainButton('Approve', 'pay')}<button name="act" value="canceled">Cancel payment</button>`)}
  </section>`;

const instructions = (view: View, details: Record<string, string>): Html => html`
  ${heading(view, 'Pay with exactly these details, for example in your banking app.')}
  ${details.Code && html`<div class="qr" role="img" aria-label="QR code of the payment">${raw(renderSVG(details.Code, { ecc: 'L', border: 4 }))}</div>`}
  ${rows(Object.fromEntries(Object.entries(details).map(([label, text]) => [label, html`<bdi>${text}</bdi>${copyButton(label)}`])))}
  ${formOf(view, mainButton("I've paid", 'pay'))}`;
