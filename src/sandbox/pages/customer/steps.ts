// The steps of a payment: a form, a choice, an approval, or instructions.
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import { copyButton, input, rows, sent } from '../layout.ts';
import { FIELDS, type FieldName } from './fields.ts';
import { APPROVE, IDENTITY, offersOf } from './methods.ts';
import { formOf, type View } from './view.ts';

export function stepOf(view: View) {
  const { input, record, isExpired, method } = view;
  const { form, banks, approval, details } = method;
  const bank = banks?.find(name => name === input.get('bank'));
  if (isExpired)
    return html`<h2>Your quote has expired</h2><p>A quote is good for two minutes. Get a new one to pay.</p>
      ${formOf(view, mainButton('Get a new quote', 'quote'))}`;
  if (bank) return approvalStep(view, APPROVE, bank);
  if (approval && (!form || input.get('step') === 'confirm')) return approvalStep(view, approval);
  if (form) return formStep(view, form.fields);
  if (details) return instructions(view, details(record));
  return choice(view, banks ? 'bank' : 'method', banks?.map(name => [name, name]) ?? offersOf(record.currency));
}

const heading = ({ method: { name, text } }: View) => html`<h2>${name}</h2>${text && html`<p>${text}</p>`}`;

const mainButton = (label: string, act: string) =>
  html`<button class="primary" name="act" value="${act}">${label}</button>`;

function formStep(view: View, fields: readonly FieldName[]) {
  const { method, sum, payer, input: given, test, takesCard, isRefused } = view;
  const [label, act] = method === IDENTITY ? ['Continue', 'quote'] : [`Pay ${sum}`, 'submit'];
  const fieldOf = (name: FieldName, at: number) => {
    const { label, attributes, fill } = FIELDS[name];
    const own = name === 'holder' || name === 'person' ? payer : '';
    const value = given.has('test') && test ? (fill ?? test) : own;
    return input(name, label, { value, required: true, ...attributes, autofocus: isRefused && at === 0 });
  };
  return html`${heading(view)}
  ${takesCard && html`<p class="verdict ${isRefused ? 'bad' : 'wait'}" ${isRefused && raw('role="alert"')}>Test page: never type a real card. <a href="#tests">Test numbers</a></p>`}
  ${formOf(view, html`${fields.map(fieldOf)}${mainButton(label, act)}`)}`;
}

const choice = (view: View, field: string, choices: [value: string, name: string][]) =>
  html`${heading(view)}<p>How do you want to pay?</p>
  ${formOf(view, html`${choices.map(([value, name]) => html`<button name="${field}" value="${value}">${name}</button>`)}`, 'get')}`;

const approvalStep = (view: View, question: string, by = view.method.name) => html`
  <section class="card" aria-labelledby="approval">
    <b>${by}</b>
    <h2 id="approval">${sent(question)}</h2>
    <p class="sum">${sent(view.sum)}</p>
    ${rows({ To: view.settings.shopName, For: view.record.description })}
    ${formOf(view, html`${mainButton('Approve', 'pay')}<button name="act" value="canceled">Cancel payment</button>`)}
  </section>`;

const instructions = (view: View, details: Record<string, string>) => html`
  ${heading(view)}<p>Pay with exactly these details, for example in your banking app.</p>
  ${details.Code && html`<div class="qr" role="img" aria-label="QR code of the payment">${raw(renderSVG(details.Code, { ecc: 'L', border: 4 }))}</div>`}
  ${rows(Object.fromEntries(Object.entries(details).map(([label, text]) => [label, html`<bdi>${text}</bdi>${copyButton(label)}`])))}
  ${formOf(view, mainButton("I've paid", 'pay'))}`;
