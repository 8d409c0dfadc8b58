import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pauseAsked } from '../../src/http/retry-policy.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(1994, 10, 6, 8, 49, 37) }));
afterEach(() => void vi.useRealTimers());

describe('Retry-After', () => {
  // The three forms of a date, and seconds, of RFC 9110, 5.6.7 and 10.2.3.
  it.each([
    ['Sun, 06 Nov 1994 08:49:40 GMT', 3_000],
    ['Sunday, 06-Nov-94 08:49:40 GMT', 3_000],
    ['1994-11-06T08:49:40Z', 3_000],
    ['Sun, 06 Nov 1994 08:49:34 GMT', 0],
    ['120', 120_000],
    ['9', 9_000],
    ['0', 0],
    ['', 0],
    ['soon', 0],
    ['1.5 minutes', 0],
    ['604800', 900_000],
    ['9'.repeat(400), 900_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 900_000],
    [undefined, 0],
  ])('"%s" asks for a pause of %i ms', (retryAfter, ms) => {
    expect(pauseAsked(retryAfter)).toBe(ms);
  });

  it('may be a date that ends with its year, in the time of this machine', () => {
    const later = new Date(Date.now() + 3_000);
    const asctime = `${later.toDateString()} ${later.toTimeString().slice(0, 8)}`.replace(/ (\d{4}) (\S+)$/, ' $2 $1');
    expect(asctime).toMatch(/^Sun Nov 06 \d\d:\d\d:\d\d 1994$/);
    expect(pauseAsked(asctime)).toBe(3_000);
  });
});
