// Which refusals are believed: those that were read to their end, because they may name a payment there.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../src/http/exchange.ts';
import { saysNoPayment } from '../../src/payments/refusal.ts';
import { tries } from '../support/arbitraries.ts';
import { ID } from '../support/fixtures.ts';

const believes = (body: string, changes: Partial<HttpAnswer> = {}) =>
  saysNoPayment({ status: 422, body, isTooLong: false, ...changes });

/** As gateways write it, with whatever may come before it. */
const BEFORE = {
  nothing: '',
  'white space': ' \n',
  'warnings of PHP': '<br />\n<b>Deprecated</b>: strftime() in /srv/a.php on line 3<br />\n',
  'warnings of PHP as text': 'Notice: [8] z\n',
  'another end of a line': 'Notice: z\r',
  'a word': 'data: ',
  'a word without a space': 'while(1);',
};
const ERRORS = {
  'a list, and an object behind it': `{"errors":[{"code":"duplicate_reference"}],"payment":{"id":"${ID}"},"done":[]}`,
  'a list': `[{"error":{"code":1}},["a",["b"]],{"id":"${ID}"}]`,
  'white space': '{ "error" : { "code" : "x" },\n  "list" : [ ], "map": { } }',
  'next to nothing': '[ [ ], { } ]',
};

describe.each(Object.entries(BEFORE))('behind %s', (_, warning) => {
  it.each(Object.entries(ERRORS))(
    'JSON with %s is believed where it is whole, and at no place where it breaks off',
    (_, json) => {
      expect(believes(warning + json)).toBe(true);
      expect(believes(`${warning}${json}\n`)).toBe(true);
      // What is cut before its first character cannot be told from what was never sent.
      const cuts = Array.from({ length: json.length - 1 }, (_, index) => json.slice(0, index + 1));
      expect(cuts.filter(cut => believes(warning + cut))).toEqual([]);
    },
  );

  it('that holds for any JSON', () => {
    fc.assert(
      fc.property(fc.object(), fc.nat(), (value, at) => {
        const json = JSON.stringify(value);
        expect(believes(warning + json)).toBe(true);
        expect(believes(warning + json.slice(0, 1 + (at % (json.length - 1))))).toBe(false);
      }),
      tries(80),
    );
  });
});

describe('a text or a page', () => {
  const page = '<html><style>a { b: c }</style><script>x = {"y": [1</script>';
  it.each([
    ['nothing', ''],
    ['a text', 'Bad request'],
    ['a text with brackets', 'Forbidden [request 7] {see the log}'],
    ['a text that quotes JSON', 'Validation failed: ["iban"] is wrong, not {"iban":"x"} (request 77)'],
    ['a long text that quotes JSON', `Validation failed: ["iban"] is wrong ${'- '.repeat(200)}`],
    ['a text that holds JSON', JSON.stringify('{"error":"amount"}')],
    ['lines with brackets', 'Bad request\n{see the log}\n[request 7]'],
    ['a page', `${page}</html>`],
    ['a page, and a line', `\n<!DOCTYPE html>${page}</HTML>\r\n\r\n`],
    ['a page that comments follow', `${page}</html>\n<!-- {"a": -->\n<!-- 2 --> `],
  ])('is believed: %s', (_, body) => expect(believes(body)).toBe(true));

  it.each([
    ['JSON that breaks off behind a page in it', '{"error":"<html></html>'],
    ['JSON that breaks off behind a page in it, and a warning', 'Notice: z\n{"error":"<html></html>'],
    ['a text that holds JSON behind a space, and breaks off', JSON.stringify(' {"error":{"id":"7b').slice(0, -1)],
    ['a text that holds JSON, and breaks off', JSON.stringify('{"error":{"id":"7b').slice(0, -1)],
    ['JSON behind a page whose letters are longer in lower case', `<html>${'İ'.repeat(200)}</html>\n{"id":"7b1f`],
    ['a page that breaks off', page.replace('x = ', '')],
    ['JSON behind a page', '<html></html>\n{"id":"7b1f'],
    ['JSON behind a page and a comment', '<html></html><!-- a -->{"id":"7b1f'],
    ['JSON far behind a page', `<html></html>${' '.repeat(2_000)}{"id":"7b1f`],
  ])('is not believed: %s', (_, body) => expect(believes(body)).toBe(false));
});

