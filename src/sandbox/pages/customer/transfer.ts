// Payments that the customer sends from their own bank: the details to copy, and a button to confirm.
import { html } from 'hono/html';
import { transferOf } from '../../ledger/transfer.ts';
import { currencyCode, money, plainAmount } from '../../money.ts';
import { methodName } from '../layout.ts';
import { icon } from './icons.ts';
import { copyRows, digitsOf, type Face, formOf, mainButton, methodOf, type View } from './view.ts';

type Rows = Parameters<typeof copyRows>[0];

/** The details for the bank's form, by method. */
const DETAILS: Readonly<Record<string, (view: View) => Rows>> = {
  // The same details as in the answer to a create.
  PAYID: ({ record }) => {
    const { number, full_holder_name, payment_description, amount, currency } = transferOf(record);
    return [
      ['PayID', number],
      ['Account holder', full_holder_name],
      ['Amount', `${amount} ${currencyCode(currency)}`, amount],
      ['Reference code', payment_description],
    ];
  },
  GBPBANKTRANSFER: view => [
    ['Account holder', 'Sandbox Payments Ltd'],
    ['Sort code', '00-00-00'],
    ['Account number', digitsOf(view.record.id, 8)],
    ...common(view),
  ],
  SPEI: view => [
    ['Beneficiary', 'Sandbox Payments SA de CV'],
    ['CLABE', `000${digitsOf(view.record.id, 15)}`],
    ...common(view),
  ],
  INTERAC: view => [
    ['Recipient', 'Sandbox Payments Inc.'],
    ['E-mail', `pay-${view.record.id.slice(0, 8)}@sandbox.example`],
    ...common(view),
  ],
};

const common = ({ record }: View): Rows => [
  ['Amount', money(record), plainAmount(record)],
  ['Reference code', record.id.slice(0, 8).toUpperCase()],
];

export const transfer: Face = {
  draw(view) {
    const method = methodOf(view);
    const name = methodName(method);
    const rows = DETAILS[method]?.(view) ?? common(view);
    return {
      body: html`<h2>${method === 'PAYID' ? 'Transfer the money by PayID' : name}</h2>
      <p>Send one transfer from your banking app with exactly these details.</p>
      ${copyRows(rows)}
      <p class="advice">${icon('transfer')}<span>Without the reference code the shop cannot tell that the money is yours.</span></p>
      ${formOf(view, mainButton("I've sent the transfer"))}`,
    };
  },
};
