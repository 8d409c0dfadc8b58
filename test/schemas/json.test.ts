import { expect, it } from 'vitest';
import { isJson, isPage } from '../../src/schemas/json.ts';

it.each([
  ['{"id":null}', true],
  ['"a page"', true],
  ['', false],
  ['<html>{}</html>', false],
  ['{"id":', false],
])('%j is JSON: %s', (text, is) => {
  expect(isJson(text)).toBe(is);
});

it.each([
  ['<!DOCTYPE html><p>busy</p>', true],
  ['\r\n <html lang="en">', true],
  // A gateway's own answer may quote a page, or hold a part of one.
  ['{"error":"<html>busy</html>"}', false],
  ['busy<html>', false],
  ['<htmlish>', false],
  ['', false],
])('%j begins as a page does: %s', (text, is) => {
  expect(isPage(text)).toBe(is);
});
