// The fields of the customer's forms, which the browser checks, and the public test numbers.
import type { EndName } from './ends.ts';

/** A number or code with a known end. */
export interface Test {
  value: string;
  /** Without one, the customer confirms in an app. */
  ends?: EndName;
  does?: string;
}

/** Test numbers that the card schemes' processors publish. They belong to no account. */
export const CARDS: readonly Test[] = [
  { value: '4242 4242 4242 4242', ends: 'pay' },
  { value: '4111 1111 1111 1111', ends: 'pay' },
  { value: '5555 5555 5555 4444', ends: 'pay' },
  { value: '3782 822463 10005', ends: 'pay' },
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

/** Names for the on-ramp's identity check. */
export const PEOPLE: readonly Test[] = [
  { value: 'Alex Example', does: 'is identified, like any other name' },
  { value: 'Robin Refused', ends: 'no-identity' },
];

export interface Field {
  label: string;
  attributes: Readonly<Record<string, string>>;
  /** The text that fills it next to a test number. Absent for the field of that number. */
  fill?: string;
}

const DIGITS = { inputmode: 'numeric', dir: 'ltr' };

export const FIELDS = {
  number: { label: 'Card number', attributes: { ...DIGITS, maxlength: '23', placeholder: '1234 1234 1234 1234' } },
  expiry: {
    label: 'Expiry date',
    attributes: {
      ...DIGITS,
      pattern: '\\d\\d? ?/? ?\\d{2,4}',
      placeholder: 'MM / YY',
      title: 'Month and year: 08 / 30',
    },
    fill: '12 / 48',
  },
  cvv: {
    label: 'Security code',
    attributes: { ...DIGITS, pattern: '\\d{3,4}', placeholder: 'CVV', title: 'Three or four digits' },
    fill: '123',
  },
  holder: { label: 'Name on card', attributes: { maxlength: '100' }, fill: 'Alex Example' },
  person: { label: 'Full name', attributes: { maxlength: '100' } },
  birth: { label: 'Date of birth', attributes: { type: 'date' }, fill: '1990-01-31' },
  code: {
    label: 'BLIK code, good for two minutes',
    attributes: { ...DIGITS, pattern: '\\d{3} ?\\d{3}', placeholder: '000 000', title: 'Six digits' },
  },
} as const satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;

export const NEVER_REAL = 'Test page: never type a real card.';

export const digitsIn = (text: string): string => text.replace(/[\s-]/g, '');
