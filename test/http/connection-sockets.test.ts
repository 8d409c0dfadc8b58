// One socket at a time: how our agent opens, keeps, hands over and resets it, and what one exchange leaves behind.
import { getEventListeners } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Deadline } from '../../src/deadline.ts';
import { openConnections } from '../../src/http/connection.ts';
import { ConnectionPool } from '../../src/http/connection-pool.ts';
import { type Attempt, type HttpRequest, LONGEST_ANSWER } from '../../src/http/exchange.ts';
import { BoundedBody } from '../../src/http/read-body.ts';
import { record } from '../support/fixtures.ts';
import { type Connection, http, type Script, tcpGateway } from '../support/tcp.ts';
import { distrustOurs, trustOurs } from '../support/tls.ts';

beforeAll(trustOurs);
afterAll(distrustOurs);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function gatewayWith(script: Script, certificate?: 'server') {
  const gateway = await tcpGateway(script, certificate);
  onTestFinished(() => gateway.close());
  return gateway;
}

/** A socket of a pool, as http.Agent gets it, and the gateway's end of it. */
async function connected(certificate?: 'server') {
  let theirs: Connection | undefined;
  const keep = (connection: Connection) => {
    theirs = connection;
  };
  const gateway = await gatewayWith(certificate ? { onSecure: keep } : { onConnect: keep }, certificate);
  const { hostname: host, port } = new URL(gateway.url);
  const pool = new ConnectionPool(certificate !== undefined, 1, true);
  const { signal } = new AbortController();
  const socket = await new Promise<Socket>((resolve, reject) =>
    pool.createConnection({ host, port, whileConnecting: signal }, (error, socket) =>
      error ? reject(error) : resolve(socket),
    ),
  );
  await expect.poll(() => theirs, { interval: 5 }).toBeDefined();
  return { gateway, pool, socket, signal, write: (text: string) => theirs?.socket.write(text) };
}

describe.each([
  ['a connection', undefined],
  ['a connection over TLS', 'server'],
] as const)('%s', (_, certificate) => {
  it('leaves the signal that could have ended it, and its later errors harm nobody', async () => {
    const { socket, signal } = await connected(certificate);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(() => socket.emit('error', new Error('late'))).not.toThrow();
    socket.destroy();
  });

  it('is told once, whatever happens after it', async () => {
    const gateway = await gatewayWith({}, certificate);
    const { hostname: host, port } = new URL(gateway.url);
    const tell = vi.fn();
    const giveUp = new AbortController();
    const pool = new ConnectionPool(certificate !== undefined, 1, true);
    pool.createConnection({ host, port, whileConnecting: giveUp.signal }, tell);
    giveUp.abort();
    await vi.waitFor(() => expect(tell).toHaveBeenCalledWith(expect.any(Error), expect.any(Socket)));
    const [, socket] = tell.mock.lastCall as [Error, Socket];
    for (const event of ['error', 'connect', 'secureConnect']) socket.emit(event);
    await new Promise(setImmediate);
    expect(tell).toHaveBeenCalledTimes(1);
  });

  it('is opened without a signal too', async () => {
    const gateway = await gatewayWith({}, certificate);
    const { hostname: host, port } = new URL(gateway.url);
    const pool = new ConnectionPool(certificate !== undefined, 1, true);
    const tell = vi.fn();
    pool.createConnection({ host, port }, tell);
    await vi.waitFor(() => expect(tell).toHaveBeenCalledWith(null, expect.any(Socket)));
    tell.mock.lastCall?.[1].destroy();
  });

  it('is reset, so that nothing of it arrives any more', async () => {
    const { gateway, pool, socket } = await connected(certificate);
    pool.reset(socket);
    expect(socket.destroyed).toBe(true);
    await expect.poll(() => gateway.ends, { interval: 5 }).toEqual(['rst']);
  });

  it.each([
    ['whose end is on its way', (socket: Socket) => socket.end()],
    ['that is closed', (socket: Socket) => socket.destroy()],
  ])('%s is destroyed without a reset, at which Node would fail', async (_, close) => {
    const { pool, socket } = await connected(certificate);
    const reset = vi.spyOn(Socket.prototype, 'resetAndDestroy');
    close(socket);
    pool.reset(socket);
    expect(socket.destroyed).toBe(true);
    expect(reset).not.toHaveBeenCalled();
  });

  it.each([
    ['Date.now', Date],
    ['performance.now', performance],
  ] as const)('that is old by %s alone is not used again: the other clock may have stood still', async (_, clock) => {
    const { pool, socket } = await connected(certificate);
    pool.keepFor(socket, undefined);
    const now = clock.now();
    vi.spyOn(clock, 'now').mockReturnValue(now + 3_000);
    expect(pool.isFresh(socket)).toBe(true);
    vi.spyOn(clock, 'now').mockReturnValue(now + 4_100);
    expect(pool.isFresh(socket)).toBe(false);
    vi.restoreAllMocks();
    socket.destroy();
  });

  it.each([
    ['whose end is on its way', (socket: Socket) => socket.end()],
    ['that is closed', (socket: Socket) => socket.destroy()],
  ])('%s is not used again', async (_, close) => {
    const { pool, socket } = await connected(certificate);
    pool.keepFor(socket, undefined);
    expect(pool.isFresh(socket)).toBe(true);
    close(socket);
    expect(pool.isFresh(socket)).toBe(false);
  });

  it('that idles keeps no process alive', async () => {
    const { pool, socket } = await connected(certificate);
    expect(pool.keepSocketAlive(socket)).toBe(false);
    const unref = vi.spyOn(socket, 'unref');
    pool.keepFor(socket, undefined);
    expect(pool.keepSocketAlive(socket)).toBe(true);
    expect(unref).toHaveBeenCalled();
    socket.destroy();
  });

  it('that is used again has no time to idle any more, and takes what arrives', async () => {
    const { pool, socket, write } = await connected(certificate);
    pool.keepFor(socket, undefined);
    pool.keepSocketAlive(socket);
    expect(socket.timeout).toBeGreaterThan(3_000);
    pool.reuseSocket(socket, {} as ClientRequest);
    expect(socket.timeout).toBe(0);
    const arrived = new Promise(resolve => socket.once('data', resolve));
    write('HTTP/1.1 200 OK\r\n\r\n');
    expect(String(await arrived)).toContain('200 OK');
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });
});

