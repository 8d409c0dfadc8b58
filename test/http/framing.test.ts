// Which bytes belong to an answer, and which came behind it. Chunks are written as RFC 9112, section 7.1 has them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { behindAnswer, behindHeaders, isEndedByClose } from '../../src/http/framing.ts';
import { tries } from '../support/arbitraries.ts';

const HEAD = 'HTTP/1.1 400 Bad Request\r\nx: 1\r\n\r\n';
const behind = (text: string, headers = {}) => behindAnswer(Buffer.from(text), headers).toString();

describe('behind the headers', () => {
  it.each([
    ['of one answer', `${HEAD}body`, 'body'],
    [
      'of an answer behind interim ones',
      `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 100\r\n\r\n${HEAD}body`,
      'body',
    ],
    ['of an answer whose body has empty lines', `${HEAD}a\r\n\r\nb\r\n\r\n`, 'a\r\n\r\nb\r\n\r\n'],
    ['of an answer behind ends of lines', `\r\n\n\r\n${HEAD}body`, 'body'],
    ['of an older HTTP', 'HTTP/1.0 200 OK\r\n\r\nbody', 'body'],
    ['that do not end', 'HTTP/1.1 200 OK\r\nx: 1\r\n', ''],
    ['of HTTP that something comes before', `x ${HEAD}body`, ''],
    ['of no HTTP', 'whatever a mock writes\r\n\r\nbody', ''],
    ['of nothing', '', ''],
  ])('%s', (_, raw, expected) => {
    expect(behindHeaders(Buffer.from(raw)).toString()).toBe(expected);
  });
});

describe('behind the answer', () => {
  it.each([
    ['of its length there is nothing', 'body', { 'content-length': '4' }, ''],
    ['that is shorter than was said there is nothing', 'bo', { 'content-length': '4' }, ''],
    ['of its length there is the rest', 'bodyrest', { 'content-length': '4' }, 'rest'],
    ['of bytes, and not of letters, there is the rest', 'żrest', { 'content-length': '2' }, 'rest'],
    ['without a length there is nothing', 'body and rest', {}, ''],
    ['in chunks there is the rest', '3\r\nbod\r\n1\r\ny\r\n0\r\n\r\nrest', { 'transfer-encoding': 'chunked' }, 'rest'],
    ['whose chunks have empty lines', '4\r\n\r\n\r\n\r\n0\r\n\r\nrest', { 'transfer-encoding': 'chunked' }, 'rest'],
    ['whose chunks have names', '3;a=b\r\nbod\r\n0\r\n\r\nrest', { 'transfer-encoding': 'gzip, Chunked' }, 'rest'],
    [
      'whose chunks end with fields',
      '3\r\nbod\r\n0\r\nx: 1\r\ny: 2\r\n\r\nrest',
      { 'transfer-encoding': 'chunked' },
      'rest',
    ],
    [
      'whose chunks win over a length',
      '3\r\nbod\r\n0\r\n\r\nrest',
      { 'transfer-encoding': 'chunked', 'content-length': '1' },
      'rest',
    ],
    ['whose chunks break off', '3\r\nbo', { 'transfer-encoding': 'chunked' }, ''],
    ['whose last chunk breaks off', '3\r\nbod\r\n0\r\n', { 'transfer-encoding': 'chunked' }, ''],
    ['whose chunks go backwards', '-5\r\nrest', { 'transfer-encoding': 'chunked' }, ''],
    ['whose chunks are none', 'zz\r\nrest\r\n\r\n', { 'transfer-encoding': 'chunked' }, ''],
  ])('%s', (_, body, headers, expected) => {
    expect(behind(HEAD + body, headers)).toBe(expected);
  });

  it('in any chunks of any bytes there is what follows them', () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(chunk), fc.uint8Array({ maxLength: 40 }), (chunks, rest) => {
        const written = chunks.flatMap(bytes => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n']);
        const raw = Buffer.concat([HEAD, ...written, '0\r\n\r\n', rest].map(part => Buffer.from(part as string)));
        expect([...behindAnswer(raw, { 'transfer-encoding': 'chunked' })]).toEqual([...rest]);
      }),
      tries(100),
    );
  });
});

it.each([
  [{}, true],
  [{ 'content-length': '0' }, false],
  [{ 'transfer-encoding': 'chunked' }, false],
  [{ 'transfer-encoding': 'gzip' }, true],
  [{ 'transfer-encoding': 'x-chunked' }, true],
  [{ 'transfer-encoding': 'chunkedx' }, true],
  [{ 'transfer-encoding': 'chunked, gzip' }, true],
  [{ 'transfer-encoding': 'gzip,CHUNKED ' }, false],
])('an answer with %j ends with its connection: %j', (headers, expected) => {
  expect(isEndedByClose(headers)).toBe(expected);
});
