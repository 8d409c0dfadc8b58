// The form that creates a payment, and the same request as code.
import { html } from 'hono/html';
import { DEPOSIT_METHODS, ONRAMP_METHODS, WITHDRAWAL_METHODS } from '../../../schemas/methods.ts';
import { LANGUAGES } from '../../api/correction.ts';
import { programsOf } from '../../api/program.ts';
import { input, select } from '../layout.ts';
import { rawText, type View } from './view.ts';

export const USUAL_ADDRESS = 'http://127.0.0.1:3000/callbacks';

const FIELDS = {
  paymentType: 'DEPOSIT',
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1',
  webhookUrl: USUAL_ADDRESS,
};

export function paymentOf(form: Iterable<[name: string, value: string]>, origin: string) {
  const given = [...form].filter(([name, value]) => Object.hasOwn(FIELDS, name) && value);
  const payment = Object.fromEntries(given.map(([name, value]) => [name, name === 'amount' ? Number(value) : value]));
  if (payment.paymentMethod !== 'APPLEPAY') return payment;
  return { ...payment, returnUrl: `${origin}/`, billingAddress: { countryCode: 'DE' } };
}

export function createForm({ origin, query, settings }: View) {
  const { forwardTo = USUAL_ADDRESS, terminal } = settings;
  const fields = { ...FIELDS, webhookUrl: forwardTo, ...query };
  const deposits = terminal === 'onramp' ? [...DEPOSIT_METHODS, ...ONRAMP_METHODS] : DEPOSIT_METHODS;
  const methods: readonly string[] = fields.paymentType === 'WITHDRAWAL' ? WITHDRAWAL_METHODS : deposits;
  // A method may be of the other type.
  if (!methods.includes(fields.paymentMethod)) fields.paymentMethod = methods[0] ?? '';
  const programs = programsOf(paymentOf(Object.entries(fields), origin), origin, settings);
  return html`<form method="post" action="/create" class="row" data-filter>
      ${select('paymentType', 'Type', ['DEPOSIT', 'WITHDRAWAL'], fields.paymentType)}
      ${select('paymentMethod', 'Method', methods, fields.paymentMethod)}
      ${input('amount', 'Amount', { value: fields.amount, inputmode: 'decimal', size: 7, required: true })}
      ${input('currency', 'Currency', { value: fields.currency, size: 4, required: true })}
      ${input('reference', 'Reference', { value: fields.reference, size: 10 })}
      ${input('webhookUrl', 'Callbacks go to', { value: fields.webhookUrl, type: 'url', required: true }, 'grow')}
      <button class="primary" id="create">Create</button>
      <noscript><button formmethod="get" formaction="/create">Show its code</button></noscript>
    </form>
    <p class="dim">The same request as code. Paste the last one into a shell. The others read the environment of your app.</p>
    ${LANGUAGES.map(
      ([key, name], at) =>
        html`<details name="code" id="code-${key}" ${at === 0 && 'open'}><summary>${name}</summary>${rawText(`create-${key}`, `Create in ${name}`, programs[key])}</details>`,
    )}`;
}
