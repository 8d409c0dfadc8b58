// The fixed price of one USDT in each currency, as a sandbox has no market.
import { decimalsOf } from '../../schemas/amount.ts';

/** Plausible rates, the same in every run. */
const RATES: Readonly<Record<string, number>> = {
  AUD: 1.5284,
  BRL: 5.4273,
  CAD: 1.3946,
  CHF: 0.8062,
  CLP: 948.65,
  COP: 3908.4,
  EUR: 0.8652,
  GBP: 0.7614,
  JPY: 154.27,
  MXN: 18.462,
  PLN: 3.6794,
  THB: 32.416,
  USD: 1.0004,
  ZAR: 17.283,
};

/** The rate of the gateway's own example, for all other currencies. */
const FALLBACK = 1.0825;

/** Milliseconds for which a customer's quote is good. */
export const QUOTE_MS = 120_000;

const FEE = 0.015;

/** Returns the on-ramp's fee, which its rate includes. */
export const feeOf = ({ amount, currency }: { amount: number; currency: string }) => ({
  amount: Number((amount * FEE).toFixed(decimalsOf(currency))),
  currency,
});

/** Returns the price of one unit of the crypto currency. */
const rateOf = (currency: string): number => RATES[currency.toUpperCase()] ?? FALLBACK;

/** Converts an amount into crypto, in the names and types of the wire. */
export function quote({ amount, currency }: { amount: number; currency: string }) {
  const crypto_fx = rateOf(currency);
  return { cryptoAmount: (amount / crypto_fx).toFixed(8), cryptoCurrency: 'USDT', crypto_fx };
}
