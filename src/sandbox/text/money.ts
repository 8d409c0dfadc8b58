// Formats money for people.
import { decimalsOf } from '../../schemas/amount.ts';

/** Letters that fit next to an amount, more than those of any known code. */
const LONGEST_CODE = 12;

export const currencyCode = (currency: string): string =>
  currency.length > LONGEST_CODE ? `${currency.slice(0, LONGEST_CODE - 4)}…` : currency;

interface Money {
  amount: number;
  currency: string;
}

function digits({ amount, currency }: Money, useGrouping: boolean, locale = 'en') {
  const minimumFractionDigits = decimalsOf(currency);
  return amount.toLocaleString(locale, { minimumFractionDigits, maximumFractionDigits: 100, useGrouping });
}

/** Formats an amount with at least the digits of its currency: `1,000 JPY`, `25.555 EUR`. */
export const money = (of: Money, locale?: string): string => `${digits(of, true, locale)} ${currencyCode(of.currency)}`;

/** Formats an amount for a form: `1000`. */
export const plainAmount = (of: Money): string => digits(of, false);
