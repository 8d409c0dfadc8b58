// Whatever arrives on the wire is answered, or its connection is closed; nothing throws, and nothing stays open.
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import * as http2 from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { serve } from '@hono/node-server';
import { All, Controller, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import {
  createWebhookHandler,
  GatewayClient,
  type NodeRequest,
  type NodeResponse,
  toNodeHandler,
} from 'payment-gateway-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { KEYS, record } from '../support/fixtures.ts';
import {
  type Http2Request,
  type Outcome,
  openHttp2,
  type RawRequest,
  sendHttp2,
  sendRaw,
} from '../support/raw-http.ts';
import { json, wire } from '../support/wire.ts';

type ServerName = 'node:http' | 'Express' | 'Fastify' | 'Nest' | 'Hono';

/**
 * What comes back: a status; all of them, until the server closes the connection; `refusedByParser`, if Node itself
 * answers 4xx or nothing, and closes; or `gone`, if nobody waits for it.
 */
type Answer = number | Outcome | 'refusedByParser' | 'gone';

interface Hostile extends RawRequest {
  name: string;
  /** Of node:http. Where it is 4xx, a framework may say another 4xx or 5xx. */
  answer: Answer;
  /** Frameworks that answer something else themselves. */
  but?: Partial<Record<ServerName, Answer>>;
  /** The body does not end: a framework that parses it waits on, so it is not tried there. */
  isUnending?: true;
}

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');
const callback = bytesOf(record('completed CARD callback'));
const callbackWith = (fields: string) => `${callback.slice(0, -1)},${fields}}`;

const lengthOf = (body: string) => `Content-Length: ${body.length}`;
const LENGTH = lengthOf(callback);
const HOST = 'Host: shop';
const TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
/** Bytes of the largest body that the handler reads. */
const LIMIT = 262_144;

const request = (line: string, headers: string[], body = '') => `${[line, ...headers, '', ''].join('\r\n')}${body}`;
const post = (headers: string[], body = callback) => request('POST / HTTP/1.1', [HOST, TYPE, ...headers], body);
const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;
const END = chunk('');
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
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
/** Beside a genuine callback. */
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

const HOSTILE: Hostile[] = [
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'QUERY', 'PURGE'].map(name =>
    method(name),
  ),
  method('BREW', 'refusedByParser'),
  method('post', 'refusedByParser'),
  method('', 'refusedByParser'),
  method('CONNECT', 'refusedByParser'),
  { name: 'CONNECT shop:443', bytes: request('CONNECT shop:443 HTTP/1.1', [HOST]), answer: 'refusedByParser' },

  ...['0.9', '1.0', '2.0'].map(name => version(name, 200)),
  ...['1.2', '3.0', '9.9', '1', 'x', ''].map(name => version(name, 'refusedByParser')),
  { name: 'HTTP/0.9 as it was', bytes: 'POST /\r\n\r\n', answer: 'refusedByParser' },
  { name: "HTTP/2's first bytes", bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', answer: 'refusedByParser' },
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
  ...['?', 'evil', 'shop:443', 'http:', 'javascript:alert(1)'].map(text => target(text, 'refusedByParser')),
  ...['/\x01', '/\xff\xfe', bytesOf('/żółw😀'), '/ /', ''].map(text => target(text, 'refusedByParser')),
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
  ...[
    'X-Name: a\x00b',
    'X-Name: a\x01b',
    'X-Name: a\x7fb',
    'X-Name: a\rb',
    'X-Name: a\nX-Other: b',
    'X-Name: a\r\n b',
    'X Name: a',
    'X-Name',
    ': a',
    `X-Name: ${'a'.repeat(20_000)}`,
    LENGTH,
    `${LENGTH}, ${callback.length}`,
    CHUNKED,
    'Transfer-Encoding: gzip',
  ].map(line => headers([line], 'refusedByParser')),
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
  ...['-1', '+1', 'abc', '1e3', '0x10', '', '99999999999999999999999'].map(value => length(value, 'refusedByParser')),
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
  chunks('no second size', `${chunk('half')}zz\r\n`, 'refusedByParser'),
  chunks('a negative size', '-4\r\nhalf\r\n', 'refusedByParser'),
  chunks('a size beyond 64 bits', 'fffffffffffffffff\r\nhalf\r\n', 'refusedByParser'),
  chunks('too small a size', `3\r\n${callback}\r\n`, 'refusedByParser'),
  chunks('a long extension', `1;${'a'.repeat(20_000)}\r\nx\r\n`, 'refusedByParser'),

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

interface Http2Hostile extends Http2Request {
  name: string;
  answer: Answer;
}

const http2Header = (name: string, value: string, answer: Answer = 200): Http2Hostile => ({
  name: `${name} ${value}`,
  headers: { [name]: value },
  body: callback,
  answer,
});

const HOSTILE_HTTP2: Http2Hostile[] = [
  { name: 'pseudo headers only', headers: {}, answer: 400 },
  { name: 'a callback without a length', headers: {}, body: callback, answer: 200 },
  { name: 'CONNECT', headers: { ':method': 'CONNECT', ':authority': 'shop:443' }, answer: 405 },
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'BREW', 'post'].map(name =>
    http2Header(':method', name, 405),
  ),
  http2Header(':method', 'A B', 'refusedByParser'),
  ...['[::1', 'x:99999', '%00'].map(name => http2Header(':authority', name)),
  ...['a@c', 'a b:c', '', '<script>', 'żółw'].map(name => http2Header(':authority', name, 'refusedByParser')),
  ...['//evil', '/%', '/%ff%fe', '/?a=%E0%A4%A', '/#x', '/..//..', '/\xff', `/${'a'.repeat(8_000)}`].map(path =>
    http2Header(':path', path),
  ),
  ...['*', '', 'evil', 'http://evil/x', '/\x01', '/a b'].map(path => http2Header(':path', path, 'refusedByParser')),
  http2Header(':scheme', 'ftp'),
  http2Header(':scheme', 'a b', 'refusedByParser'),
  http2Header('host', 'evil'),
  http2Header('host', 'a@c', 'refusedByParser'),
  http2Header('expect', '100-continue'),
  http2Header('expect', 'x', 417),
  http2Header('te', 'trailers'),
  http2Header('content-type', ';;=/"\xff'),
  http2Header('content-encoding', 'gzip'),
  http2Header('x-name', '\xe9\xff'),
  http2Header('x-name', 'a\x01b'),
  http2Header('x-name', 'a'.repeat(70_000), 'refusedByParser'),
  http2Header('content-length', '-1', 'refusedByParser'),
  http2Header('content-length', '3', 'refusedByParser'),
  http2Header('content-length', '3000', 'refusedByParser'),
  { name: 'not JSON', headers: {}, body: 'nope', answer: 400 },
  { name: 'a GET without end', headers: { ':method': 'GET' }, body: 'half', end: 'nothing', answer: [405, 'closed'] },
  { name: 'above the limit', headers: {}, body: 'x'.repeat(300_000), answer: [413, 'closed'] },
  { name: 'far above the limit', headers: {}, body: 'x'.repeat(1_000_000), answer: [413, 'closed'] },
  {
    name: 'above the limit, without end',
    headers: {},
    body: 'x'.repeat(300_000),
    end: 'nothing',
    answer: [413, 'closed'],
  },
  {
    name: 'said to be above the limit',
    headers: { 'content-length': '300000' },
    body: 'half',
    end: 'nothing',
    answer: [413, 'closed'],
  },
  { name: 'half a body, then a reset', headers: {}, body: 'half', end: 'reset', answer: 'gone' },
  { name: 'half a body, then gone', headers: {}, body: 'half', end: 'gone', answer: 'gone' },
  { name: 'a callback, then a reset', headers: {}, body: callback, end: 'reset', answer: 'gone' },
  { name: 'no body, then gone', headers: {}, end: 'gone', answer: 'gone' },
];

/** A framework may refuse in its own way what the handler would refuse. */
function wantedOf({ answer, but }: Pick<Hostile, 'answer' | 'but'>, server: ServerName | 'node:http2') {
  if (server === 'node:http2') return answer;
  const own = but?.[server];
  if (own !== undefined) return own;
  return server !== 'node:http' && isRefusal(answer) ? 'refused' : answer;
}

const isRefusal = (status: unknown) => typeof status === 'number' && status >= 400;

function isRight(wanted: Answer | 'refused', outcome: Outcome): boolean {
  const [status] = outcome;
  const end = outcome.at(-1);
  if (Array.isArray(wanted)) return String(outcome) === String(wanted);
  if (wanted === 'gone') return end !== 'silent';
  if (wanted === 'refusedByParser') return end === 'closed' && (status === 'closed' || isRefusal(status));
  return wanted === 'refused' ? isRefusal(status) : status === wanted;
}

const untilOf = (answer: Answer) => (answer === 'refusedByParser' || Array.isArray(answer) ? 'closed' : 'answer');

const mistake = (name: string, wanted: unknown, got: unknown) => `${name.slice(0, 80)}: ${got}, not ${wanted}`;

type NodeListener = (request: NodeRequest, response: NodeResponse) => Promise<void>;
type WebHandler = (request: Request) => Promise<Response>;

const listening = async (server: Server): Promise<Server> => {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
};

/** Each takes every method and path, so that as much as possible reaches the handler. */
const SERVERS: Record<ServerName | 'node:http2', (node: NodeListener, web: WebHandler) => Promise<Server>> = {
  'node:http': node => listening(createServer(node)),
  'node:http2': node => listening(http2.createServer(node)),
  Express: node => listening(createServer(express().use(node) as RequestListener)),
  Fastify: async node => {
    const app = Fastify();
    app.all('/*', node);
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },
  Nest: async node => {
    @Controller()
    class CallbacksController {
      @All('{*path}')
      take(@Req() request: NodeRequest, @Res() response: NodeResponse) {
        return node(request, response);
      }
    }
    @Module({ controllers: [CallbacksController] })
    class ShopModule {}
    const app = await NestFactory.create(ShopModule, { rawBody: true, logger: false });
    return app.listen(0, '127.0.0.1');
  },
  Hono: (_, web) => {
    const app = new Hono().all('*', ({ req }) => web(req.raw));
    return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server);
  },
};

