import { expect, it } from 'vitest';
import { isOfRequest, isPassing, isRefusal, saysNothing } from '../src/statuses.ts';

const ALL = Array.from({ length: 500 }, (_, index) => index + 100);

it('holds few statuses for a refusal, and fewer of them for one of the request itself', () => {
  const REFUSALS = [400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 429, 431, 451];
  expect(ALL.filter(isRefusal)).toEqual(REFUSALS);
  expect(ALL.filter(isOfRequest)).toEqual([400, 413, 414, 422]);
});

it('learns nothing of a payment from a lookup that was not allowed, or that failed for a while, and something from 500', () => {
  expect(ALL.filter(status => status < 500 && saysNothing(status))).toEqual([401, 408, 425, 429]);
  expect(ALL.filter(status => status >= 500 && !saysNothing(status))).toEqual([500]);
});

it.each([
  [200, false],
  [302, false],
  [404, false],
  [408, true],
  [425, true],
  [429, true],
  [451, false],
  [499, false],
  [500, true],
  [501, true],
  [503, true],
  [599, true],
])('holds status %i for passing: %s', (status, expected) => {
  expect(isPassing(status)).toBe(expected);
});
