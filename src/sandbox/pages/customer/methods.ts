// The payment methods in one table: the customer's steps, and the on-ramp's offers.
import type { PaymentRecord } from '../../ledger/record.ts';
import { type Details, multibanco, payId, scan, transferOf } from './details.ts';
import { BANCONTACT_CARDS, CARDS, CODES, type FieldName, PEOPLE, type Test } from './fields.ts';

export interface Method {
  name: string;
  /** The title of its page, if not its name. */
  title?: string;
  text?: string;
  steps?: readonly string[];
  /** A form, with the test numbers of its first field. */
  form?: { fields: readonly FieldName[]; tests: readonly Test[] };
  /** The place in the list decides the colour. */
  banks?: readonly string[];
  /** The customer's confirmation in an app or on a device. */
  approval?: Approval;
  /** Instructions for a payment that the customer makes elsewhere. */
  details?(record: PaymentRecord): Details;
  /** The currencies for which the on-ramp offers it, or `*` for all. */
  offered?: string;
}

/** An app, a sheet or a bank's page. Its title names the customer's consent. */
export interface Approval {
  look: string;
  by: string;
  title: string;
  /** The text of its button. */
  button: string;
  hint?: string;
  /** The text of the button that refuses. */
  refuse?: string;
}

const CARD_FIELDS = ['number', 'expiry', 'cvv', 'holder'] as const;
const IN_APP = { look: 'phone', by: 'Your bank', button: 'Approve' };
const ON_DEVICE = { title: 'Pay with your wallet' };

const interac = transferOf(({ id }) => [
  ['Recipient', 'Sandbox Payments Inc.'],
  ['E-mail', `pay-${id.slice(0, 8)}@sandbox.example`],
]);
const spei = transferOf((_, digits) => [
  ['Beneficiary', 'Sandbox Payments SA de CV'],
  ['CLABE', `000${digits(15)}`],
]);
const sterling = transferOf((_, digits) => [
  ['Account holder', 'Sandbox Payments Ltd'],
  ['Sort code', '00-00-00'],
  ['Account number', digits(8)],
]);

/** A method whose banks are invented. */
const banking = (name: string, banks: string, rest: Partial<Method> = {}): Method => ({
  name,
  banks: banks.split(', '),
  ...rest,
});

/** The methods, in the order in which the on-ramp offers them. */
const METHODS: Readonly<Record<string, Method>> = {
  PIX: { name: 'Pix', offered: 'BRL', details: scan },
  PAYID: { name: 'PayID', title: 'Transfer the money by PayID', offered: 'AUD', details: payId },
  ZAR: banking('South African bank transfer', 'Fynbos Bank, Baobab Mutual, Springveld, Umlambo Bank', {
    offered: 'ZAR',
  }),
  PSE: banking('PSE', 'Banco Frailejón, Banco del Páramo, Cafetal, Orquídea Digital', { offered: 'COP' }),
  KHIPU: banking('Khipu', 'Banco Araucaria, Banco del Copihue, Cordillera Sur, Caja Pudú', { offered: 'CLP' }),
  QRTHWALLET: { name: 'Thai QR wallet', offered: 'THB', details: scan },
  INTERAC: { name: 'Interac', offered: 'CAD', details: interac },
  SPEI: { name: 'SPEI', offered: 'MXN', details: spei },
  OPENBANKING: banking('Open Banking', 'Harbour & Vale, Fernlight Bank, Thistledown, Marram Bank, Copperleaf', {
    text: 'Pay straight from your account. You confirm at your bank; no card is needed.',
    offered: 'EUR GBP',
  }),
  GBPBANKTRANSFER: { name: 'UK bank transfer', offered: 'GBP', details: sterling },
  CARD: {
    name: 'Card',
    title: 'Pay by card',
    offered: '*',
    form: { fields: CARD_FIELDS, tests: CARDS },
    approval: { ...IN_APP, title: '3-D Secure: is this you?', refuse: 'Cancel' },
  },
  APPLEPAY: {
    name: 'Apple Pay',
    offered: '*',
    approval: { ...ON_DEVICE, look: 'apple', by: 'Apple Pay', button: 'Pay with passcode' },
  },
  GOOGLEPAY: {
    name: 'Google Pay',
    offered: '*',
    approval: { ...ON_DEVICE, look: 'google', by: 'Google Pay', button: 'Pay' },
  },
  BLIK: {
    name: 'BLIK',
    title: 'Pay with BLIK',
    steps: [
      'Open your banking app and choose BLIK.',
      'Type the six digits that it shows.',
      'Confirm the payment in the app.',
    ],
    form: { fields: ['code'], tests: CODES },
    approval: { ...IN_APP, title: 'BLIK payment', refuse: 'Reject' },
  },
  IDEAL: banking('iDEAL', 'Polderbank, Waterkant Bank, Tulp Spaarbank, Molenland, Bank van Oranjeveld'),
  BANCONTACT: banking('Bancontact', 'Banque du Canal, Leieland Bank, Kouterbank, Crédit des Ardennes', {
    text: 'Pay with the app of your bank, or with your card.',
    form: { fields: ['number', 'expiry', 'holder'], tests: BANCONTACT_CARDS },
  }),
  EPS: banking('EPS', 'Alpenrand Bank, Donauwellen Bank, Bergsee Sparkasse, Enzianbank'),
  P24: banking('Przelewy24', 'Bank Jantarowy, Wisełka Bank, Kasa Bieszczadzka, Bank Żubrowy, Bank Latarnia'),
  MULTIBANCO: {
    name: 'Multibanco',
    steps: [
      'Choose “Payments”, then “Services and shopping” at a cash machine or in your app.',
      'Type the entity, the reference and the amount.',
      'Confirm. The shop hears of it within minutes.',
    ],
    details: multibanco,
  },
  FPS: { name: 'Faster Payments' },
  ONRAMP: { name: 'Crypto on-ramp', title: 'How do you want to pay?' },
  USER_CHOICE: { name: "Customer's choice", title: 'How do you want to pay?' },
};

/** The on-ramp's first step, in the form of a method. */
export const IDENTITY: Method = {
  name: 'Identity',
  title: 'Who are you?',
  text: 'Buying crypto needs a name and a date of birth. This test page keeps neither.',
  form: { fields: ['person', 'birth'], tests: PEOPLE },
};

/** Returns `PIX` for `ONRAMP_PIX`. */
const pinned = (method: string): string => method.replace(/^ONRAMP_/, '');

export const methodOf = (method: string): Method => METHODS[pinned(method)] ?? { name: pinned(method) };

/** Returns a method's readable name, for example of `ONRAMP_PIX`. */
export const methodName = (method: string): string => methodOf(method).name;

/** Returns the values and names of the on-ramp's offers for a currency. */
export const offersOf = (currency: string): [value: string, name: string][] =>
  Object.entries(METHODS)
    .filter(([, { offered }]) => offered === '*' || offered?.split(' ').includes(currency.toUpperCase()))
    .map(([value, { name }]) => [`ONRAMP_${value}`, name]);
