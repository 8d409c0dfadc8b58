import { describe, expect, it } from 'vitest';
import { decide, type Mark, statusMark } from '../../src/inbox/contract.ts';
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

describe('what a status is marked as', () => {
  it.each(['COMPLETED', 'PARTIALLY_REFUNDED', ' on hold ', 'ZAŻÓŁĆ 😀', 'x'.repeat(64)])('is itself: %j', status => {
    expect(statusMark(status)).toBe(status);
  });

  // printf 'x%.0s' $(seq 65) | iconv -t utf-16le | sha256sum, and the like.
  it.each([
    ['x'.repeat(65), '48db1fc4b0541163beefb002169308df6daffa0c36345a535d51c9f5ae4d35a7'],
    ['a\0', 'a2d398922901344d08180dc41d3e9d73d8c148c7f6e092835bbb28e02dbcf184'],
    ['\ud800', '205022e3428b7c8276cf247b36e4e512db5651e5cb3472c253d9ee893a8ac750'],
    ['\ud801', '4a9868967003d43ddf0f042f7746934a6e27d3464b9b32ac9d93bab42b295696'],
  ])('is a hash of its own where no store could keep it: %j', (status, hash) => {
    expect(statusMark(status)).toBe(hash);
  });
});

it("an error that is told of a merchant's effect is the merchant's, and stays itself", () => {
  const error = new Error('ignored');
  expect([isOfMerchant(error), ofMerchant(error), isOfMerchant(error)]).toEqual([false, error, true]);
});
