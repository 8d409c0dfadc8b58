// The fields of the customer's forms, and the public test numbers.

/** A number, code or name with a known end. Without one, the customer goes on to the next step. */
export type Test = readonly [value: string, end?: string, does?: string];

/** Test numbers that processors publish. They belong to no account. */
export const CARDS: readonly Test[] = [
  ['4242 4242 4242 4242', 'pay'],
  ['4111 1111 1111 1111', 'pay'],
  ['5555 5555 5555 4444', 'pay'],
  ['3782 822463 10005', 'pay'],
  ['5105 1051 0510 5100', 'authorize'],
  ['4000 0025 0000 3155', '', '3-D Secure: the bank asks the customer'],
  ['4000 0000 0000 3055', 'pay', '3-D Secure: is paid without a question'],
  ['4000 0084 0000 1629', 'no-3ds'],
  ['4000 0000 0000 0127', 'cvv'],
  ['4000 0000 0000 9995', 'insufficient-balance'],
  ['4000 0000 0000 3220', 'canceled'],
  ['4000 0000 0000 0341', 'not-funded'],
];
export const BANCONTACT_CARDS: readonly Test[] = [['6703 4444 4444 4449', 'pay']];
export const CODES: readonly Test[] = [
  ['123456', '', 'Goes on to the app, like any other code'],
  ['400400', 'insufficient-balance'],
  ['401800', 'canceled'],
  ['999999', 'not-funded'],
];

export const PEOPLE: readonly Test[] = [
  ['Alex Example', '', 'Is identified, like any other name'],
  ['Robin Refused', 'no-identity'],
];

/** @param fill its text next to a test number. The field of that number has none */
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
