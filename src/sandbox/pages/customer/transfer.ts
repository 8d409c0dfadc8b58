// Payments that the customer makes elsewhere: details to copy or a code to scan, and a button to confirm.
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import type { PaymentRecord } from '../../ledger/record.ts';
import { transferOf } from '../../ledger/transfer.ts';
import { currencyCode, money, plainAmount } from '../../money.ts';
import { millisecondsOf } from '../../php.ts';
import { type Html, methodName } from '../layout.ts';
import { icon } from './icons.ts';
import { copyRows, digitsOf, type Face, formOf, mainButton, methodOf } from './view.ts';

/** A method's part of the page. The text, advice and button have defaults. */
interface Details {
  title?: string;
  text?: string;
  /** The text of a QR code. */
  code?: string;
  rows: Parameters<typeof copyRows>[0];
  advice?: Html | undefined;
  steps?: readonly string[];
  button?: string;
}

const amountOf = (record: PaymentRecord) => ['Amount', money(record), plainAmount(record)] as const;
const codeOf = ({ id }: PaymentRecord) => ['Reference code', id.slice(0, 8).toUpperCase()] as const;

const scan = (record: PaymentRecord): Details => {
  const code = `sandbox:${record.id}?amount=${plainAmount(record)}&currency=${currencyCode(record.currency)}`;
  const text = 'Scan the code with your banking app, or copy it there.';
  return { text, code, rows: [amountOf(record), ['Code', code]], advice: undefined, button: "I've paid in my app" };
};

const MULTIBANCO_DAYS = 3;

const DETAILS: Readonly<Record<string, (record: PaymentRecord) => Details>> = {
  // The same details as in the answer to a create.
  PAYID(record) {
    const { number, full_holder_name, payment_description, amount, currency } = transferOf(record);
    const shown = `${amount} ${currencyCode(currency)}`;
    return {
      title: 'Transfer the money by PayID',
      rows: [
        ['PayID', number],
        ['Account holder', full_holder_name],
        ['Amount', shown, amount],
        ['Reference code', payment_description],
      ],
    };
  },
  GBPBANKTRANSFER: record => ({
    rows: [
      ['Account holder', 'Sandbox Payments Ltd'],
      ['Sort code', '00-00-00'],
      ['Account number', digitsOf(record.id, 8)],
      amountOf(record),
      codeOf(record),
    ],
  }),
  SPEI: record => ({
    rows: [
      ['Beneficiary', 'Sandbox Payments SA de CV'],
      ['CLABE', `000${digitsOf(record.id, 15)}`],
      amountOf(record),
      codeOf(record),
    ],
  }),
  INTERAC: record => ({
    rows: [
      ['Recipient', 'Sandbox Payments Inc.'],
      ['E-mail', `pay-${record.id.slice(0, 8)}@sandbox.example`],
      amountOf(record),
      codeOf(record),
    ],
  }),
  MULTIBANCO(record) {
    const reference = digitsOf(record.id, 9);
    const deadline = new Date(millisecondsOf(record.created) + MULTIBANCO_DAYS * 86_400_000);
    const shown = deadline.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
    return {
      text: 'Pay with these details at any cash machine, or in the app of your bank.',
      // The sandbox's own entity, which belongs to no company.
      rows: [
        ['Entity', '99999'],
        ['Reference', reference.replace(/(\d{3})(?=\d)/g, '$1 '), reference],
        amountOf(record),
      ],
      advice: html`${icon('clock')}<span>Pay before <time datetime="${deadline.toISOString()}">${shown} UTC</time></span>`,
      steps: [
        'Choose “Payments”, then “Services and shopping”.',
        'Type the entity, the reference and the amount.',
        'Confirm. The shop hears of it within minutes.',
      ],
      button: "I've paid at a cash machine",
    };
  },
  PIX: scan,
  QRTHWALLET: scan,
};

const USUAL = {
  text: 'Send one transfer from your banking app with exactly these details.',
  advice: html`${icon('transfer')}<span>Without the reference code the shop cannot tell that the money is yours.</span>`,
  button: "I've sent the transfer",
};

export const transfer: Face = {
  draw(view) {
    const method = methodOf(view);
    const usual: Details = { ...USUAL, rows: [amountOf(view.record), codeOf(view.record)] };
    const { title, text, code, rows, advice, steps, button } = { ...usual, ...DETAILS[method]?.(view.record) };
    return {
      body: html`<h2>${title ?? methodName(method)}</h2>
      <p>${text}</p>
      ${code && html`<div class="qr" role="img" aria-label="QR code of the payment">${raw(renderSVG(code, { ecc: 'L', border: 4 }))}</div>`}
      ${copyRows(rows)}
      ${advice && html`<p class="advice">${advice}</p>`}
      ${steps && html`<ol class="steps">${steps.map(step => html`<li>${step}</li>`)}</ol>`}
      ${formOf(view, mainButton(button ?? USUAL.button))}`,
    };
  },
};