it('a socket that a mock of the network has put in the place of ours is kept for no other call, and destroyed', () => {
  const socket = new Socket();
  const reset = vi.spyOn(socket, 'resetAndDestroy');
  const pool = new ConnectionPool(false, 1, true);
  pool.keepFor(socket, undefined);
  expect([pool.isFresh(socket), pool.keepSocketAlive(socket)]).toEqual([false, false]);
  pool.reset(socket);
  expect([socket.destroyed, reset.mock.calls]).toEqual([true, []]);
});

describe('one exchange', () => {
  const post = { method: 'POST', body: Buffer.from('{}') } as const;

  async function exchanged(script: Script, call: Pick<HttpRequest, 'method' | 'body'>, signal: AbortSignal) {
    const gateway = await gatewayWith(script);
    const exchange = openConnections({ baseUrl: gateway.url, maxConnections: 1 });
    const body = new BoundedBody(LONGEST_ANSWER);
    const attempt: Attempt = { deadline: new Deadline(20_000), mayHaveLeft: false, body, endedAt: 0 };
    const url = `${gateway.url}/api/v1/payments`;
    const answer = exchange({ call: {} as never, url, headers: {}, secrets: [], ...call }, attempt, signal);
    return { gateway, attempt, answer };
  }

  const onRequest = ({ socket }: Connection) => void socket.write(http(record('created card deposit')));

  it('removes its listener from the signal', async () => {
    const { signal } = new AbortController();
    const { answer } = await exchanged({ onRequest }, post, signal);
    expect(JSON.parse((await answer).body)).toHaveProperty('result');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('whose signal is aborted before it begins connects to nobody, sends nothing, and tells why', async () => {
    const connect = vi.spyOn(ConnectionPool.prototype, 'createConnection');
    const reason = new Error('the shop closes');
    const { gateway, attempt, answer } = await exchanged({ onRequest }, post, AbortSignal.abort(reason));
    await expect(answer).rejects.toBe(reason);
    expect([attempt.mayHaveLeft, gateway.creates, connect.mock.calls]).toEqual([false, 0, []]);
  });
});

it.each([
  [true, { protocol: 'https:', defaultPort: 443 }],
  [false, { protocol: 'http:', defaultPort: 80 }],
])('a pool says what ClientRequest compares (TLS: %s)', (isSecure, told) => {
  expect(new ConnectionPool(isSecure, 1, true)).toMatchObject(told);
});
