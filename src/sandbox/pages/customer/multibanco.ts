// Multibanco: an entity and a reference, to pay at a cash machine or by online banking within three days.
import { html } from 'hono/html';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money, plainAmount } from '../../money.ts';
import type { Html } from '../layout.ts';
import { icon } from './icons.ts';
import { copyRows, digitsOf, type Face, formOf, mainButton } from './view.ts';

/** The sandbox's own entity, which belongs to no company. */
const ENTITY = '99999';
const DAYS = 3;

const deadlineOf = ({ created }: PaymentRecord): Html => {
  const at = new Date(`${created.date.slice(0, 19).replace(' ', 'T')}Z`);
  at.setUTCDate(at.getUTCDate() + DAYS);
  const text = at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return html`<time datetime="${at.toISOString()}">${text} UTC</time>`;
};

export const multibanco: Face = {
  draw(view) {
    const { record } = view;
    const reference = digitsOf(record.id, 9);
    const spaced = reference.replace(/(\d{3})(?=\d)/g, '$1 ');
    return {
      body: html`<h2>Multibanco</h2>
      <p>Pay with these details at any cash machine, or in the app of your bank.</p>
      ${copyRows([
        ['Entity', ENTITY],
        ['Reference', spaced, reference],
        ['Amount', money(record), plainAmount(record)],
      ])}
      <p class="advice">${icon('clock')}<span>Pay before ${deadlineOf(record)}</span></p>
      <ol class="steps"><li>Choose “Payments”, then “Services and shopping”.</li><li>Type the entity, the reference and the amount.</li><li>Confirm. The shop hears of it within minutes.</li></ol>
      ${formOf(view, mainButton("I've paid at a cash machine"))}`,
    };
  },
};
