// Every request is answered, or its connection is closed. Nothing throws or stays open.
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
import { createWebhookHandler, GatewayClient, toNodeHandler } from 'payment-gateway-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeRequest, NodeResponse } from '../../src/webhooks/node.ts';
import { KEYS, record } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';
import {
  callback,
  HOSTILE,
  isRight,
  LENGTH,
  LIMIT,
  mistake,
  post,
  type ServerName,
  untilOf,
  wantedOf,
} from './hostile.ts';
import { HOSTILE_HTTP2, openHttp2, sendHttp2 } from './hostile-http2.ts';
import { type Outcome, sendRaw } from './raw-http.ts';

type NodeListener = (request: NodeRequest, response: NodeResponse) => Promise<void>;
type WebHandler = (request: Request) => Promise<Response>;

const listening = async (server: Server): Promise<Server> => {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
};

/** Each passes every method and path to the handler. */
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
    return listening(
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }) as Server,
    );
  },
};

const PARSING: readonly string[] = ['Fastify', 'Nest'];

/** A shop that counts running calls, and keeps the errors of its handlers. */
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

/** Lets the time of a callback pass for a body that hangs. */
async function standStill(answer: () => Promise<Outcome>): Promise<Outcome> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    const outcome = answer();
    while (vi.getTimerCount() < 1) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(24_000);
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

  it('answers each request, and a genuine callback after it', async () => {
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

  // A framework that parses the body has its own timeout.
  if (!PARSING.includes(name)) {
    it('answers 503 to a body that hangs, and closes', async () => {
      const half = { bytes: post([LENGTH], 'half') };
      expect(await standStill(() => sendRaw(shop.port, half, 'closed'))).toEqual([503, 'closed']);
    });
  }

  // After all requests it has thrown nothing, and leaves nothing open.
  afterAll(async () => {
    await vi.waitFor(() => expect(shop.seen).toEqual({ atWork: 0, thrown: [] }), 60_000);
    await vi.waitFor(async () => expect(await connectionsOf(shop.server)).toBe(0), 60_000);
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

  /** @returns the number of streams and sessions that stay open after the caller has closed them */
  const leftOpen = async (): Promise<string> => {
    const before = performance.now();
    while (opened.streams + opened.sessions > 0 && performance.now() < before + 20_000) await new Promise(setImmediate);
    const left = JSON.stringify(opened);
    Object.assign(opened, { streams: 0, sessions: 0 });
    return left;
  };

  it('answers each request, and a genuine callback after it, and closes their streams', {
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

  it('answers 503 to a body that hangs, and closes its stream', async () => {
    const session = openHttp2(shop.port);
    const half = { headers: {}, body: 'half', end: 'nothing' } as const;
    expect(await standStill(() => sendHttp2(session, half, 'closed'))).toEqual([503, 'closed']);
    session.destroy();
  });

  // After all requests it has thrown nothing, and leaves nothing open.
  afterAll(async () => {
    await vi.waitFor(() => expect(shop.seen).toEqual({ atWork: 0, thrown: [] }), 60_000);
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
    ['a length that is not a number', 400, () => plain({ method: 'POST', headers: { 'content-length': '-1e999' } })],
    ['an infinite length', 413, () => plain({ method: 'POST', headers: { 'content-length': '1e999' }, body: 'x' })],
    ['a body that breaks off at once', 503, () => streaming()],
    ['a body that breaks off', 503, () => streaming(Buffer.from('half'))],
    ['a body above the limit that would break off', 413, () => streaming(Buffer.alloc(LIMIT), Buffer.alloc(1))],
    ['a body of text', 503, () => streaming('half')],
    ['a body of anything', 503, () => streaming({}, null, [], Symbol('x'))],
    ['a body with another reader', 503, locked],
  ])('answers %s with %i', async (_, status, request) => {
    expect((await handler(request())).status).toBe(status);
    expect((await handler(plain({ method: 'POST', body: record('completed CARD callback') }))).status).toBe(200);
  });
});