it.each<[string, Partial<HttpAnswer>]>([
  ['was too long', { isTooLong: true }],
  ['is compressed', { isEncoded: true }],
  ['is followed by something', { stray: 'HTTP/1.1 200 OK' }],
  ['is no refusal', { status: 500 }],
])('what %s is not believed', (_, changes) => {
  expect([believes('{}'), believes('{}', changes)]).toEqual([true, false]);
});

it.each(['\u001f\u008b\b\0', 'a\u0001', '\u001c'])('bytes that nobody has unpacked are not believed: %j', body => {
  expect(believes(body)).toBe(false);
});

it.each([
  ['UTF-8 that was encoded twice', '{"error":"gr\u00c3\u009f"}'],
  ['a letter of Windows, in a page', '<html>It\u0092s closed</html>'],
  ['colours of a terminal', '\u001b[31mclosed\u001b[0m'],
  ['a tab', 'closed\tnow'],
  ['JSON that quotes the beginning of an object', '["Unexpected token { \\"a", 1]'],
])('%s are no bytes that nobody has unpacked', (_, body) => {
  expect([believes(body), believes(body, { isEndedByClose: true })]).toEqual([true, true]);
});

it.each([
  ['another refusal, as of a body that was not read', 'HTTP/1.1 400 Bad Request\r\n\r\n<html></html>', true],
  ['another refusal, which names a payment', `HTTP/1.1 400 Bad Request\r\n\r\n{"id":"${ID}"}`, false],
  ['another refusal, which breaks off', `HTTP/1.1 400 Bad Request\r\n\r\n{"id":"${ID.slice(0, 20)}`, false],
  ['another answer', 'HTTP/1.1 201 Created\r\n\r\n{}', false],
  ['another failure', 'HTTP/1.1 502 Bad Gateway\r\n\r\n', false],
  ['anything else', 'x', false],
  ['something before another refusal', 'x\r\nHTTP/1.1 400 Bad Request\r\n\r\n', false],
])('what is followed by %s is believed: %j', (_, stray, expected) => {
  expect(believes('{}', { stray })).toBe(expected);
});

it.each([
  ['Bad Request: {"error":"duplicate","payment":{"id":"7b1f', false],
  ['Bad Request: {"error":"duplicate"}, {"id', false],
  ['Bad Request: { "error":"duplicate', false],
  [`Bad Request: {"of":{"id":"${ID}","paymentStatus":"X"}}`, true],
  ['Bad Request: {"error":"duplicate"} and {see the log', true],
  ['Bad Request: {"error":"duplicate"} twice', true],
  ['Bad Request', true],
])('%j is believed where only its connection has ended it: %j', (body, expected) => {
  expect(believes(body, { isEndedByClose: true })).toBe(expected);
  expect(believes(body)).toBe(true);
});

it.each([
  ['{"', [false, false]],
  ['[{', [false, false]],
  ['\n{"a', [false, false]],
  ['>[ ', [false, false]],
  ['{ ', [false, true]],
  ['</html>', [true, true]],
  ['<!--', [true, true]],
  ['\n', [true, true]],
  [' ', [true, true]],
  ['\n ', [true, true]],
  ['<!-- -->', [true, true]],
  ['</html><!--', [true, true]],
])('no answer of a megabyte takes long: %j, alone and behind a letter', { timeout: 5_000 }, (part, expected) => {
  const body = part.repeat((1024 * 1024) / part.length);
  expect([believes(body), believes(`x${body}`)]).toEqual(expected);
});
