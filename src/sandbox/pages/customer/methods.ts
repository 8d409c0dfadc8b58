// The payment methods in one table: the customer's steps, and the on-ramp's offers.
import type { PaymentRecord } from '../../ledger/record.ts';
import { type Details, multibanco, payId, scan, transferOf } from './details.ts';
import { BANCONTACT_CARDS, CARDS, CODES, type FieldName, PEOPLE, type Test } from './fields.ts';
import type { IconName } from './icons.ts';

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
  /** The on-ramp's offer. Without currencies it is offered for all. */
  offer?: readonly [says: string, icon: IconName, currencies?: readonly string[]];
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
const FROM_BANK = 'Instant, from your bank';
const TRANSFER = 'Transfer from your bank';
const IN_APP = { look: 'phone', by: 'Your bank', button: 'Approve' };
const ON_DEVICE = 'Confirm on your device';

/** Invented banks. */
const BANKS = {
  ZAR: ['Fynbos Bank', 'Baobab Mutual', 'Springveld', 'Umlambo Bank'],
  PSE: ['Banco Frailejón', 'Banco del Páramo', 'Cafetal', 'Orquídea Digital'],
  KHIPU: ['Banco Araucaria', 'Banco del Copihue', 'Cordillera Sur', 'Caja Pudú'],
  OPENBANKING: ['Harbour & Vale', 'Fernlight Bank', 'Thistledown', 'Marram Bank', 'Copperleaf'],
  IDEAL: ['Polderbank', 'Waterkant Bank', 'Tulp Spaarbank', 'Molenland', 'Bank van Oranjeveld'],
  BANCONTACT: ['Banque du Canal', 'Leieland Bank', 'Kouterbank', 'Crédit des Ardennes'],
  EPS: ['Alpenrand Bank', 'Donauwellen Bank', 'Bergsee Sparkasse', 'Enzianbank'],
  P24: ['Bank Jantarowy', 'Wisełka Bank', 'Kasa Bieszczadzka', 'Bank Żubrowy', 'Bank Latarnia'],
};

/** The methods, in the order in which the on-ramp offers them. */
const METHODS: Readonly<Record<string, Method>> = {
  PIX: { name: 'Pix', offer: ['Scan a code, arrives at once', 'qr', ['BRL']], details: scan },
  PAYID: {
    name: 'PayID',
    title: 'Transfer the money by PayID',
    offer: [TRANSFER, 'transfer', ['AUD']],
    details: payId,
  },
  ZAR: { name: 'South African bank transfer', offer: [FROM_BANK, 'bank', ['ZAR']], banks: BANKS.ZAR },
  PSE: { name: 'PSE', offer: [FROM_BANK, 'bank', ['COP']], banks: BANKS.PSE },
  KHIPU: { name: 'Khipu', offer: [FROM_BANK, 'bank', ['CLP']], banks: BANKS.KHIPU },
  QRTHWALLET: { name: 'Thai QR wallet', offer: ['Scan a code, arrives at once', 'qr', ['THB']], details: scan },
  INTERAC: {
    name: 'Interac',
    offer: ['E-transfer from your bank', 'transfer', ['CAD']],
    details: transferOf(({ id }) => [
      ['Recipient', 'Sandbox Payments Inc.'],
      ['E-mail', `pay-${id.slice(0, 8)}@sandbox.example`],
    ]),
  },
  SPEI: {
    name: 'SPEI',
    offer: [TRANSFER, 'transfer', ['MXN']],
    details: transferOf((_, digits) => [
      ['Beneficiary', 'Sandbox Payments SA de CV'],
      ['CLABE', `000${digits(15)}`],
    ]),
  },
  OPENBANKING: {
    name: 'Open Banking',
    text: 'Pay straight from your account. You confirm at your bank; no card is needed.',
    offer: ['Confirm at your bank, no card', 'bank', ['EUR', 'GBP']],
    banks: BANKS.OPENBANKING,
  },
  GBPBANKTRANSFER: {
    name: 'UK bank transfer',
    offer: [TRANSFER, 'transfer', ['GBP']],
    details: transferOf((_, digits) => [
      ['Account holder', 'Sandbox Payments Ltd'],
      ['Sort code', '00-00-00'],
      ['Account number', digits(8)],
    ]),
  },
  CARD: {
    name: 'Card',
    title: 'Pay by card',
    offer: ['Debit or credit', 'card'],
    form: { fields: CARD_FIELDS, tests: CARDS },
    approval: { ...IN_APP, title: '3-D Secure: is this you?', refuse: 'Cancel' },
  },
  APPLEPAY: {
    name: 'Apple Pay',
    offer: [ON_DEVICE, 'phone'],
    approval: {
      look: 'apple',
      by: 'Apple Pay',
      title: 'Pay with your wallet',
      button: 'Pay with passcode',
      hint: 'Double-click the side button to pay',
    },
  },
  GOOGLEPAY: {
    name: 'Google Pay',
    offer: [ON_DEVICE, 'phone'],
    approval: { look: 'google', by: 'Google Pay', title: 'Pay with your wallet', button: 'Pay' },
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
  IDEAL: { name: 'iDEAL', banks: BANKS.IDEAL },
  BANCONTACT: {
    name: 'Bancontact',
    text: 'Pay with the app of your bank, or with your card.',
    banks: BANKS.BANCONTACT,
    form: { fields: ['number', 'expiry', 'holder'], tests: BANCONTACT_CARDS },
  },
  EPS: { name: 'EPS', banks: BANKS.EPS },
  P24: { name: 'Przelewy24', banks: BANKS.P24 },
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

/** Returns the values and methods of the on-ramp's offers for a currency. */
export const offersOf = (currency: string): [value: string, Method][] =>
  Object.entries(METHODS).flatMap(([name, method]) => {
    const [, , currencies = [currency.toUpperCase()]] = method.offer ?? [undefined, undefined, []];
    return currencies.includes(currency.toUpperCase()) ? [[`ONRAMP_${name}`, method]] : [];
  });
