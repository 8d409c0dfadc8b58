// The fields of the customer's forms, and the public test numbers.

/** A number or code with a known end. */
export interface Test {
  value: string;
  /** Its end. Without one, the customer goes on to the next step. */
  end?: string;
  /** Describes it, if its end does not. */
  does?: string;
}

/** Test numbers that the card schemes' processors publish. They belong to no account. */
export const CARDS: readonly Test[] = [
  { value: '4242 4242 4242 4242', end: 'pay' },
  { value: '4111 1111 1111 1111', end: 'pay' },
  { value: '5555 5555 5555 4444', end: 'pay' },
  { value: '3782 822463 10005', end: 'pay' },
  { value: '5105 1051 0510 5100', end: 'authorize' },
  { value: '4000 0025 0000 3155', does: '3-D Secure: the bank asks the customer' },
  { value: '4000 0000 0000 3055', end: 'pay', does: '3-D Secure: is paid without a question' },
  { value: '4000 0084 0000 1629', end: 'no-3ds' },
  { value: '4000 0000 0000 0127', end: 'cvv' },
  { value: '4000 0000 0000 9995', end: 'insufficient-balance' },
  { value: '4000 0000 0000 3220', end: 'canceled' },
  { value: '4000 0000 0000 0341', end: 'not-funded' },
];
export const BANCONTACT_CARDS: readonly Test[] = [{ value: '6703 4444 4444 4449', end: 'pay' }];
export const CODES: readonly Test[] = [
  { value: '123456', does: 'Goes on to the app, like any other code' },
  { value: '400400', end: 'insufficient-balance' },
  { value: '401800', end: 'canceled' },
  { value: '999999', end: 'not-funded' },
];

/** Names for the on-ramp's identity check. */
export const PEOPLE: readonly Test[] = [
  { value: 'Alex Example', does: 'Is identified, like any other name' },
  { value: 'Robin Refused', end: 'no-identity' },
];

/** @param fill the text that fills it next to a test number. Absent for the field of that number */
const field = (label: string, attributes: Record<string, string> = {}, fill?: string) => ({ label, attributes, fill });

const digits = (placeholder: string) => ({ inputmode: 'numeric', dir: 'ltr', placeholder });

export const FIELDS = {
  number: field('Card number', digits('1234 1234 1234 1234')),
  expiry: field('Expiry date', digits('MM / YY'), '12 / 48'),
  cvv: field('Security code', digits('CVV'), '123'),
  holder: field('Name on card', {}, 'Alex Example'),
  person: field('Full name'),
  birth: field('Date of birth', { type: 'date' }, '1990-01-31'),
  code: field('BLIK code, good for two minutes', digits('000 000')),
};

export type FieldName = keyof typeof FIELDS;
