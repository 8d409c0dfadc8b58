import { expect, it } from 'vitest';
import { isJson } from '../../src/schemas/json.ts';

it.each([
  ['{"id":null}', true],
  ['"a page"', true],
  ['', false],
  ['<html>{}</html>', false],
  ['{"id":', false],
])('%j is JSON: %s', (text, is) => {
  expect(isJson(text)).toBe(is);
});
