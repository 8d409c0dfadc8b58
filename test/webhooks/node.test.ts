import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import http2 from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import {
  createWebhookHandler,
  type NodeRequest,
  type NodeResponse,
  type Payment,
  toNodeHandler,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { record } from '../support/fixtures.ts';

const callback = record('completed CARD callback');
const completed: Payment = JSON.parse(callback);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function setUp(options: Partial<WebhookHandlerOptions> = {}) {
  const effects: Payment[] = [];
  const errors: { code?: string }[] = [];
  const handler = createWebhookHandler({
    gateway: { getPayment: async () => completed },
    onPayment: payment => void effects.push(payment),
    onError: error => void errors.push(error as { code?: string }),
    ...options,
  });
  return { node: toNodeHandler(handler), effects, errors };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: unknown) => listening(createServer(listener as RequestListener));

async function post(url: string, body: string = callback, type = 'application/json'): Promise<string> {
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } });
  return `${response.status} ${await response.text()}`;
}

describe('toNodeHandler', () => {
  it('serves node:http', async () => {
    const { node, effects } = setUp();
    const url = await serve(node);
    expect([await post(url), await post(url), await post(url, 'nope')]).toEqual([
      '200 handled',
      '200 handled before',
      '400 not_json',
    ]);
    expect(effects).toMatchObject([{ description: 'Zamówienie 5/8 😀' }]);
  });

  it.each([
    ['by itself', []],
    ['after express.json()', [express.json()]],
    ['after express.raw()', [express.raw({ type: '*/*' })]],
    ['after express.text()', [express.text({ type: '*/*' })]],
    ['after a parser of forms, which leaves JSON alone', [express.urlencoded()]],
  ])('serves Express %s', async (_, middleware) => {
    const { node, effects } = setUp();
    const app = express();
    for (const each of middleware) app.use(each);
    app.post('/callbacks', node);
    const url = await serve(app);
    expect(await post(`${url}/callbacks`)).toBe('200 handled');
    expect(effects).toMatchObject([{ description: 'Zamówienie 5/8 😀' }]);
  });

  it('asks to come before a parser of forms that has torn JSON apart, and nothing is lost', async () => {
    const { node, effects, errors } = setUp();
    const app = express();
    app.use(express.json(), express.urlencoded());
    app.post('/callbacks', node);
    const url = `${await serve(app)}/callbacks`;
    // What PHP sends unless told otherwise.
    expect(await post(url, callback, 'application/x-www-form-urlencoded')).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ message: expect.stringContaining('register this route before body parsers') }]);
    const before = express();
    before.post('/callbacks', node);
    before.use(express.urlencoded());
    const type = 'application/x-www-form-urlencoded';
    expect(await post(`${await serve(before)}/callbacks`, callback, type)).toBe('200 handled');
    expect(effects).toHaveLength(1);
  });

  it('takes a body that was parsed as JSON, though it was sent as a form', async () => {
    const { node, effects } = setUp();
    const app = express();
    app.use(express.json({ type: () => true }));
    app.post('/callbacks', node);
    const url = `${await serve(app)}/callbacks`;
    expect(await post(url, callback, 'application/x-www-form-urlencoded')).toBe('200 handled');
    expect(effects).toHaveLength(1);
    expect(await post(url, '{"id":"order-1"}', 'application/x-www-form-urlencoded')).toBe('503 already_parsed');
    expect(await post(url, '[1]', 'application/x-www-form-urlencoded')).toBe('503 already_parsed');
  });

  it('serves Express behind a router, whatever the type of the body is said to be', async () => {
    const { node } = setUp();
    const app = express();
    const router = express.Router();
    router.post('/gateway', node);
    app.use(express.json());
    app.use('/callbacks', router);
    const url = await serve(app);
    expect(await post(`${url}/callbacks/gateway`, callback, 'text/plain')).toBe('200 handled');
  });

  it.each([
    ['/callbacks?callbackToken=a.b', '/callbacks?callbackToken=a.b'],
    ['/', '/'],
    ['/a?b=1?c=2', '/a?b=1?c=2'],
    ['/a?b=1#c?d', '/a?b=1'],
    ['https://shop.example/a?b=1', '/a?b=1'],
    ['HTTPS://user@shop.example:8443/a', '/a'],
    ['s3+x.y-z://shop/a', '/a'],
    ['https://shop.example', '/'],
    ['/to/https://shop.example/a', '/to/https://shop.example/a'],
    ['//shop.example/a', '//shop.example/a'],
  ])('hands on path and query of %s', async (target, expected) => {
    const seen: string[] = [];
    const node = toNodeHandler(async ({ url }) => {
      seen.push(url);
      return new Response();
    });
    // Routers and proxies write it.
    const url = await serve((request: NodeRequest, response: NodeResponse) =>
      node(Object.assign(request, { url: target }), response),
    );
    expect(await post(url)).toBe('200 ');
    expect(seen).toEqual([`http://localhost${expected}`]);
  });

  it('takes a request whose middleware keeps other things in `raw`', async () => {
    const { node, errors } = setUp();
    const url = await serve((request: NodeRequest, response: NodeResponse) =>
      node(Object.assign(request, { raw: Buffer.from('a') }), Object.assign(response, { raw: undefined })),
    );
    expect([await post(url), errors]).toEqual(['200 handled', []]);
  });

  it('answers 400 to a body whose getter throws, and reports it', async () => {
    const { node, errors } = setUp();
    const url = await serve((request: NodeRequest, response: NodeResponse) => {
      const get = () => {
        throw new Error('no parser');
      };
      return node(Object.defineProperty(request, 'body', { get }), response);
    });
    expect([await post(url), errors]).toMatchObject(['400 not_json', [{ code: 'not_json' }]]);
  });

  it('hands on the headers', async () => {
    const node = toNodeHandler(async ({ headers }) => new Response(headers.get('content-type')));
    expect(await post(await serve(node), callback, 'application/x-own')).toBe('200 application/x-own');
  });

  it.each<[string, () => Promise<Response>]>([
    ['rejects', () => Promise.reject(new Error('shop'))],
    [
      'throws',
      () => {
        throw new Error('shop');
      },
    ],
    ['answers nothing', async () => undefined as never],
  ])('answers 503 for a handler that %s, so that the callback comes again', async (_, handler) => {
    const response = await fetch(await serve(toNodeHandler(handler)), { method: 'POST', body: callback });
    expect([response.status, await response.text()]).toEqual([503, 'failed']);
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'content-type': 'text/plain', 'retry-after': '10' });
  });

  it('closes the connection if no answer can be written', async () => {
    const { node } = setUp();
    const url = await serve((request: NodeRequest, response: ServerResponse) => {
      response.writeHead = () => {
        throw new Error('the framework');
      };
      return node(request, response);
    });
    await expect(post(url)).rejects.toThrow('fetch failed');
  });

  it('keeps the connection of a callback that was read', async () => {
    const response = await fetch(await serve(setUp().node), { method: 'POST', body: callback });
    expect(response.headers.get('connection')).toBe('keep-alive');
    await response.text();
  });

  it('closes the HTTP/2 stream of a body that it did not read', async () => {
    const server = http2.createServer(setUp({ maxBodyBytes: 1000 }).node);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    cleanups.push(() => {
      session.destroy();
      server.close();
    });
    const stream = session.request({ ':method': 'POST', ':path': '/', 'content-length': '2000' });
    stream.on('error', () => {});
    stream.resume();
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(413);
    await new Promise(resolve => stream.once('close', resolve));
  });

  it('takes the reply from Fastify at once, so that nothing else answers', async () => {
    const { node } = setUp();
    const app = Fastify();
    const isTaken: boolean[] = [];
    app.post('/callbacks', async (request, reply) => {
      const answered = node(request, reply);
      isTaken.push(reply.sent);
      await answered;
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    cleanups.push(() => app.close());
    expect(await post(`${url}/callbacks`)).toBe('200 handled');
    expect(isTaken).toEqual([true]);
  });

  it.each<[string, (app: FastifyInstance) => void]>([
    ['with its own parser', () => {}],
    [
      'with raw bytes',
      app => {
        app.removeAllContentTypeParsers();
        app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
      },
    ],
  ])('serves Fastify %s', async (_, configure) => {
    const { node, effects } = setUp();
    const app = Fastify();
    configure(app);
    app.post('/callbacks', node);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    cleanups.push(() => app.close());
    expect([await post(`${url}/callbacks`), await post(`${url}/callbacks`)]).toEqual([
      '200 handled',
      '200 handled before',
    ]);
    expect(effects).toHaveLength(1);
  });

  it('gives verify the bytes where a framework kept them, and names the fix where it did not', async () => {
    const seen: string[] = [];
    const { node, errors } = setUp({
      verify: (_request, rawBody) => {
        seen.push(Buffer.from(rawBody).toString());
        return true;
      },
    });
    const raw = express();
    raw.post('/', express.raw({ type: '*/*' }), node);
    const beside = express();
    beside.use(express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) }));
    beside.post('/', node);
    const text = express();
    text.post('/', express.text({ type: '*/*' }), node);
    const parsed = express();
    parsed.use(express.json());
    parsed.post('/', node);
    expect(await post(await serve(raw))).toBe('200 handled');
    expect(await post(await serve(beside))).toBe('200 handled before');
    expect(await post(await serve(text))).toBe('200 handled before');
    expect(await post(await serve(parsed))).toBe('503 already_parsed');
    expect(seen).toEqual([callback, callback, callback]);
    expect(errors).toMatchObject([{ code: 'already_parsed' }]);
  });

  it('says so when something has eaten the body, and loses nothing', async () => {
    const { node, errors } = setUp();
    const app = express();
    app.use(async (request, _response, next) => {
      for await (const _ of request);
      next();
    });
    app.post('/', node);
    expect(await post(await serve(app))).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('before body parsers') }]);
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'TRACE', 'OPTIONS'])('answers 405 to %s', async method => {
    const url = await serve(setUp().node);
    const status = await new Promise(resolve =>
      httpRequest(url, { method }, response => {
        response.resume();
        resolve(response.statusCode);
      }).end(),
    );
    expect(status).toBe(405);
  });

  it('bears with a Host header that is none', async () => {
    const url = new URL(await serve(setUp().node));
    const socket = connect(Number(url.port), url.hostname);
    socket.write(
      `POST / HTTP/1.1\r\nHost: a b:c\r\nContent-Length: ${Buffer.byteLength(callback)}\r\nConnection: close\r\n\r\n${callback}`,
    );
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answers 413 while the body still comes, and closes the connection', async () => {
    const url = new URL(await serve(setUp({ maxBodyBytes: 1000 }).node));
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n');
    const feeding = setInterval(() => socket.write(`400\r\n${'x'.repeat(1024)}\r\n`), 5);
    let answer = '';
    // What is written after the end may break the connection: that takes nothing of the answer away.
    socket.on('data', chunk => {
      answer += chunk;
    });
    await new Promise(resolve => socket.once('close', resolve));
    clearInterval(feeding);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i);
  });

  it('outlives a caller that goes away in the middle of its body', async () => {
    const { node, errors } = setUp();
    const arrived = Promise.withResolvers<void>();
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      request.once('data', () => arrived.resolve());
      return node(request, response);
    };
    const url = new URL(await serve(listener));
    const socket = connect(Number(url.port), url.hostname);
    socket.write('POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 1000\r\n\r\nhalf');
    await arrived.promise;
    socket.destroy();
    await expect.poll(() => errors.length).toBe(1);
    expect(await post(url.href)).toBe('200 handled');
  });

  it('goes on with its work when the caller has gone', async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const paid: string[] = [];
    const { node } = setUp({
      onPayment: async payment => {
        entered.resolve();
        await leave.promise;
        paid.push(payment.id);
      },
    });
    const url = await serve(node);
    const caller = new AbortController();
    const posting = fetch(url, { method: 'POST', body: callback, signal: caller.signal }).catch(() => 'gone');
    await entered.promise;
    caller.abort();
    expect(await posting).toBe('gone');
    leave.resolve();
    await expect.poll(() => paid).toHaveLength(1);
    expect(await post(url)).toBe('200 handled before');
  });

  it('stands back when something else has answered in the meantime', async () => {
    const slow = Promise.withResolvers<void>();
    const { node } = setUp({ onPayment: () => slow.promise });
    const outcomes: unknown[] = [];
    const url = await serve((request: never, response: ServerResponse) => {
      node(request, response).then(
        () => outcomes.push('resolved'),
        error => outcomes.push(error),
      );
      setTimeout(async () => {
        response.writeHead(504).write('the time ');
        slow.resolve();
        await expect.poll(() => outcomes).toEqual(['resolved']);
        response.end('is up');
      }, 20);
    });
    // The handler has not cut it.
    expect(await post(url)).toBe('504 the time is up');
  });
});
