// Hostile requests over HTTP/1, and their answers.
import { record } from '../support/fixtures.ts';
import type { Outcome, RawRequest } from './raw-http.ts';

export type ServerName = 'node:http' | 'Express' | 'Fastify' | 'Nest' | 'Hono';

/**
 * One status, or all until the server closes the connection. `refusedByParser`: Node itself answers 4xx or nothing, and
 * closes. `gone`: the caller does not wait for an answer.
 */
export type Answer = number | Outcome | 'refusedByParser' | 'gone';

export interface Hostile extends RawRequest {
  name: string;
  /** That of node:http. For a 4xx, a framework may answer another 4xx or 5xx. */
  answer: Answer;
  /** Answers of frameworks that differ. */
  but?: Partial<Record<ServerName, Answer>>;
  /** The body does not end. A framework that parses bodies would wait, so it does not get this request. */
  isUnending?: true;
}

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');
export const callback = bytesOf(record('completed CARD callback'));
const callbackWith = (fields: string) => `${callback.slice(0, -1)},${fields}}`;

export const lengthOf = (body: string) => `Content-Length: ${body.length}`;
export const LENGTH = lengthOf(callback);
export const HOST = 'Host: shop';
export const TYPE = 'Content-Type: application/json';
export const CHUNKED = 'Transfer-Encoding: chunked';
/** Bytes of the largest body that the handler reads. */
export const LIMIT = 262_144;

export const request = (line: string, headers: string[], body = '') =>
  `${[line, ...headers, '', ''].join('\r\n')}${body}`;
export const post = (headers: string[], body = callback, path = '/') =>
  request(`POST ${path} HTTP/1.1`, [HOST, TYPE, ...headers], body);
const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
const END = chunk('');
export const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
/** The last of a connection. */
const last = request('POST / HTTP/1.1', [HOST, TYPE, LENGTH, 'Connection: close'], callback);

type But = Hostile['but'];
const method = (name: string, answer: Answer = 405): Hostile => ({
  name,
  bytes: request(`${name} / HTTP/1.1`, [HOST]),
  answer,
});
const version = (name: string, answer: Answer): Hostile => ({
  name: `HTTP/${name}`,
  bytes: request(`POST / HTTP/${name}`, [HOST, TYPE, LENGTH], callback),
  answer,
});
const host = (header: string, but?: But): Hostile => ({
  name: header,
  bytes: request('POST / HTTP/1.1', [header, TYPE, LENGTH], callback),
  answer: 200,
  ...(but && { but }),
});
const target = (text: string, answer: Answer = 200, but?: But): Hostile => ({
  name: `target ${text}`,
  bytes: request(`POST ${text} HTTP/1.1`, [HOST, TYPE, LENGTH], callback),
  answer,
  ...(but && { but }),
});
/** Headers of a genuine callback. */
const headers = (lines: string[], answer: Answer = 200, but?: But): Hostile => ({
  name: lines[0] ?? '',
  bytes: post([...lines, LENGTH]),
  answer,
  ...(but && { but }),
});
const length = (value: string | number, answer: Answer, body = callback): Hostile => ({
  name: `Content-Length: ${value} for ${body.length} bytes`,
  bytes: post([`Content-Length: ${value}`], body),
  answer,
});
const chunks = (name: string, body: string, answer: Answer): Hostile => ({
  name: `chunked: ${name}`,
  bytes: post([CHUNKED], body),
  answer,
});
const cut = (name: string, bytes: string): Hostile[] => [
  { name: `${name}, then FIN`, bytes, end: 'fin', answer: 'refusedByParser' },
  { name: `${name}, then RST`, bytes, end: 'rst', answer: 'gone' },
];
const body = (name: string, text: string, answer: Answer = 400, but?: But): Hostile => ({
  name: `JSON: ${name}`,
  bytes: post([lengthOf(text)], text),
  answer,
  ...(but && { but }),
});