const PARSING: readonly string[] = ['Fastify', 'Nest'];

/** A shop that counts what it is at, and keeps what its handlers throw. */
async function open(name: keyof typeof SERVERS) {
  const seen = { atWork: 0, thrown: [] as unknown[] };
  const watched =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      seen.atWork += 1;
      try {
        return await work(...given);
      } catch (error) {
        seen.thrown.push(error);
        throw error;
      } finally {
        seen.atWork -= 1;
      }
    };
  const { fetch } = wire(json(record('completed lookup')));
  const handler = createWebhookHandler({
    gateway: new GatewayClient({ ...KEYS, fetch, signCallbackUrls: true }),
    onPayment: () => {},
    onError: () => {},
  });
  const web = watched(handler);
  const server = await SERVERS[name](watched(toNodeHandler(web)), web);
  return { server, port: (server.address() as AddressInfo).port, seen };
}

const connectionsOf = (server: Server) =>
  new Promise<number>(resolve => server.getConnections((_, count) => resolve(count)));

/** Whether the server ends by itself. */
const closing = (server: Server) =>
  new Promise<string>(resolve => {
    setTimeout(resolve, 20_000, 'still open');
    server.close(() => resolve('closed'));
  });

const escaped: unknown[] = [];
const keep = (error: unknown) => void escaped.push(error);
beforeAll(() => void process.on('unhandledRejection', keep).on('uncaughtException', keep));
afterEach(() => expect(escaped.splice(0)).toEqual([]));
afterAll(() => void process.off('unhandledRejection', keep).off('uncaughtException', keep));

