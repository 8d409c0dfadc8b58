// Payment through the customer's bank: the customer chooses an invented bank, and consents on its page.
import { html } from 'hono/html';
import { money } from '../../money.ts';
import { methodName } from '../layout.ts';
import { cardForm, testCards } from './card.ts';
import { icon } from './icons.ts';
import { addressOf, cancelForm, type Drawn, type Face, formOf, mainButton, methodOf, rows, type View } from './view.ts';

/** The banks by method. The place in the list decides the colour. */
const BANKS: Readonly<Record<string, readonly string[]>> = {
  IDEAL: ['Polderbank', 'Waterkant Bank', 'Tulp Spaarbank', 'Molenland', 'Bank van Oranjeveld'],
  BANCONTACT: ['Banque du Canal', 'Leieland Bank', 'Kouterbank', 'Crédit des Ardennes'],
  EPS: ['Alpenrand Bank', 'Donauwellen Bank', 'Bergsee Sparkasse', 'Enzianbank'],
  P24: ['Bank Jantarowy', 'Wisełka Bank', 'Kasa Bieszczadzka', 'Bank Żubrowy', 'Bank Latarnia'],
  OPENBANKING: ['Harbour & Vale', 'Fernlight Bank', 'Thistledown', 'Marram Bank', 'Copperleaf'],
  PSE: ['Banco Frailejón', 'Banco del Páramo', 'Cafetal', 'Orquídea Digital'],
  KHIPU: ['Banco Araucaria', 'Banco del Copihue', 'Cordillera Sur', 'Caja Pudú'],
  ZAR: ['Fynbos Bank', 'Baobab Mutual', 'Springveld', 'Umlambo Bank'],
};

/** An introduction for methods whose name is not enough. */
const INTRODUCTIONS: Readonly<Record<string, string>> = {
  OPENBANKING: 'Pay straight from your account. You confirm at your bank; no card is needed.',
  BANCONTACT: 'Pay with the app of your bank, or with your card.',
};

function draw(view: View): Drawn {
  const method = methodOf(view);
  const banks = BANKS[method] ?? [];
  const at = banks.indexOf(view.input.get('bank') ?? '');
  const bank = banks[at];
  if (bank) return consent(view, bank, at);
  if (method === 'BANCONTACT' && (view.input.get('step') === 'card' || view.input.get('act') === 'card')) {
    return {
      body: html`<a class="back" href="${addressOf(view)}">${icon('back')}Other ways</a><h2>Bancontact card</h2>${cardForm(view)}`,
    };
  }
  return {
    body: html`<h2>${methodName(method)}</h2>
    <p>${INTRODUCTIONS[method] ?? 'Choose your bank. You confirm the payment there, and come back.'}</p>
    ${
      method === 'BANCONTACT' &&
      html`<a class="tile" href="${addressOf(view, { step: 'card' })}"><span class="mark">${icon('card')}</span><b>Card number</b>${icon('next')}</a>
      <p class="or">or in the app of your bank</p>`
    }
    ${formOf(
      view,
      html`<ul class="tiles">${banks.map(
        (name, index) => html`<li><button class="tile" name="bank" value="${name}">
          <span class="mark hue-${index + 1}" aria-hidden="true">${name.charAt(0)}</span><b>${name}</b>${icon('next')}</button></li>`,
      )}</ul>`,
      'get',
    )}`,
  };
}

/** Draws the bank's own page, without the shop's frame. */
function consent(view: View, bank: string, at: number): Drawn {
  const { record, shopName } = view;
  return {
    site: bank,
    body: html`<main class="bank hue-${at + 1}">
      <header><span class="mark" aria-hidden="true">${bank.charAt(0)}</span><b>${bank}</b><span class="secure">${icon('lock')}Secure</span></header>
      <div class="bank-page">
        <h1>Approve this payment?</h1>
        <p class="bank-amount">${money(record)}</p>
        ${rows({
          To: shopName,
          For: record.description,
          Reference: record.reference,
          From: html`Current account <bdi>•• 4471</bdi>`,
        })}
        <p class="small">The amount leaves your account at once. You go back to ${shopName} afterwards.</p>
        ${formOf(view, mainButton('Approve'))}
        ${cancelForm(view, 'Cancel payment')}
        <p class="small"><a href="${addressOf(view)}">Choose another bank</a></p>
      </div>
    </main>`,
  };
}

export const bank: Face = {
  draw,
  isAuthorizable: true,
  tests: view => (methodOf(view) === 'BANCONTACT' ? testCards(view) : html``),
};
