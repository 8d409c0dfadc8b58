import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { GatewayEvent } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { CARD, errorOf, ID, record } from '../support/fixtures.ts';
import { everythingIn } from '../support/printed.ts';
import { type Connection, http, type Script } from '../support/tcp.ts';
import { type Fault, meeting, withGateway } from './connection-cases.ts';

const created = record('created card deposit');

describe.each(['new, http:', 'reused, http:'] as const)('a create on a connection that is %s', way => {
  it.each<[string, string, object, Partial<Fault>]>([
    ['No answer', 'unknown', { creates: 1 }, { onRequest: () => {} }],
    [
      'The body stops after the id',
      'unknown',
      { creates: 1, paymentId: ID },
      { onRequest: ({ socket }) => void socket.write(http(created).slice(0, -20)) },
    ],
    [
      'The gateway stops reading in the middle of the request',
      'unknown',
      { creates: 0 },
      { isLong: true, onBegin: ({ socket }) => void socket.pause() },
    ],
  ])('is given up by its signal, and reset: %s', async (what, outcome, expected, script) => {
    const { promise: met, resolve: meet } = Promise.withResolvers<void>();
    const fault: Fault = { what };
    for (const name of ['onBegin', 'onRequest'] as const) {
      const act = script[name];
      if (!act) continue;
      fault[name] = connection => {
        act(connection);
        meet();
      };
    }
    const { client, gateway } = await meeting(fault, way, http(created), 1);
    const controller = new AbortController();
    const description = script.isLong ? 'x'.repeat(10_000_000) : undefined;
    const ending = errorOf(client.createDeposit({ ...CARD, description }, { signal: controller.signal }));
    await met;
    await sleep(50);
    controller.abort();
    const error = (await ending) as { paymentId?: string };
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'aborted', outcome });
    expect({ creates: gateway.creates, ...(error.paymentId && { paymentId: error.paymentId }) }).toEqual(expected);
    if (!script.isLong) await expect.poll(() => gateway.ends, { interval: 5 }).toEqual(['rst']);
    await gateway.close();
  });
});

const answersWith = (text: string) => ({ onRequest: ({ socket }: Connection) => void socket.write(text) });

describe('a connection that cannot be used again is reset', () => {
  it.each<[string, Script, object, number]>([
    [
      'after an answer that is too long',
      { onRequest: ({ socket }) => void socket.write(http(created + ' '.repeat(3_000_000))) },
      { name: 'ResponseError', outcome: 'unknown', paymentId: ID },
      0,
    ],
    [
      'after an answer in the middle of the request',
      {
        onBegin: ({ socket }) => void socket.pause().write(http('', 'HTTP/1.1 413 Content Too Large')),
      },
      { status: 413, outcome: 'rejected' },
      20_000_000,
    ],
    [
      'after a refusal that is compressed, which may name the payment',
      {
        onRequest: ({ socket }) => {
          const zipped = gzipSync(JSON.stringify({ error: { id: ID } }));
          socket.write(
            `HTTP/1.1 422 X\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n`,
          );
          socket.end(zipped);
        },
      },
      { status: 422, outcome: 'unknown' },
      0,
    ],
    [
      'after a refusal that names a character set where its compression belongs',
      {
        onRequest: ({ socket }) =>
          void socket.end(
            'HTTP/1.1 422 X\r\nconnection: close\r\ncontent-encoding: utf-8\r\ncontent-length: 2\r\n\r\n{}',
          ),
      },
      { status: 422, outcome: 'rejected' },
      0,
    ],
  ])('%s', async (_, script, expected, size) => {
    const ended: string[] = [];
    const watching: Script = {
      ...script,
      onConnect: ({ socket }) => void socket.on('close', hadError => ended.push(hadError ? 'rst' : 'fin')),
    };
    await withGateway(watching, undefined, {}, async (client, gateway) => {
      const description = 'x'.repeat(size);
      expect(await errorOf(client.createDeposit({ ...CARD, description }))).toMatchObject(expected);
      const controller = new AbortController();
      const lookup = client.getPayment(ID, { signal: controller.signal }).catch(() => {});
      await expect.poll(() => gateway.connections, { interval: 5 }).toBe(2);
      controller.abort();
      await lookup;
      if (size === 0) await expect.poll(() => ended.length, { interval: 5 }).toBeGreaterThan(0);
    });
  });
});