export const HOSTILE: Hostile[] = [
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'QUERY', 'PURGE'].map(name =>
    method(name),
  ),
  method('BREW', 'refusedByParser'),
  method('CONNECT', 'refusedByParser'),

  ...['0.9', '1.0', '2.0'].map(name => version(name, 200)),
  ...['1.2', 'x'].map(name => version(name, 'refusedByParser')),
  { name: "TLS's first bytes", bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', answer: 'refusedByParser' },
  { name: 'HTTP/1.0 without a length', bytes: request('POST / HTTP/1.0', [HOST, TYPE], callback), answer: 400 },
  { name: 'HTTP/1.0 with chunks', bytes: request('POST / HTTP/1.0', [HOST, TYPE, CHUNKED], END), answer: 400 },

  host('Host: a@c', { Hono: 400 }),
  host('Host: a b:c', { Hono: 400 }),
  host('Host: [::1', { Hono: 400 }),
  host('Host: x:99999', { Hono: 400 }),
  host('Host: %00%', { Hono: 400 }),
  host('Host: <script>/?#\\', { Hono: 400 }),
  host('Host: \xff\xfe', { Hono: 400 }),
  host(bytesOf('Host: żółw😀'), { Hono: 400 }),
  host('Host:'),
  host('Host: shop\r\nHost: evil'),
  { name: 'no host, HTTP/1.0', bytes: request('POST / HTTP/1.0', [TYPE, LENGTH], callback), answer: 200 },
  { name: 'no host, HTTP/1.1', bytes: request('POST / HTTP/1.1', [TYPE, LENGTH], callback), answer: 'refusedByParser' },

  ...['//evil', '///', '/?', '/???', '/#x', '/..//..', '/%00', '/?a=%E0%A4%A', '/"<>^`{|}'].map(text => target(text)),
  ...['/__proto__?__proto__[a]=b&constructor=c', '/?callbackToken=%E0%A4%A&callbackToken=.'].map(text => target(text)),
  ...[`/${'a'.repeat(8_000)}`, `/?${'a=%&'.repeat(2_000)}`, `/${'../'.repeat(2_000)}`].map(text => target(text)),
  target('*', 200, { Nest: 404, Hono: 400 }),
  target('/%', 200, { Fastify: 400, Nest: 400 }),
  target('/%ff%fe', 200, { Fastify: 400, Nest: 400 }),
  target('/\\..\\', 200, { Hono: 400 }),
  target('http://evil/a?b#c', 200, { Fastify: 400 }),
  target('http://a@c:99999', 200, { Fastify: 400, Hono: 400 }),
  ...['evil', '/\x01', '/ /'].map(text => target(text, 'refusedByParser')),
  target(`/${'a'.repeat(17_000)}`, 'refusedByParser'),

  headers(['X-Name: \xe9\xff']),
  headers(['X-Name: a\tb']),
  headers(["!#$%&'*+-.^_`|~: a"]),
  headers(['__proto__: a', 'constructor: b', 'toString: c', 'hasOwnProperty: d']),
  headers(['Cookie: a=b', 'Cookie: c', 'Set-Cookie: a', 'Set-Cookie: b']),
  headers(Array.from({ length: 500 }, (_, index) => `a${index}: b`)),
  headers(['Expect: 100-continue']),
  headers(['Expect: x'], 417),
  headers(['Content-Encoding: gzip'], 200, { Nest: 400 }),
  headers(['Content-Encoding: x'], 200, { Nest: 415 }),
  headers(['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: a', 'Sec-WebSocket-Version: 13']),
  headers(['Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
  headers(['Connection: close'], [200, 'closed']),
  headers(['Connection: content-length, host']),
  headers(['Trailer: content-length']),
  headers(['X-HTTP-Method-Override: DELETE', 'X-Forwarded-Host: a@c', 'Forwarded: host="']),
  ...['X-Name: a\x00b', 'X-Name: a\nX-Other: b', ': a', LENGTH, CHUNKED, 'Transfer-Encoding: gzip'].map(line =>
    headers([line], 'refusedByParser'),
  ),
  ...[';;=/"\xff', '', 'application/json; charset=utf-99', 'multipart/form-data', 'text/html'].map(
    (type): Hostile => ({
      name: `Content-Type: ${type}`,
      bytes: request('POST / HTTP/1.1', [HOST, `Content-Type: ${type}`, LENGTH], callback),
      answer: 200,
      but: type.includes('charset') ? { Nest: 415 } : { Fastify: 415 },
    }),
  ),

  { name: 'no length, and a body', bytes: post([]), answer: 400 },
  length(0, 400),
  length(callback.length - 9, 400),
  ...['-1', 'abc', '99999999999999999999999'].map(value => length(value, 'refusedByParser')),
  { ...length('9007199254740993', [413, 'closed']), isUnending: true },
  { ...length(LIMIT + 1, [413, 'closed'], 'half'), isUnending: true },
  { ...length(LIMIT + 1, [413, 'closed'], `half${last}`), isUnending: true },
  length(LIMIT + 1, 413, 'x'.repeat(LIMIT + 1)),
  length(LIMIT, 400, 'x'.repeat(LIMIT)),

  chunks('a callback', chunk(callback) + END, 200),
  chunks('a byte at a time', [...callback].map(chunk).join('') + END, 200),
  chunks('extensions and trailers', `3;a="b"\r\n\t\r\n\r\n0\r\nX-Trailer: a\r\n\r\n`, 400),
  chunks('nothing', END, 400),
  chunks('above the limit', chunk('x'.repeat(LIMIT + 1)) + END, 413),
  { ...chunks('above the limit, without end', chunk('x'.repeat(LIMIT + 1)), [413, 'closed']), isUnending: true },
  chunks('no size', 'zz\r\nhalf\r\n', 'refusedByParser'),
  chunks('too small a size', `3\r\n${callback}\r\n`, 'refusedByParser'),

  ...cut('nothing at all', '').map((each): Hostile => ({ ...each, answer: 'gone' })),
  ...cut('half a line', 'POST / HT'),
  ...cut('half a header', 'POST / HTTP/1.1\r\nHost: sh'),
  ...cut('no body', post([LENGTH], '')),
  ...cut('half a body', post([LENGTH], 'half')),
  ...cut('a body that is too short', post([lengthOf(`${callback} `)])),
  ...cut('half a chunk', post([CHUNKED], 'ff\r\nhalf')),
  ...cut('chunks without the last', post([CHUNKED], chunk(callback))),
  ...cut('no body, after Expect', post(['Expect: 100-continue', LENGTH], '')),
  { name: 'a callback, then RST', bytes: post([LENGTH]), end: 'rst', answer: 'gone' },

  { name: 'two callbacks at once', bytes: post([LENGTH]) + last, answer: [200, 200, 'closed'] },
  {
    name: 'a callback behind a refused one',
    bytes: post([lengthOf('no')], 'no') + last,
    answer: [400, 200, 'closed'],
    but: { Fastify: [400, 'closed'] },
  },
  {
    name: 'a callback as the body of a GET',
    bytes: request('GET / HTTP/1.1', [HOST, lengthOf(last)], last),
    answer: 405,
  },
  // Node breaks the connection off before the first is answered.
  { name: 'something behind a callback', bytes: `${post([LENGTH])}garbage`, answer: 'refusedByParser' },

  body('nothing', ''),
  body('null', 'null'),
  body('a number', '1'),
  body('a long number', '1'.repeat(90_000)),
  body('a text', '"x"'),
  body('an array', '[]'),
  body('an object', '{}'),
  body('NaN', 'NaN'),
  body('NULs', '\0'.repeat(1_000)),
  body('half a callback', callback.slice(0, -2)),
  body('two callbacks', callback + callback),
  body('UTF-16', Buffer.from(`\ufeff${callback}`, 'utf16le').toString('latin1')),
  body('wrapped', `{"result":${callback}}`, 200),
  body('many keys', `{${Array.from({ length: 9_000 }, (_, index) => `"a${index}":1`)}}`),
  body('unclosed arrays', '['.repeat(100_000)),
  body('deep arrays', nested(100_000)),
  body('deep objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`),
  body('deep arrays in a callback', callbackWith(`"x":${nested(100_000)}`), 200, { Nest: 413 }),
  body('deep arrays for an amount', callbackWith(`"amount":${nested(100_000)}`), 200, { Nest: 413 }),
  body('a prototype for an id', `{"__proto__":${callback}}`),
  body('a prototype', callbackWith('"__proto__":{"id":1,"paymentStatus":2}'), 200, { Fastify: 400 }),
  body('a constructor', callbackWith('"constructor":{"prototype":{"a":1}}'), 200, { Fastify: 400 }),
  body('methods', callbackWith('"toString":1,"toJSON":1,"amount":{"toString":1,"valueOf":1}'), 200),
  body('a lone surrogate', callbackWith('"reference":"\\ud800"'), 200),
  body('an infinite amount', callbackWith('"amount":1e999'), 200),
  body('a byte order mark', bytesOf('\ufeff') + callback, 200),
  // Fastify's parser replaces what is not UTF-8.
  body('bytes that are not UTF-8', callbackWith('"x":"\xff\xfe"'), 400, { Fastify: 200 }),
];

/** A framework may refuse a bad request before the handler does. */
export function wantedOf({ answer, but }: Pick<Hostile, 'answer' | 'but'>, server: ServerName | 'node:http2') {
  if (server === 'node:http2') return answer;
  const own = but?.[server];
  if (own !== undefined) return own;
  return server !== 'node:http' && isRefusal(answer) ? 'refused' : answer;
}

const isRefusal = (status: unknown) => typeof status === 'number' && status >= 400;

export function isRight(wanted: Answer | 'refused', outcome: Outcome): boolean {
  const [status] = outcome;
  const end = outcome.at(-1);
  if (Array.isArray(wanted)) return String(outcome) === String(wanted);
  if (wanted === 'gone') return end !== 'silent';
  if (wanted === 'refusedByParser') return end === 'closed' && (status === 'closed' || isRefusal(status));
  return wanted === 'refused' ? isRefusal(status) : status === wanted;
}

export const untilOf = (answer: Answer) =>
  answer === 'refusedByParser' || Array.isArray(answer) ? 'closed' : 'answer';

export const mistake = (name: string, wanted: unknown, got: unknown) => `${name.slice(0, 80)}: ${got}, not ${wanted}`;