/** A body that does not go on, by a clock that the test sets ahead. */
async function standStill(answer: () => Promise<Outcome>): Promise<Outcome> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    const outcome = answer();
    while (vi.getTimerCount() < 2) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(10_000);
    return await outcome;
  } finally {
    vi.useRealTimers();
  }
}

describe.each(['node:http', 'Express', 'Fastify', 'Nest', 'Hono'] as const)('%s', name => {
  let shop: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    shop = await open(name);
  });

  it('answers whatever arrives, and a genuine callback after it', { timeout: 30_000 }, async () => {
    const mistakes: string[] = [];
    const waiting = HOSTILE.filter(({ isUnending }) => !isUnending || !PARSING.includes(name));
    const sendAll = async () => {
      for (let hostile = waiting.shift(); hostile; hostile = waiting.shift()) {
        const wanted = wantedOf(hostile, name);
        const outcome = await sendRaw(shop.port, hostile, untilOf(hostile.answer));
        if (!isRight(wanted, outcome)) mistakes.push(mistake(hostile.name, wanted, outcome));
        const [after] = await sendRaw(shop.port, { bytes: post([LENGTH]) }, 'answer');
        if (after !== 200) mistakes.push(mistake(`a callback after ${hostile.name}`, 200, after));
      }
    };
    await Promise.all(Array.from({ length: 8 }, sendAll));
    expect(mistakes).toEqual([]);
  });

  // A framework that parses the body waits for it by its own clock.
  if (!PARSING.includes(name)) {
    it('answers 503 to a body that stands still for ten seconds, and closes', async () => {
      const half = { bytes: post([LENGTH], 'half') };
      expect(await standStill(() => sendRaw(shop.port, half, 'closed'))).toEqual([503, 'closed']);
    });
  }

  // Whatever came before: it throws nothing, and leaves nothing open.
  afterAll(async () => {
    await vi.waitFor(() => expect(shop.seen).toEqual({ atWork: 0, thrown: [] }), 10_000);
    await vi.waitFor(async () => expect(await connectionsOf(shop.server)).toBe(0), 10_000);
    expect(await closing(shop.server)).toBe('closed');
  });
});