describe('an answer over our own connection', () => {
  it('of a call that an observer of its request aborts is none: nothing was sent', async () => {
    const controller = new AbortController();
    const onEvent = ({ type }: { type: string }) => void (type === 'request' && controller.abort());
    await withGateway(answersWith(http(created)), undefined, { onEvent }, async (client, gateway) => {
      const error = await errorOf(client.createDeposit(CARD, { signal: controller.signal }));
      expect(error).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
      expect(gateway.creates).toBe(0);
    });
  });

  const BUSY = 'HTTP/1.1 503 Service Unavailable';

  it.each([
    ['its request id', 'x-request-id: a\r\nrequest-id: b', { requestId: 'a' }],
    ['its request id by the other name', 'request-id: b', { requestId: 'b' }],
    ['no request id that it has not', 'x: y', { requestId: undefined }],
  ])('tells %s', async (_, headers, expected) => {
    await withGateway(answersWith(http('', `${BUSY}\r\n${headers}`)), undefined, {}, async client => {
      expect(await errorOf(client.createDeposit(CARD))).toMatchObject({ status: 503 });
      expect(((await errorOf(client.createDeposit(CARD))) as { requestId?: string }).requestId).toBe(
        expected.requestId,
      );
    });
  });

  it('leaves nothing behind on a connection that serves many', async () => {
    const warned: string[] = [];
    const onWarning = ({ name }: Error) => void warned.push(name);
    process.on('warning', onWarning);
    await withGateway(answersWith(http(created)), undefined, {}, async (client, gateway) => {
      for (let call = 0; call < 15; call++) await client.createDeposit(CARD);
      expect([gateway.creates, gateway.connections]).toEqual([15, 1]);
    });
    process.off('warning', onWarning);
    expect(warned).toEqual([]);
  });
});

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('a create that is answered by %s, without being asked, has an unknown outcome', async (name, zip) => {
  const answers = (status: string, json: string): Script => ({
    onRequest: ({ socket }) => {
      const zipped = zip(json);
      socket.write(`HTTP/1.1 ${status}\r\ncontent-encoding: ${name}\r\ncontent-length: ${zipped.length}\r\n\r\n`);
      socket.end(zipped);
    },
  });
  for (const [status, code] of [
    ['201 Created', 'unreadable_response'],
    ['422 X', 'api_error'],
  ] as const) {
    await withGateway(answers(status, created), undefined, {}, async client => {
      expect(await errorOf(client.createDeposit(CARD))).toMatchObject({ code, outcome: 'unknown' });
    });
  }
});

describe('a gateway that answers with the request itself', () => {
  const bearer = /authorization: (.*)/i;
  it.each<[string, (request: string) => string]>([
    ['in place of the version of HTTP', request => `HTTP/${request}`],
    ['in place of the status', request => `HTTP/1.1 ${request}`],
    ['as the reason of a status', request => `HTTP/1.1 500 ${bearer.exec(request)?.[1]}\r\ncontent-length: 0\r\n\r\n`],
    ['as headers', request => `HTTP/1.1 201 Created\r\n${request}`],
    ['as a header that goes on', request => `HTTP/1.1 201 Created\r\nx: ${request.replaceAll('\r\n', '\r\n ')}`],
    [
      'in place of the size of a chunk',
      request => `HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n${request}`,
    ],
    ['as half a body', request => `HTTP/1.1 201 Created\r\ncontent-length: 99999\r\n\r\n${request}`],
    ['as a whole body', request => `HTTP/1.1 422 X\r\ncontent-length: ${Buffer.byteLength(request)}\r\n\r\n${request}`],
    ['without any HTTP', request => request],
  ])('%s puts no key, no signature and no customer into an error or an event', async (_, answer) => {
    let request = '';
    const script: Script = {
      onConnect: ({ socket }) =>
        void socket.on('data', chunk => {
          request += chunk;
        }),
      onRequest: ({ socket }) => void socket.end(answer(request)),
    };
    const events: GatewayEvent[] = [];
    const keys = {
      apiKey: 'a-key-of-the-shop',
      signKey: 'its-sign-key',
      onEvent: (event: GatewayEvent) => events.push(event),
    };
    await withGateway(script, undefined, { ...keys, retries: 0 }, async client => {
      const customer = { email: 'zoe@customer.example', firstName: 'Zoë' };
      const errors = [
        await errorOf(client.createDeposit({ ...CARD, customer }, { timeout: 2_000 })),
        await errorOf(client.getPayment(ID, { timeout: 2_000 })),
      ];
      const [, signature = ''] = /signature: (\S+)/i.exec(request) ?? [];
      expect(signature).toMatch(/^[\da-f]{64}$/);
      const printed = everythingIn([errors, events]);
      const secrets = [keys.apiKey, keys.signKey, signature, customer.email, customer.firstName];
      expect(secrets.filter(secret => printed.includes(secret))).toEqual([]);
      expect(events.length).toBeGreaterThan(3);
    });
  });
});
