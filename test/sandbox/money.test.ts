// Money on the sandbox's pages. The digits are those of ISO 4217's list of currencies.
import { describe, expect, it } from 'vitest';
import { quote } from '../../src/sandbox/ledger/rates.ts';
import { money, plainAmount } from '../../src/sandbox/text/money.ts';

describe('money', () => {
  it.each([
    [1.5, 'KWD', '1.500 KWD'],
    [25.5, 'EUR', '25.50 EUR'],
    [1249999.5, 'USD', '1,249,999.50 USD'],
    [5000, 'HUF', '5,000.00 HUF'],
    [12, 'eur', '12.00 eur'],
  ])('%d %s is written %s', (amount, currency, text) => expect(money({ amount, currency })).toBe(text));

  // https://www.iso.org/iso-4217-currency-codes.html: the minor units of those that have not two.
  it.each([
    ['7', 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
    ['7.000', 'BHD IQD JOD KWD LYD OMR TND'],
    ['7.0000', 'CLF UYW'],
    ['7.00', 'EUR USD GBP HUF COP MRU MGA'],
  ])('%s has the digits of %s', (text, codes) => {
    const written = codes.split(' ').map(currency => money({ amount: 7, currency }));
    expect(written).toEqual(codes.split(' ').map(code => `${text} ${code}`));
  });

  it.each([
    [25.555, 'EUR', '25.555 EUR'],
    [0.5, 'JPY', '0.5 JPY'],
    [0.00012345, 'BTC', '0.00012345 BTC'],
    [498.84526559, 'USDT', '498.84526559 USDT'],
    [0.000000000000000001, 'ETH', '0.000000000000000001 ETH'],
  ])('loses no digit of %d %s', (amount, currency, text) => expect(money({ amount, currency })).toBe(text));

  it('cuts a code that is no code', () => {
    expect(money({ amount: 1, currency: 'USDTTRC20' })).toBe('1.00 USDTTRC20');
    expect(money({ amount: 1, currency: 'A'.repeat(300) })).toBe('1.00 AAAAAAAA…');
    expect(money({ amount: 1, currency: 'A'.repeat(13) })).toBe('1.00 AAAAAAAA…');
    expect(money({ amount: 1, currency: 'A'.repeat(12) })).toBe('1.00 AAAAAAAAAAAA');
  });

  it('is copied as a form takes it', () => {
    expect(plainAmount({ amount: 1249999.5, currency: 'EUR' })).toBe('1249999.50');
    expect(plainAmount({ amount: 1000, currency: 'JPY' })).toBe('1000');
  });
});

// By `echo 'scale=12; 540/5.4273' | bc`, and so on.
describe('a quote in crypto', () => {
  it.each([
    [540, 'BRL', '99.49698745', 5.4273],
    [25.5, 'EUR', '29.47295423', 0.8652],
    [1000, 'JPY', '6.48214170', 154.27],
    [25.5, 'eur', '29.47295423', 0.8652],
  ])('of %d %s has the rate of its currency', (amount, currency, cryptoAmount, crypto_fx) => {
    expect(quote({ amount, currency })).toEqual({ cryptoAmount, cryptoCurrency: 'USDT', crypto_fx });
  });

  it('in a currency without a rate has that of the gateway’s example', () => {
    expect(quote({ amount: 25.5, currency: 'XTS' })).toEqual({
      cryptoAmount: '23.55658199',
      cryptoCurrency: 'USDT',
      crypto_fx: 1.0825,
    });
  });
});