describe('node:http2', () => {
  let shop: Awaited<ReturnType<typeof open>>;
  const opened = { streams: 0, sessions: 0 };
  const count = (what: keyof typeof opened) => (each: http2.ServerHttp2Session | http2.ServerHttp2Stream) => {
    opened[what] += 1;
    each.once('close', () => {
      opened[what] -= 1;
    });
  };
  beforeAll(async () => {
    shop = await open('node:http2');
    shop.server.on('session', count('sessions')).on('stream', count('streams'));
  });

  /** @returns what is still open once the caller has closed everything */
  const leftOpen = async (): Promise<string> => {
    const before = performance.now();
    while (opened.streams + opened.sessions > 0 && performance.now() < before + 20_000) await new Promise(setImmediate);
    const left = JSON.stringify(opened);
    Object.assign(opened, { streams: 0, sessions: 0 });
    return left;
  };

  it('answers whatever arrives, and a genuine callback after it, and closes their streams', {
    timeout: 60_000,
  }, async () => {
    const mistakes: string[] = [];
    for (const hostile of HOSTILE_HTTP2) {
      const { name, answer, end } = hostile;
      const session = openHttp2(shop.port);
      const outcome = await sendHttp2(session, hostile, untilOf(answer));
      if (!isRight(answer, outcome)) mistakes.push(mistake(name, answer, outcome));
      // A breach of the protocol may cost the session.
      const next = answer === 'refusedByParser' || end === 'gone' ? openHttp2(shop.port) : session;
      const after = await sendHttp2(next, { headers: {}, body: callback }, 'closed');
      if (!isRight([200, 'closed'], after)) mistakes.push(mistake(`a callback after ${name}`, 200, after));
      session.destroy();
      next.destroy();
      const left = await leftOpen();
      if (left !== '{"streams":0,"sessions":0}') mistakes.push(mistake(`left open after ${name}`, 'nothing', left));
    }
    expect(mistakes).toEqual([]);
  });

  it('closes the connection of another protocol', async () => {
    const others = HOSTILE.filter(({ name }) => /^(HTTP\/[^2]|TLS)/.test(name));
    expect(others.length).toBeGreaterThan(8);
    for (const other of others) expect(await sendRaw(shop.port, other, 'closed')).toEqual(['closed']);
  });

  it('answers 503 to a body that stands still for ten seconds, and closes its stream', async () => {
    const session = openHttp2(shop.port);
    const half = { headers: {}, body: 'half', end: 'nothing' } as const;
    expect(await standStill(() => sendHttp2(session, half, 'closed'))).toEqual([503, 'closed']);
    session.destroy();
  });

  // Whatever came before: it throws nothing, and leaves nothing open.
  afterAll(async () => {
    await vi.waitFor(() => expect(shop.seen).toEqual({ atWork: 0, thrown: [] }), 10_000);
    expect(await closing(shop.server)).toBe('closed');
  });
});

describe('the web handler', () => {
  const handler = createWebhookHandler({
    gateway: { getPayment: async () => JSON.parse(record('completed CARD callback')) },
    onPayment: () => {},
    onError: () => {},
  });
  const streaming = (...given: unknown[]): Request => {
    const stream = new ReadableStream({
      pull: controller => {
        if (given.length === 0) controller.error(new Error('gone'));
        else controller.enqueue(given.shift());
      },
    });
    return new Request('http://shop', { method: 'POST', body: stream, duplex: 'half' } as RequestInit);
  };
  const locked = () => {
    const request = streaming();
    request.body?.getReader();
    return request;
  };
  const plain = (fields: RequestInit) => new Request('http://[::1]:1//%?%#%', fields);

  it.each<[string, number, () => Request]>([
    ['an unknown method', 405, () => plain({ method: 'BREW' })],
    ['no body', 400, () => plain({ method: 'POST' })],
    ['a length that is no number', 400, () => plain({ method: 'POST', headers: { 'content-length': '-1e999' } })],
    ['an infinite length', 413, () => plain({ method: 'POST', headers: { 'content-length': '1e999' }, body: 'x' })],
    ['a body that breaks off at once', 503, () => streaming()],
    ['a body that breaks off', 503, () => streaming(Buffer.from('half'))],
    ['a body above the limit that would break off', 413, () => streaming(Buffer.alloc(LIMIT), Buffer.alloc(1))],
    ['a body of text', 503, () => streaming('half')],
    ['a body of anything', 503, () => streaming({}, null, [], Symbol('x'))],
    ['a body that somebody reads', 503, locked],
  ])('answers %s with %i', async (_, status, request) => {
    expect((await handler(request())).status).toBe(status);
    expect((await handler(plain({ method: 'POST', body: record('completed CARD callback') }))).status).toBe(200);
  });
});
