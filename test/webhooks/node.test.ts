// toNodeHandler with node:http, Express and Fastify, and their body parsers.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { toNodeHandler } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import type { NodeRequest, NodeResponse } from '../../src/webhooks/node.ts';
import { callback, openShop } from '../support/shop-callbacks.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function setUp(options: Parameters<typeof openShop>[0] = {}) {
  const shop = openShop(options);
  return { ...shop, node: toNodeHandler(shop.handler) };
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
  it.each([
    ['by itself', []],
    ['after express.json()', [express.json()]],
    ['after express.raw()', [express.raw({ type: '*/*' })]],
    ['after express.text()', [express.text({ type: '*/*' })]],
    ['after a parser of forms', [express.urlencoded()]],
  ])('serves Express %s', async (_, middleware) => {
    const { node, effects } = setUp();
    const app = express();
    for (const each of middleware) app.use(each);
    app.post('/callbacks', node);
    const url = await serve(app);
    expect(await post(`${url}/callbacks`)).toBe('200 handled');
    expect(effects).toMatchObject([{ description: 'Zamówienie 5/8 😀' }]);
  });

  it('answers 503 after a parser of forms has changed the body, and names the fix', async () => {
    const { node, effects, errors } = setUp();
    const app = express();
    app.use(express.json(), express.urlencoded());
    app.post('/callbacks', node);
    const url = `${await serve(app)}/callbacks`;
    // The default content type of PHP's curl.
    expect(await post(url, callback, 'application/x-www-form-urlencoded')).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ message: expect.stringContaining('register this route before body parsers') }]);
    const before = express();
    before.post('/callbacks', node);
    before.use(express.urlencoded());
    const type = 'application/x-www-form-urlencoded';
    expect(await post(`${await serve(before)}/callbacks`, callback, type)).toBe('200 handled');
    expect(effects).toHaveLength(1);
  });

  it('accepts a body that was parsed as JSON and sent as a form', async () => {
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
  ])('passes on the headers, and the path and query of %s', async (target, expected) => {
    const node = toNodeHandler(async ({ url, headers }) => new Response(`${url} ${headers.get('content-type')}`));
    // Routers and proxies write it.
    const url = await serve((request: NodeRequest, response: NodeResponse) =>
      node(Object.assign(request, { url: target }), response),
    );
    expect(await post(url, callback, 'application/x-own')).toBe(`200 http://localhost${expected} application/x-own`);
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
  ])('answers 503 for a handler that %s', async (_, handler) => {
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

  it('gives verify the bytes that a framework kept, or names the fix', async () => {
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

  it('answers 503 if something has read the body, and names the fix', async () => {
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

  it('continues its work after the caller has gone', async () => {
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

  it('leaves the answer alone if something else has answered', async () => {
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
    expect(await post(url)).toBe('504 the time is up');
  });
});
