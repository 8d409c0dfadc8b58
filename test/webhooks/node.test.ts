// toNodeHandler with node:http, Express and Fastify, and their body parsers.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { toNodeHandler } from 'payment-gateway-sdk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NodeRequest, NodeResponse } from '../../src/webhooks/node.ts';
import { throwing } from '../support/fixtures.ts';
import { callback, openShop } from './shop-callbacks.ts';

function setUp(options: Parameters<typeof openShop>[0] = {}) {
  const shop = openShop(options);
  return { ...shop, node: toNodeHandler(shop.handler) };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
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
  const JSON_TYPE = 'application/json';
  // The default of PHP's curl.
  const FORM = 'application/x-www-form-urlencoded';
  const ofAnyType = express.json({ type: () => true });
  const readAll: RequestHandler = async (request, _response, next) => {
    for await (const _ of request);
    next();
  };
  it.each<[string, RequestHandler[], type: string, body: string, answer: string]>([
    ['by itself', [], FORM, callback, '200 handled'],
    ['after express.json()', [express.json()], JSON_TYPE, callback, '200 handled'],
    ['after express.raw()', [express.raw({ type: '*/*' })], JSON_TYPE, callback, '200 handled'],
    ['after express.text()', [express.text({ type: '*/*' })], JSON_TYPE, callback, '200 handled'],
    ['after a parser of forms', [express.urlencoded()], JSON_TYPE, callback, '200 handled'],
    ['after a parser of forms that changed it', [express.urlencoded()], FORM, callback, '503 already_parsed'],
    ['after a parser of JSON of any type', [ofAnyType], FORM, callback, '200 handled'],
    ['after it, without an id', [ofAnyType], FORM, '{"id":"order-1"}', '503 already_parsed'],
    ['after it, without an object', [ofAnyType], FORM, '[1]', '503 already_parsed'],
    ['after something that has read the body', [readAll], JSON_TYPE, callback, '503 already_parsed'],
  ])('serves Express %s, or names the fix', async (_, middleware, type, body, answer) => {
    const { node, effects, errors } = setUp();
    const app = express();
    for (const each of middleware) app.use(each);
    app.post('/callbacks', node);
    expect(await post(`${await serve(app)}/callbacks`, body, type)).toBe(answer);
    if (answer === '200 handled') expect(effects).toMatchObject([{ description: 'Zamówienie 5/8 😀' }]);
    else
      expect(errors).toMatchObject([{ message: expect.stringContaining('register this route before body parsers') }]);
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
    // Routers and proxies write it, and middleware may keep anything in `raw`.
    const url = await serve((request: NodeRequest, response: NodeResponse) =>
      node(Object.assign(request, { url: target, raw: undefined }), response),
    );
    expect(await post(url, callback, 'application/x-own')).toBe(`200 http://localhost${expected} application/x-own`);
  });

  it('leaves out a header that middleware has set to text of another script', async () => {
    const { node } = setUp();
    const url = await serve((request: { headers: object } & NodeRequest, response: NodeResponse) => {
      Object.assign(request.headers, { 'x-user': 'Łukasz' });
      return node(request, response);
    });
    expect(await post(url)).toBe('200 handled');
  });

  it('serves Fastify, whose request and response contain those of Node, also one of them', async () => {
    const { node } = setUp();
    const hijack = vi.fn();
    const [both, response, request] = [
      await serve((raw: never, response: never) => node({ raw }, { raw: response, hijack })),
      await serve((raw: never, response: never) => node(raw, { raw: response, hijack })),
      await serve((raw: never, response: never) => node({ raw }, response)),
    ];
    const answers = [await post(both), await post(response), await post(request)];
    expect(answers).toEqual(['200 handled', '200 handled before', '200 handled before']);
    expect(hijack).toHaveBeenCalledTimes(2);
  });

  it('closes a connection with an unread body, and keeps any other', async () => {
    const url = await serve(setUp().node);
    const get = await fetch(url);
    expect([get.status, get.headers.get('allow'), await get.text()]).toEqual([405, 'POST', 'callbacks are posted']);
    const endless = new ReadableStream({ start: body => body.enqueue(Buffer.alloc(300_000)) });
    const large = await fetch(url, { method: 'POST', body: endless, duplex: 'half' } as RequestInit);
    const [kept, closed] = [get, large].map(({ headers }) => headers.get('connection'));
    expect([large.status, kept, closed]).toEqual([413, 'keep-alive', 'close']);
  });

  it.each<[string, () => Promise<Response>]>([
    ['rejects', () => Promise.reject(new Error('shop'))],
    ['throws', throwing(new Error('shop'))],
    ['answers nothing', async () => undefined as never],
  ])('answers 503 for a handler that %s', async (_, handler) => {
    const response = await fetch(await serve(toNodeHandler(handler)), { method: 'POST', body: callback });
    expect([response.status, await response.text()]).toEqual([503, 'failed']);
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'content-type': 'text/plain', 'retry-after': '10' });
  });

  it('closes the connection if no answer can be written', async () => {
    const { node } = setUp();
    const url = await serve((request: NodeRequest, response: ServerResponse) => {
      response.writeHead = throwing(new Error('the framework'));
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
    const keeping = express.json({ verify: (request, _, bytes) => Object.assign(request, { rawBody: bytes }) });
    for (const [parser, answer] of [
      [express.raw({ type: '*/*' }), '200 handled'],
      [keeping, '200 handled before'],
      [express.text({ type: '*/*' }), '200 handled before'],
      [express.json(), '503 already_parsed'],
    ] as const)
      expect(await post(await serve(express().use(parser).post('/', node)))).toBe(answer);
    expect(seen).toEqual([callback, callback, callback]);
    expect(errors).toMatchObject([{ code: 'already_parsed' }]);
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
