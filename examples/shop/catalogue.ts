// The shop's products and payment methods. The server sets all prices: a form only names a product and a method.

/** The methods of each currency, for customers and for payouts to growers. */
export const CURRENCIES = {
  EUR: { methods: ['CARD', 'IDEAL'], payout: 'SEPA' },
  PLN: { methods: ['BLIK', 'CARD'], payout: 'CARD' },
  AUD: { methods: ['PAYID', 'CARD'], payout: 'PAYID' },
} as const;

export const METHODS = { CARD: 'Card', IDEAL: 'iDEAL', BLIK: 'BLIK', PAYID: 'PayID transfer' } as const;

export const PRODUCTS = {
  sencha: {
    name: 'Sencha',
    about: 'Green tea, steamed and rolled. Fresh and grassy.',
    prices: { EUR: '12.50', PLN: '54.00', AUD: '20.90' },
  },
  assam: {
    name: 'Assam',
    about: 'Black tea of the second flush. Strong, takes milk.',
    prices: { EUR: '9.80', PLN: '42.00', AUD: '16.40' },
  },
  rooibos: {
    name: 'Rooibos',
    about: 'Free of caffeine, and sweet without sugar.',
    prices: { EUR: '7.20', PLN: '31.00', AUD: '12.00' },
  },
} as const;

export type Currency = keyof typeof CURRENCIES;
export type Method = keyof typeof METHODS;
export type Product = keyof typeof PRODUCTS;

const isKeyOf =
  <T extends object>(table: T) =>
  (value: unknown): value is keyof T =>
    typeof value === 'string' && Object.hasOwn(table, value);

export const isCurrency = isKeyOf(CURRENCIES);
export const isMethod = isKeyOf(METHODS);
export const isProduct = isKeyOf(PRODUCTS);

export const methodsOf = (currency: Currency): readonly Method[] => CURRENCIES[currency].methods;

/** Formats an amount for customers. */
export const money = (amount: string | number, currency: string): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).format(Number(amount));
