// Amounts of money: plain decimals, refused as soon as they could mean anything else.
import * as z from 'zod';
import { refusing } from './fields-of.ts';

/** At most 100 characters: longer than any amount of money. */
const PLAIN_DECIMAL = /^(?!.{101})(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** From the 16th digit on, a double shows rounding errors. */
const TRUSTED_DIGITS = 15;

function amountProblem(amount: number | string) {
  const text = String(amount);
  if (text !== '' && Number(text) <= 0) return 'must be greater than 0';
  if (!PLAIN_DECIMAL.test(text))
    return 'must be a plain decimal, as the string "25.50": with a point, and no comma, sign, exponent or unit';
  const significant = text.replace('.', '').replace(/^0+|0+$/g, '');
  if (significant.length <= TRUSTED_DIGITS) return undefined;
  return `has more than ${TRUSTED_DIGITS} significant digits, like a rounding error of floating-point numbers: pass a string such as "25.50"`;
}

/** The currencies of ISO 4217 without two decimals. Intl follows everyday use instead, as for HUF and COP. */
const OTHER_DECIMALS = Object.entries({
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
});

export const decimalsOf = (currency: string) =>
  Number(OTHER_DECIMALS.find(([, codes]) => codes.includes(currency.toUpperCase()))?.[0] ?? 2);

/** Returns the problem with decimals as in `705.50 JPY`. Codes unknown to Intl are not checked. */
export function decimalsProblem(amount: number | string, currency: string) {
  const code = currency.toUpperCase();
  const most = decimalsOf(code);
  const [, fraction = ''] = canonicalAmount(amount).split('.');
  if (fraction.length <= most) return undefined;
  const isKnown = most !== 2 || Intl.supportedValuesOf('currency').includes(code);
  return isKnown ? `has too many decimals: ISO 4217 allows ${most} for ${code}` : undefined;
}

/**
 * The schema of an amount. A string's digits are sent unchanged: `'25.50'` as `25.50`. A number must print without an
 * exponent or a floating-point rounding error.
 */
export const amountSchema: z.ZodType<number | string, number | string> = z
  .union([z.number(), z.string()], 'must be a number, or a plain decimal string such as "25.50"')
  .check(refusing(amountProblem));

/** The amount of a record: a number, or the plain decimal text of PHP frameworks. */
export const recordedAmount: z.ZodType<number> = z.union(
  [z.number(), z.string().regex(PLAIN_DECIMAL).transform(Number)],
  'must be a number, or a plain decimal such as "25.50"',
);

/** Drops trailing zeros: `25.50`, `25.5` and the number 25.5 are one amount. */
export function canonicalAmount(amount: number | string) {
  const text = String(amount);
  // A gateway's number may have an exponent.
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
}
