import { describe, expect, it } from 'vitest';
import { decide, type Mark } from '../../src/inbox/contract.ts';
import { isOfMerchant, ofMerchant } from '../../src/inbox/thrown.ts';

const mark = (status: string, final = false): Mark => ({ status, final });
const COMPLETED = mark('COMPLETED', true);
const FAILED = mark('FAILED', true);
const event = (status: string, seen?: readonly Mark[]) => ({ paymentId: 'any', status, final: false, seen });

describe('an inbox', () => {
  it('skips an early status after a final one, whatever came before', () => {
    expect(decide([mark('PENDING'), COMPLETED], event('AUTHORIZED'))).toBe('already');
  });

  it('runs another final status only for who was told just these marks', () => {
    const marks = [COMPLETED];
    expect(decide(marks, event('FAILED', [mark('COMPLETED', true)]))).toBe('run');
    expect(decide(marks, event('FAILED'))).toBe(marks);
    // An operator has said `again` of one of them meanwhile.
    expect(decide(marks, event('CANCELED', [COMPLETED, FAILED]))).toBe(marks);
    expect(decide([COMPLETED, FAILED], event('CANCELED', [COMPLETED]))).toHaveLength(2);
  });
});

it("an error that is told of a merchant's effect is the merchant's, and stays itself", () => {
  const error = new Error('ignored');
  expect([isOfMerchant(error), ofMerchant(error), isOfMerchant(error)]).toEqual([false, error, true]);
});
