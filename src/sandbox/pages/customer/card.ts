// Payment by card: a form with the checks of a real one, for public test numbers only.
import { html } from 'hono/html';
import { money } from '../../money.ts';
import type { Html } from '../layout.ts';
import { icon } from './icons.ts';
import { type Face, field, formOf, mainButton, methodOf, type View } from './view.ts';

export interface TestCard {
  /** The card's name in the address of a filled form. */
  key: string;
  number: string;
  does: string;
  /** The reason for a refusal. Absent for a card that is paid. */
  decline?: string;
  isAuthorizedOnly?: boolean;
  /** @default 3 */
  cvvLength?: number;
  isBancontact?: boolean;
}

/** Test numbers that the card schemes' processors publish. They belong to no account. */
const TEST_CARDS: readonly TestCard[] = [
  { key: 'visa', number: '4242 4242 4242 4242', does: 'is paid' },
  { key: 'visa-second', number: '4111 1111 1111 1111', does: 'is paid' },
  { key: 'mastercard', number: '5555 5555 5555 4444', does: 'is paid' },
  { key: 'amex', number: '3782 822463 10005', does: 'is paid; its code has four digits', cvvLength: 4 },
  { key: 'authorised', number: '4000 0025 0000 3155', does: 'is authorised, to capture later', isAuthorizedOnly: true },
  { key: 'cvv', number: '4000 0000 0000 0127', does: 'declined: CVV error (4001)', decline: 'cvv' },
  {
    key: 'insufficient-balance',
    number: '4000 0000 0000 9995',
    does: 'declined: insufficient balance (4004)',
    decline: 'insufficient-balance',
  },
  { key: 'canceled', number: '4000 0000 0000 3220', does: 'canceled by the user (4018)', decline: 'canceled' },
  { key: 'not-funded', number: '4000 0000 0000 0341', does: 'declined: payment not funded', decline: 'not-funded' },
  { key: 'bancontact', number: '6703 4444 4444 4449', does: 'is paid', isBancontact: true },
];

const isBancontact = (view: View): boolean => methodOf(view) === 'BANCONTACT';
const cardsOf = (view: View): readonly TestCard[] =>
  TEST_CARDS.filter(card => Boolean(card.isBancontact) === isBancontact(view));

const digitsIn = (text: string): string => text.replace(/[\s-]/g, '');
const cardOf = (view: View, number: string): TestCard | undefined =>
  cardsOf(view).find(card => digitsIn(card.number) === digitsIn(number));

const NEVER_REAL = 'Test page: never type a real card.';

