// Money as people read it: the digits of its currency, then the currency's code.

// ISO 4217, in its own words: the minor units of every currency that has not two. Intl has other digits for some (HUF,
// IQD), and they differ between versions of Node.
const DIGITS: ReadonlyMap<string, number> = new Map([
  ...['BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV'].map(none),
  ...['XAF', 'XOF', 'XPF'].map(none),
  ...['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map(code => [code, 3] as const),
  ...['CLF', 'UYW'].map(code => [code, 4] as const),
]);

function none(code: string): readonly [string, number] {
  return [code, 0];
}

/** Letters: more than any known code has (`USDTTRC20`), and few enough to stand beside an amount. */
const LONGEST_CODE = 12;

/** A currency's code; one that is absurdly long is cut. */
export const currencyCode = (currency: string): string =>
  currency.length > LONGEST_CODE ? `${currency.slice(0, LONGEST_CODE - 4)}…` : currency;

interface Money {
  amount: number;
  currency: string;
}

function digits({ amount, currency }: Money, useGrouping: boolean): string {
  const minimumFractionDigits = DIGITS.get(currency.toUpperCase()) ?? 2;
  return amount.toLocaleString('en', { minimumFractionDigits, maximumFractionDigits: 100, useGrouping });
}

/** An amount with at least the digits of its currency, and with every digit that it has: `1,000 JPY`, `25.555 EUR`. */
export const money = (of: Money): string => `${digits(of, true)} ${currencyCode(of.currency)}`;

/** The same without commas and currency, as a form takes it: `1000`. */
export const plainAmount = (of: Money): string => digits(of, false);
