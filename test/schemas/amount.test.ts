// Which amounts are equal, and how many decimals ISO 4217 gives a currency.
import { describe, expect, it } from 'vitest';
import { canonicalAmount, decimalsProblem } from '../../src/schemas/amount.ts';

describe('two amounts are equal', () => {
  it.each([
    ['100', 100, '100'],
    ['25.50', 25.5, '25.5'],
    ['30.00', 30, '30'],
    ['1.5e-10', 1.5e-10, '1.5e-10'],
  ])('%s and %d as %s', (text, number, canonical) => {
    expect([canonicalAmount(text), canonicalAmount(number)]).toEqual([canonical, canonical]);
  });
});

describe('ISO 4217 allows', () => {
  it.each([
    [0, 'JPY'],
    [0, 'xpf'],
    [2, 'EUR'],
    [2, 'HUF'],
    [3, 'KWD'],
    [4, 'CLF'],
    [4, 'UYW'],
  ])('%d decimals for %s', (most, currency) => {
    const amountWith = (decimals: number) => (1 + 10 ** -decimals).toFixed(decimals);
    expect(decimalsProblem(amountWith(most), currency)).toBeUndefined();
    expect(decimalsProblem(amountWith(most + 1), currency)).toBe(
      `has too many decimals: ISO 4217 allows ${most} for ${currency.toUpperCase()}`,
    );
  });

  it('any decimals for an unknown currency', () => {
    expect(decimalsProblem('1.234567', 'POINTS')).toBeUndefined();
  });
});
