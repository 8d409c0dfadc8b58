// BLIK: six digits from the customer's banking app within two minutes, then a confirmation in that app.
import { html } from 'hono/html';
import { money } from '../../money.ts';
import type { Html } from '../layout.ts';
import { icon } from './icons.ts';
import { cancelForm, type Drawn, type Face, field, formOf, mainButton, rows, type View } from './view.ts';

/** Seconds until a code expires. */
const GOOD_FOR = 120;

/** Codes that the bank refuses, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  '400400': 'insufficient-balance',
  '401800': 'canceled',
  '999999': 'not-funded',
};

export function readCode({ input }: View): { decline?: string | undefined } | { errors: Record<string, string> } {
  const code = (input.get('code') ?? '').replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(code)) return { errors: { code: 'A BLIK code has six digits.' } };
  return { decline: REFUSED[code] };
}

function draw(view: View): Drawn {
  const { record, errors, input } = view;
  if (input.get('step') === 'confirm') return { body: confirmation(view) };
  const filled = input.get('test') ?? '';
  return {
    body: html`<h2>Pay with BLIK</h2>
    <ol class="steps"><li>Open your banking app and choose BLIK.</li><li>Type the six digits that it shows.</li><li>Confirm the payment in the app.</li></ol>
    ${formOf(
      view,
      html`${field({
        name: 'code',
        label: 'BLIK code',
        error: errors.code,
        value: /^\d{6}$/.test(filled) ? filled : '',
        hint: html`<span class="countdown" data-seconds="${GOOD_FOR}"><span class="bar" aria-hidden="true"></span><span class="left">A code is good for two minutes.</span></span>`,
        attributes: {
          class: 'code',
          inputmode: 'numeric',
          maxlength: '7',
          placeholder: '000 000',
          dir: 'ltr',
          ...(errors.code && { autofocus: '' }),
        },
      })}
      ${mainButton(`Pay ${money(record)}`, 'blik')}`,
    )}`,
  };
}

/** Draws the customer's phone. */
const confirmation = (view: View): Html => html`<h2>Confirm in your banking app</h2>
  <p class="waiting"><span class="spinner" aria-hidden="true"></span>Waiting for your bank. Keep this page open.</p>
  <section class="handset" aria-labelledby="handset">
    <p class="handset-name">${icon('bank')}Your bank</p>
    <h3 id="handset">BLIK payment</h3>
    <p class="handset-amount">${money(view.record)}</p>
    ${rows({ To: view.shopName, For: view.record.description })}
    ${formOf(view, mainButton('Approve'))}
    ${cancelForm(view, 'Reject')}
  </section>`;

const tests = (view: View): Html => html`<h2>Codes to try</h2>
  ${formOf(
    view,
    html`<ul class="tests">${Object.entries({
      '123456': 'goes on to the app; so does any code but these',
      '400400': 'declined: insufficient balance (4004)',
      '401800': 'canceled by the user (4018)',
      '999999': 'declined: payment not funded',
    }).map(
      ([code, does]) => html`<li><code>${code}</code> <span>${does}</span>
        <button name="test" value="${code}" aria-label="Use ${code}" data-code="${code}">Use</button></li>`,
    )}</ul>`,
    'get',
  )}`;

export const blik: Face = { draw, tests, isAuthorizable: true };
