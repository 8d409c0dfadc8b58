// The payment methods, each with its step and the on-ramp's offers.
import type { PaymentMethod } from '../../../schemas/methods.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { transferOf } from '../../ledger/transfer.ts';
import { currencyCode, plainAmount } from '../../text/money.ts';
import { BANCONTACT_CARDS, CARDS, CODES, type FieldName, PEOPLE, type Test } from './fields.ts';

export interface Method {
  name: string;
  text?: string;
  /** The tests are of its first field. */
  form?: { fields: readonly FieldName[]; tests: readonly Test[] };
  /** Each leads to an approval. */
  banks?: readonly string[];
  /** The question after the form, or the only step. */
  approval?: string;
  /** For a payment elsewhere. A `Code` is also drawn. */
  details?(record: PaymentRecord): Record<string, string>;
  /** The on-ramp's currencies for it, or `*`. */
  offered?: string;
}

const banks = ['Waterkant Bank', 'Harbour & Vale', 'Thistledown', 'Banco Frailejón', 'Copperleaf'];

export const APPROVE = 'Approve this payment?';

const amountOf = (record: PaymentRecord) => ({ [`Amount in ${currencyCode(record.currency)}`]: plainAmount(record) });

function transfer(record: PaymentRecord) {
  const { number: Account, full_holder_name, payment_description: Reference } = transferOf(record);
  return { Account, 'Account holder': full_holder_name, ...amountOf(record), Reference };
}

const scan = (record: PaymentRecord) => ({
  ...amountOf(record),
  Code: `sandbox:${record.id}?amount=${plainAmount(record)}&currency=${currencyCode(record.currency)}`,
});

type Shown<M> = M extends `ONRAMP_${infer Name}` ? Name : M;

/** In the on-ramp's order. */
const METHODS: Record<Shown<PaymentMethod>, Method> = {
  PIX: { name: 'Pix', offered: 'BRL', details: scan },
  PAYID: { name: 'PayID', offered: 'AUD', details: transfer },
  ZAR: { name: 'South African bank transfer', offered: 'ZAR', banks },
  PSE: { name: 'PSE', offered: 'COP', banks },
  KHIPU: { name: 'Khipu', offered: 'CLP', banks },
  QRTHWALLET: { name: 'Thai QR wallet', offered: 'THB', details: scan },
  INTERAC: { name: 'Interac', offered: 'CAD', details: transfer },
  SPEI: { name: 'SPEI', offered: 'MXN', details: transfer },
  OPENBANKING: { name: 'Open Banking', offered: 'EUR GBP', banks },
  GBPBANKTRANSFER: { name: 'UK bank transfer', offered: 'GBP', details: transfer },
  CARD: {
    name: 'Card',
    offered: '*',
    form: { fields: ['number', 'expiry', 'cvv', 'holder'], tests: CARDS },
    approval: '3-D Secure: is this you?',
  },
  APPLEPAY: { name: 'Apple Pay', offered: '*', approval: APPROVE },
  GOOGLEPAY: { name: 'Google Pay', offered: '*', approval: APPROVE },
  BLIK: {
    name: 'BLIK',
    text: 'Open your banking app, choose BLIK, and type the six digits that it shows.',
    form: { fields: ['code'], tests: CODES },
    approval: APPROVE,
  },
  IDEAL: { name: 'iDEAL', banks },
  BANCONTACT: { name: 'Bancontact', form: { fields: ['number', 'expiry', 'holder'], tests: BANCONTACT_CARDS } },
  EPS: { name: 'EPS', banks },
  P24: { name: 'Przelewy24', banks },
  MULTIBANCO: { name: 'Multibanco', details: transfer },
  FPS: { name: 'Faster Payments' },
  SEPA: { name: 'SEPA' },
  ONRAMP: { name: 'Crypto on-ramp' },
  USER_CHOICE: { name: 'Choice of method' },
};

/** The on-ramp's first step. */
export const IDENTITY: Method = {
  name: 'Who are you?',
  text: 'Buying crypto needs a name and a date of birth. This test page keeps neither.',
  form: { fields: ['person', 'birth'], tests: PEOPLE },
};

export const methodOf = (method: string): Method => METHODS[method.replace(/^ONRAMP_/, '') as keyof typeof METHODS];

export const offersOf = (currency: string): [value: string, name: string][] =>
  Object.entries(METHODS)
    .filter(([, { offered }]) => offered === '*' || offered?.split(' ').includes(currency.toUpperCase()))
    .map(([value, { name }]) => [`ONRAMP_${value}`, name]);
