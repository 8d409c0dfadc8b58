// Formats money for people: the amount with its currency's digits, then the currency's code.
import { decimalsOf } from '../../schemas/amount.ts';

/** Letters of a code: more than any known one has (`USDTTRC20`), and few enough to fit next to an amount. */
const LONGEST_CODE = 12;

export const currencyCode = (currency: string): string =>
  currency.length > LONGEST_CODE ? `${currency.slice(0, LONGEST_CODE - 4)}…` : currency;

interface Money {
  amount: number;
  currency: string;
}

function digits({ amount, currency }: Money, useGrouping: boolean, locale = 'en'): string {
  const minimumFractionDigits = decimalsOf(currency);
  return amount.toLocaleString(locale, { minimumFractionDigits, maximumFractionDigits: 100, useGrouping });
}

/** Formats an amount with all its digits, and at least those of its currency: `1,000 JPY`, `25.555 EUR`. */
export const money = (of: Money, locale?: string): string => `${digits(of, true, locale)} ${currencyCode(of.currency)}`;

/** Formats an amount for a form, without commas and currency: `1000`. */
export const plainAmount = (of: Money): string => digits(of, false);
