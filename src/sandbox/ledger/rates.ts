// The fixed price of one USDT in each currency, as a sandbox has no market.

/** Plausible rates, the same in every run. */
const RATES: Readonly<Record<string, number>> = {
  AED: 3.6731,
  ARS: 1364.5,
  AUD: 1.5284,
  BRL: 5.4273,
  CAD: 1.3946,
  CHF: 0.8062,
  CLP: 948.65,
  CNY: 7.1248,
  COP: 3908.4,
  CZK: 21.163,
  DKK: 6.4587,
  EUR: 0.8652,
  GBP: 0.7614,
  HKD: 7.7795,
  HUF: 336.42,
  IDR: 16642,
  ILS: 3.2718,
  INR: 88.742,
  JPY: 154.27,
  KRW: 1457.3,
  KWD: 0.30694,
  MXN: 18.462,
  MYR: 4.1387,
  NGN: 1443.6,
  NOK: 10.128,
  NZD: 1.7654,
  PEN: 3.3842,
  PHP: 58.931,
  PLN: 3.6794,
  RON: 4.3981,
  SEK: 9.5236,
  SGD: 1.3027,
  THB: 32.416,
  TRY: 42.314,
  TWD: 31.086,
  USD: 1.0004,
  VND: 26341,
  ZAR: 17.283,
};

/** The rate of the gateway's own example, for all other currencies. */
const FALLBACK = 1.0825;

const CRYPTO_CURRENCY = 'USDT';

/** Returns the price of one unit of the crypto currency. */
export const rateOf = (currency: string): number => RATES[currency.toUpperCase()] ?? FALLBACK;

/** Converts an amount into crypto, in the names and types of the wire. */
export function quote({ amount, currency }: { amount: number; currency: string }) {
  const crypto_fx = rateOf(currency);
  return { cryptoAmount: (amount / crypto_fx).toFixed(8), cryptoCurrency: CRYPTO_CURRENCY, crypto_fx };
}
