import { once } from 'node:events';
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import Fastify, { type FastifyInstance } from 'fastify';
import { createWebhookHandler, type Payment, toNodeHandler, type WebhookHandlerOptions } from 'payment-gateway-sdk';
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
    const parsed = express();
    parsed.use(express.json());
    parsed.post('/', node);
    expect(await post(await serve(raw))).toBe('200 handled');
    expect(await post(await serve(beside))).toBe('200 handled before');
    expect(await post(await serve(parsed))).toBe('503 already_parsed');
    expect(seen).toEqual([callback, callback]);
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
    const url = new URL(await serve(node));
    const socket = connect(Number(url.port), url.hostname);
    socket.write('POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 1000\r\n\r\nhalf');
    await new Promise(resolve => setTimeout(resolve, 50));
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
    const url = await serve((request: never, response: { writeHead(status: number): { end(): void } }) => {
      node(request, response as never).then(
        () => outcomes.push('resolved'),
        error => outcomes.push(error),
      );
      setTimeout(() => {
        response.writeHead(504).end();
        slow.resolve();
      }, 20);
    });
    expect(await post(url)).toBe('504 ');
    await expect.poll(() => outcomes).toEqual(['resolved']);
  });
});
