import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { ApiError, GatewayEvent } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { CARD, errorOf, ID, record } from '../support/fixtures.ts';
import { everythingIn } from '../support/printed.ts';
import { type Connection, http, type Script } from '../support/tcp.ts';
import { withGateway } from './connection-cases.ts';

const created = record('created card deposit');

const answersWith = (text: string) => ({ onRequest: ({ socket }: Connection) => void socket.write(text) });

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

  it.each([
    ['x-request-id: a\r\nrequest-id: b', 'a', undefined],
    ['request-id: b', 'b', undefined],
    ['retry-after: 7', undefined, 7_000],
  ])('with the headers %j has the request id %s, and asks for a pause of %s ms', async (headers, requestId, pause) => {
    const busy = http('', `HTTP/1.1 503 Service Unavailable\r\n${headers}`);
    await withGateway(answersWith(busy), undefined, {}, async client => {
      const error = (await errorOf(client.createDeposit(CARD))) as ApiError;
      expect([error.status, error.requestId, error.retryAfter]).toEqual([503, requestId, pause]);
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

const COMPRESSIONS: [name: string, zip: (text: string) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];
it.each([
  ...COMPRESSIONS.map(
    ([name, zip]) => ['201 Created', name, zip, { code: 'unreadable_response', outcome: 'unknown' }] as const,
  ),
  ...COMPRESSIONS.map(([name, zip]) => ['422 X', name, zip, { code: 'api_error', outcome: 'unknown' }] as const),
  // Some servers name a character set there.
  ['422 X', 'utf-8', () => Buffer.from('{}'), { code: 'api_error', outcome: 'rejected' }] as const,
])(
  'a create that is answered by %s and the encoding %s, without being asked, is in doubt if it can hide a payment',
  async (...row) => {
    const [status, name, zip, expected] = row;
    const zipped = zip(created);
    const head = `HTTP/1.1 ${status}\r\ncontent-encoding: ${name}\r\ncontent-length: ${zipped.length}\r\n\r\n`;
    const onRequest = ({ socket }: Connection) => void socket.end(Buffer.concat([Buffer.from(head), zipped]));
    await withGateway({ onRequest }, undefined, {}, async client => {
      expect(await errorOf(client.createDeposit(CARD))).toMatchObject(expected);
    });
  },
);

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
