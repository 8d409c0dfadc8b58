// The fields of the customer's forms with their checks, and the public test numbers that they accept.
import type { EndName } from './ends.ts';

/** A number or code with a known end. */
export interface Test {
  value: string;
  /** Without one, the customer confirms in an app. */
  ends?: EndName;
  does?: string;
  /** Digits of the security code. @default 3 */
  cvv?: number;
}

/** Test numbers that the card schemes' processors publish. They belong to no account. */
export const CARDS: readonly Test[] = [
  { value: '4242 4242 4242 4242', ends: 'pay' },
  { value: '4111 1111 1111 1111', ends: 'pay' },
  { value: '5555 5555 5555 4444', ends: 'pay' },
  { value: '3782 822463 10005', ends: 'pay', does: 'is paid; its code has four digits', cvv: 4 },
  { value: '5105 1051 0510 5100', ends: 'authorize' },
  { value: '4000 0025 0000 3155', does: '3-D Secure: the bank asks the customer' },
  { value: '4000 0000 0000 3055', ends: 'pay', does: '3-D Secure: is paid without a question' },
  { value: '4000 0084 0000 1629', ends: 'no-3ds' },
  { value: '4000 0000 0000 0127', ends: 'cvv' },
  { value: '4000 0000 0000 9995', ends: 'insufficient-balance' },
  { value: '4000 0000 0000 3220', ends: 'canceled' },
  { value: '4000 0000 0000 0341', ends: 'not-funded' },
];
export const BANCONTACT_CARDS: readonly Test[] = [{ value: '6703 4444 4444 4449', ends: 'pay' }];
export const CODES: readonly Test[] = [
  { value: '123456', does: 'goes on to the app; so does any code but these' },
  { value: '400400', ends: 'insufficient-balance' },
  { value: '401800', ends: 'canceled' },
  { value: '999999', ends: 'not-funded' },
];

interface Filling {
  test: Test | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

interface Field {
  label: string;
  attributes: Readonly<Record<string, string>>;
  /** The text that a test number fills in. */
  fill(filling: Filling): string;
  /** Returns what is wrong with a text. */
  problem(text: string, filling: Filling): string | undefined;
  /** Whether the page shows the text again after a mistake. */
  isKept?: boolean;
}

export const NEVER_REAL = 'Test page: never type a real card.';

export const digitsIn = (text: string): string => text.replace(/[\s-]/g, '');

const FIELDS = {
  number: {
    label: 'Card number',
    attributes: { inputmode: 'numeric', maxlength: '23', placeholder: '1234 1234 1234 1234', dir: 'ltr' },
    fill: ({ test }) => test?.value ?? '',
    problem(text, { test }) {
      const digits = digitsIn(text);
      if (!digits) return 'Enter the card number.';
      if (!/^\d{12,19}$/.test(digits) || !hasCheckDigit(digits))
        return 'This card number is not complete, or has a typing error.';
      return test ? undefined : NEVER_REAL;
    },
  },
  expiry: {
    label: 'Expiry date',
    attributes: { inputmode: 'numeric', maxlength: '9', placeholder: 'MM / YY', dir: 'ltr' },
    fill: ({ now }) => `12 / ${String((new Date(now).getUTCFullYear() + 3) % 100).padStart(2, '0')}`,
    problem(text, { now }) {
      const [, month = '', year = ''] = /^(\d\d?)\s*[/.-]?\s*((?:20)?\d\d)$/.exec(text) ?? [];
      if (!text) return 'Enter the expiry date.';
      if (Number(month) < 1 || Number(month) > 12) return 'Write the expiry date as month and year, such as 08 / 30.';
      // A card is valid until the end of its month.
      return Date.UTC(2000 + (Number(year) % 100), Number(month)) > now ? undefined : 'This card has expired.';
    },
    isKept: true,
  },
  cvv: {
    label: 'Security code',
    attributes: { inputmode: 'numeric', maxlength: '4', placeholder: 'CVV', dir: 'ltr' },
    fill: ({ test }) => '1234'.slice(0, test?.cvv ?? 3),
    problem(text, { test }) {
      const length = test?.cvv ?? 3;
      if (!text) return 'Enter the security code.';
      return new RegExp(`^\\d{${length}}$`).test(text) ? undefined : `The security code has ${length} digits.`;
    },
  },
  holder: {
    label: 'Name on card',
    attributes: { maxlength: '100' },
    fill: () => 'Alex Example',
    problem: text => (text ? undefined : 'Enter the name on the card.'),
    isKept: true,
  },
  code: {
    label: 'BLIK code',
    attributes: { class: 'code', inputmode: 'numeric', maxlength: '7', placeholder: '000 000', dir: 'ltr' },
    fill: ({ test }) => test?.value ?? '',
    problem: text => (/^\d{6}$/.test(digitsIn(text)) ? undefined : 'A BLIK code has six digits.'),
  },
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;

export const fieldOf = (name: FieldName): Field => FIELDS[name];

/** Checks the digits by Luhn's formula. */
function hasCheckDigit(digits: string): boolean {
  const values = [...digits].reverse().map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2));
  return values.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10 === 0;
}
