// The fixed prices of the sandbox's on-ramp.
import { decimalsOf } from '../../schemas/amount.ts';

/** The price of one USDT in each currency. */
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

/** The gateway's own example, for other currencies. */
const FALLBACK = 1.0825;

/** Milliseconds until a customer's quote expires. */
export const QUOTE_MS = 120_000;

/** Returns the fee, which the rate includes. */
export const feeOf = ({ amount, currency }: { amount: number; currency: string }) => ({
  amount: Number((amount * 0.015).toFixed(decimalsOf(currency))),
  currency,
});

/** Converts an amount into crypto, in the names and types of the wire. */
export function quote({ amount, currency }: { amount: number; currency: string }) {
  const crypto_fx = RATES[currency.toUpperCase()] ?? FALLBACK;
  return { cryptoAmount: (amount / crypto_fx).toFixed(8), cryptoCurrency: 'USDT', crypto_fx };
}