/** Reads a card form: its test card, or the problems by field. The number is never stored. */
export function readCard(view: View): { card: TestCard } | { errors: Record<string, string> } {
  const text = (name: string) => (view.input.get(name) ?? '').trim();
  const card = cardOf(view, text('number'));
  const errors = Object.fromEntries(
    Object.entries({
      number: numberProblem(digitsIn(text('number')), card),
      expiry: expiryProblem(text('expiry'), view.now),
      ...(!isBancontact(view) && { cvv: cvvProblem(text('cvv'), card?.cvvLength ?? 3) }),
      holder: text('holder') ? undefined : 'Enter the name on the card.',
    }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return card && Object.keys(errors).length === 0 ? { card } : { errors };
}

function numberProblem(digits: string, card: TestCard | undefined): string | undefined {
  if (!digits) return 'Enter the card number.';
  if (!/^\d{12,19}$/.test(digits) || !hasCheckDigit(digits))
    return 'This card number is not complete, or has a typing error.';
  return card ? undefined : NEVER_REAL;
}

/** Checks the digits by Luhn's formula. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (const [index, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

function expiryProblem(text: string, now: number): string | undefined {
  const [, month = '', year = ''] = /^(\d\d?)\s*[/.-]?\s*((?:20)?\d\d)$/.exec(text) ?? [];
  if (!text) return 'Enter the expiry date.';
  if (Number(month) < 1 || Number(month) > 12) return 'Write the expiry date as month and year, such as 08 / 30.';
  // A card is valid until the end of its month.
  return Date.UTC(2000 + (Number(year) % 100), Number(month)) > now ? undefined : 'This card has expired.';
}

function cvvProblem(text: string, length: number): string | undefined {
  if (!text) return 'Enter the security code.';
  return new RegExp(`^\\d{${length}}$`).test(text) ? undefined : `The security code has ${length} digits.`;
}

/** Focuses the first field with a problem. */
const focusOf = ({ errors }: View, name: string) => (Object.keys(errors)[0] === name ? { autofocus: '' } : {});

export function cardForm(view: View): Html {
  const { record, errors, input } = view;
  const filled = cardsOf(view).find(({ key }) => key === input.get('test'));
  const given = (name: string, test: string) => (filled ? test : (input.get(name) ?? ''));
  // The page never shows a real card number again.
  const number = filled?.number ?? cardOf(view, input.get('number') ?? '')?.number;
  const brands = isBancontact(view) ? ['Bancontact'] : ['Visa', 'Mastercard', 'Amex'];
  return formOf(
    view,
    html`<p class="advice">${icon('lock')}<span>${NEVER_REAL} <a href="#tests">Test numbers</a></span></p>
    ${field({
      name: 'number',
      label: html`Card number <span class="brands" aria-hidden="true">${brands.map(brand => html`<i>${brand}</i>`)}</span>`,
      error: errors.number,
      value: number,
      attributes: {
        inputmode: 'numeric',
        maxlength: '23',
        placeholder: '1234 1234 1234 1234',
        dir: 'ltr',
        ...focusOf(view, 'number'),
      },
    })}
    <div class="pair">
      ${field({
        name: 'expiry',
        label: 'Expiry date',
        error: errors.expiry,
        value: given('expiry', testExpiry(view.now)),
        attributes: {
          inputmode: 'numeric',
          maxlength: '9',
          placeholder: 'MM / YY',
          dir: 'ltr',
          ...focusOf(view, 'expiry'),
        },
      })}
      ${
        !isBancontact(view) &&
        field({
          name: 'cvv',
          label: 'Security code',
          error: errors.cvv,
          value: filled ? testCvv(filled) : '',
          attributes: { inputmode: 'numeric', maxlength: '4', placeholder: 'CVV', dir: 'ltr', ...focusOf(view, 'cvv') },
        })
      }
    </div>
    ${field({
      name: 'holder',
      label: 'Name on card',
      error: errors.holder,
      value: given('holder', TEST_HOLDER),
      attributes: { maxlength: '100', ...focusOf(view, 'holder') },
    })}
    ${mainButton(html`${icon('lock')}Pay ${money(record)}`, 'card')}`,
  );
}

const TEST_HOLDER = 'Alex Example';
const testCvv = ({ cvvLength = 3 }: TestCard): string => '1234'.slice(0, cvvLength);
/** Returns a date three years ahead. */
const testExpiry = (now: number): string =>
  `12 / ${String((new Date(now).getUTCFullYear() + 3) % 100).padStart(2, '0')}`;

export const testCards = (view: View): Html => html`<h2>Card numbers to try</h2>
  <p>Any name, any code of the right length, any date to come. The sandbox keeps and logs no card number.</p>
  ${formOf(
    view,
    html`${view.input.get('step') === 'card' && html`<input type="hidden" name="step" value="card">`}
    <ul class="tests">${cardsOf(view).map(
      card => html`<li><code>${card.number}</code> <span>${card.does}</span>
        <button name="test" value="${card.key}" aria-label="Use ${card.number}" data-number="${card.number}"
          data-expiry="${testExpiry(view.now)}" data-cvv="${testCvv(card)}" data-holder="${TEST_HOLDER}">Use</button></li>`,
    )}</ul>`,
    'get',
  )}`;

export const card: Face = {
  draw: view => ({ body: html`<h2>Pay by card</h2>${cardForm(view)}` }),
  tests: testCards,
  isAuthorizable: true,
};
