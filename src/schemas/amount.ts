// Amounts of money in a request: plain decimals, refused as soon as they could mean anything else.
import * as z from 'zod';

/**
 * In units of `currency`, not cents; greater than 0. A string such as `'25.50'` keeps its digits. See
 * {@link amountSchema} for what is refused.
 */
export type Amount = number | string;

const PLAIN_DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** A double keeps 15 digits of what the caller meant; from the 16th on, rounding errors show. */
const TRUSTED_DIGITS = 15;

/** Characters: more than any amount of money has, and few enough to check quickly. */
const LONGEST_AMOUNT = 100;

function amountProblem(amount: Amount): string | undefined {
  const text = String(amount);
  if (text.length > LONGEST_AMOUNT) return `has more than ${LONGEST_AMOUNT} characters`;
  if (text.startsWith('-') || (text.trim() !== '' && Number(text) === 0)) return 'must be greater than 0';
  if (!PLAIN_DECIMAL.test(text) || !Number.isFinite(Number(text))) {
    return 'must be a plain decimal, as the string "25.50": with a point, and no comma, sign, exponent or unit';
  }
  const significant = text.replace('.', '').replace(/^0+|0+$/g, '');
  if (typeof amount === 'number' && significant.length > TRUSTED_DIGITS) {
    return `has more than ${TRUSTED_DIGITS} significant digits, which looks like a rounding error of floating-point numbers: pass a string such as "25.50"`;
  }
  return undefined;
}

/**
 * The schema of an {@link Amount}. A string's digits enter the JSON exactly as they are (`'25.50'` is sent as `25.50`);
 * a number must print without exponent and without a floating-point rounding error.
 */
export const amountSchema: z.ZodType<Amount, Amount> = z
  .union([z.number(), z.string()], { error: 'must be a number, or a plain decimal string such as "25.50"' })
  .check(context => {
    const problem = amountProblem(context.value);
    if (problem) context.issues.push({ code: 'custom', message: problem, input: context.value });
  });

/** An amount without trailing zeros: `25.50`, `25.5` and the number 25.5 are one amount. */
export function canonicalAmount(amount: Amount): string {
  const text = String(amount);
  // A gateway's number may have an exponent.
  if (!text.includes('.') || text.includes('e')) return text;
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** An amount that the compiler can see, if it can be one; else what is wrong with it. Other amounts pass as they are. */
export type PlainAmount<A extends Amount> =
  // biome-ignore lint/complexity/noBannedTypes: {} has no keys, so it fits a record of any text but not one of literals
  {} extends Record<`${A}`, 1> ? PlainPattern<A> : [Problem<`${A}`>] extends [never] ? A : Problem<`${A}`>;

// Of a pattern such as `-${number}` the compiler sees as much as that it can never be one.
type PlainPattern<A extends Amount> = A extends `-${string}`
  ? 'amount must be greater than 0'
  : A extends `${string}${'e' | 'E'}${string}` | `0${number}`
    ? 'amount must be a plain decimal such as "25.50"'
    : A;

type Problem<S extends string> = S extends `-${string}`
  ? 'amount must be greater than 0'
  : IsZero<S> extends true
    ? 'amount must be greater than 0'
    : IsPlain<S> extends true
      ? never
      : 'amount must be a plain decimal such as "25.50"';

type IsPlain<S extends string> = S extends
  | `0${Digit | 'x' | 'X' | 'b' | 'B' | 'o' | 'O'}${string}`
  | `${'+' | ' '}${string}`
  | `${string} `
  | `${string}${'e' | 'E'}${string}`
  | `.${string}`
  | `${string}.`
  ? false
  : S extends `${number}`
    ? true
    : false;

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

// Whether nothing but zeros and a point is written.
type IsZero<S extends string> = S extends '0' ? true : S extends `${'0' | '.'}${infer Rest}` ? IsZero<Rest> : false;
