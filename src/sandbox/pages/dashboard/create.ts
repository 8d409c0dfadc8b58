// The form that creates a payment, with the same signed request as code. The code follows the form by the address.
import { html } from 'hono/html';
import { DEPOSIT_METHODS, ONRAMP_METHODS, WITHDRAWAL_METHODS } from '../../../schemas/methods.ts';
import { LANGUAGES } from '../../api/correction.ts';
import { programsOf } from '../../api/program.ts';
import type { Html } from '../layout.ts';
import { rawText, type View } from './view.ts';

/** A common address of apps under development. */
export const USUAL_ADDRESS = 'http://127.0.0.1:3000/callbacks';

/** The fields, with their first values. */
const FIELDS = {
  paymentType: 'DEPOSIT',
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1',
  webhookUrl: USUAL_ADDRESS,
};

type Fields = Record<keyof typeof FIELDS, string>;

/** Returns the payment that a form asks for. */
export function paymentOf(form: Iterable<readonly [name: string, value: string]>, origin: string): object {
  const given = [...form].filter(([name, value]) => Object.hasOwn(FIELDS, name) && value);
  const payment = Object.fromEntries(given.map(([name, value]) => [name, name === 'amount' ? Number(value) : value]));
  // Apple Pay alone requires these.
  const apple = { returnUrl: `${origin}/`, billingAddress: { countryCode: 'DE' } };
  return payment.paymentMethod === 'APPLEPAY' ? { ...payment, ...apple } : payment;
}

function methodsOf(type: string, { parts: { settings } }: View): readonly string[] {
  if (type === 'WITHDRAWAL') return WITHDRAWAL_METHODS;
  return settings.terminal === 'onramp' ? [...DEPOSIT_METHODS, ...ONRAMP_METHODS] : DEPOSIT_METHODS;
}

/** Returns the fields as the address has them. A method of the other type gives way to the first one. */
function fieldsIn(view: View): Fields {
  const { searchParams } = view.url;
  const { forwardTo = USUAL_ADDRESS } = view.parts.settings;
  if (!searchParams.has('paymentType')) return { ...FIELDS, webhookUrl: forwardTo };
  const given = Object.fromEntries(Object.keys(FIELDS).map(name => [name, searchParams.get(name) ?? ''])) as Fields;
  const methods = methodsOf(given.paymentType, view);
  return { ...given, paymentMethod: methods.find(method => method === given.paymentMethod) ?? methods[0] ?? '' };
}

export function createForm(view: View): Html {
  const { parts, url } = view;
  const fields = fieldsIn(view);
  const programs = programsOf(paymentOf(Object.entries(fields), url.origin), url.origin, parts.settings);
  const field = (name: keyof Fields, label: string, control: Html, grow = '') =>
    html`<div class="field ${grow}"><label for="${name}">${label}</label>${control}</div>`;
  const choice = (name: keyof Fields, label: string, values: readonly string[]) =>
    field(
      name,
      label,
      html`<select id="${name}" name="${name}">${values.map(value => html`<option ${value === fields[name] && 'selected'}>${value}</option>`)}</select>`,
    );
  const input = (name: keyof Fields, label: string, attributes: Html, grow = '') =>
    field(
      name,
      label,
      html`<input id="${name}" name="${name}" value="${fields[name]}" autocomplete="off" ${attributes}>`,
      grow,
    );
  return html`<form method="post" action="/create" class="row" data-quiet data-filter>
      ${choice('paymentType', 'Type', ['DEPOSIT', 'WITHDRAWAL'])}
      ${choice('paymentMethod', 'Method', methodsOf(fields.paymentType, view))}
      ${input('amount', 'Amount', html`inputmode="decimal" size="9" required`)}
      ${input('currency', 'Currency', html`size="6" required`)}
      ${input('reference', 'Reference', html`size="14"`)}
      ${input('webhookUrl', 'Callbacks go to', html`type="url" required`, 'grow')}
      <button class="primary" id="create">Create</button>
      <noscript><button formmethod="get" formaction="/create">Show its code</button></noscript>
    </form>
    <p class="dim">The same request as code. Paste the last one into a shell. The others read the environment of your app.</p>
    ${LANGUAGES.map(
      ([key, name], at) =>
        html`<details class="code" name="code" id="code-${key}" ${at === 0 && 'open'}><summary>${name}</summary>${rawText(`create-${key}`, `Create in ${name}`, programs[key])}</details>`,
    )}`;
}
