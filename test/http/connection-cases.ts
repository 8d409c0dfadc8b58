// What can go wrong on the way of a call, made to happen by a raw gateway: the rows of docs/contributing/connections.md.
import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Created, GatewayClient, type GatewayError } from 'payment-gateway-sdk';
import { expect, vi } from 'vitest';
import { ID, KEYS, OTHER_ID, record } from '../support/fixtures.ts';
import { type Connection, http, type Script, type TcpGateway, tcpGateway } from '../support/tcp.ts';
import { distrustOurs } from '../support/tls.ts';

/** Milliseconds for a call that reaches nobody; that nothing but its time-out ends; that something else ends. */
export const SHORT_TIMEOUT = 600;
export const TIMEOUT = 5_000;
export const LONG_TIMEOUT = 20_000;

const head = (status: string, ...headers: string[]) =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', ...headers, '', ''].join('\r\n');
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** What happens to the call: at the first bytes of it, or once it is whole. */
export interface Fault {
  what: string;
  /** The create is longer than what fits into one packet. */
  isLong?: boolean;
  /** Nothing but its time-out ends the call. */
  isEndless?: boolean;
  onConnect?: (connection: Connection) => void;
  onBegin?: (connection: Connection) => void;
  onRequest?: (connection: Connection) => void;
  /** What happens on a connection after an earlier call, before this one. */
  onIdle?: (connection: Connection) => void;
}

const writes = (text: string) => (connection: Connection) => void connection.socket.write(text);
const ends = (text: string) => (connection: Connection) => void connection.socket.end(text);

/** A gateway that no request reaches. */
export interface Unreached {
  what: string;
  open(): Promise<{ baseUrl: string; creates?: number; lookups?: number; close(): Promise<void> }>;
}

/** A name may be that of several addresses. */
const named = (...addresses: string[]) =>
  vi.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: object, told: (...answer: unknown[]) => void) =>
    process.nextTick(
      told,
      null,
      addresses.map(address => ({ address, family: 4 })),
    )) as never);

/** Takes no connection any more: the kernel answers nothing to those that ask for one. */
async function deaf(address = '127.0.0.1', port = 0) {
  const child = spawn(process.execPath, ['-e', DEAF, address, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const taken = Number(line);
  child.kill('SIGSTOP');
  const fillers = Array.from({ length: 4 }, () => connect(taken, address).on('error', () => {}));
  await new Promise(resolve => setTimeout(resolve, 100));
  return {
    port: taken,
    baseUrl: `http://${address}:${taken}`,
    listen: () => void child.kill('SIGCONT'),
    close: async () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
    },
  };
}
// Its own process, which the test stops: then the kernel swallows what the full queue cannot take.
const DEAF = `const server = require('node:net').createServer(socket =>
  socket.on('error', () => {}).end('HTTP/1.1 503 Busy\\r\\ncontent-length: 0\\r\\n\\r\\n'));
const [host, port] = process.argv.slice(1);
server.listen({ host, port, backlog: 1 }, () => console.log(server.address().port));`;

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const gateway = await tcpGateway({});
  await gateway.close();
  return Number(new URL(gateway.url).port);
}

/** A server over TLS that comes to no good end with it. */
const overTls = (script: Script, certificate?: 'server' | 'elsewhere') => async () => {
  const gateway = await tcpGateway(script, certificate);
  return { ...gateway, baseUrl: gateway.url.replace('http:', 'https:'), close: gateway.close };
};

export const UNREACHED: Unreached[] = [
  {
    what: 'Connection refused',
    open: async () => ({ baseUrl: `http://127.0.0.1:${await closedPort()}`, close: async () => {} }),
  },
  {
    what: 'A host that does not exist',
    open: async () => ({ baseUrl: 'https://gateway.invalid', close: async () => {} }),
  },
  { what: 'Nothing answers the attempt to connect (SYN swallowed)', open: () => deaf() },
  {
    what: 'Of the addresses, one refuses and one swallows',
    open: async () => {
      const { port, close } = await deaf();
      named('127.0.0.2', '127.0.0.1');
      return { baseUrl: `http://localhost:${port}`, close };
    },
  },
  { what: 'Closed before the TLS handshake', open: overTls({ onConnect: ({ fin }) => fin() }) },
  { what: 'Reset before the TLS handshake', open: overTls({ onConnect: ({ rst }) => rst() }) },
  { what: 'The TLS handshake is not answered', open: overTls({}) },
  {
    what: 'Plain HTTP where TLS is expected',
    open: overTls({ onConnect: writes(http('{}', 'HTTP/1.1 400 Bad Request')) }),
  },
  { what: 'A certificate of another name', open: overTls({ onRequest: writes(http('{}')) }, 'elsewhere') },
  {
    what: 'A certificate of an authority that this machine does not trust',
    open: async () => {
      distrustOurs();
      return overTls({ onRequest: writes(http('{}')) }, 'server')();
    },
  },
];

/** The faults of a create, whose good answer has this body. */
export function faultsOf(body: string) {
  const ok = '201 Created';
  const length = Buffer.byteLength(body);
  const sized = (status = ok, ...headers: string[]) => head(status, `content-length: ${length}`, ...headers) + body;
  const idle: Fault[] = [
    { what: 'The connection was closed after the call before', onIdle: ({ fin }) => fin() },
    { what: 'The connection was reset after the call before', onIdle: ({ rst }) => rst() },
    {
      what: 'The answer of another call arrived on the idle connection',
      onIdle: writes(http(body.replace(ID, OTHER_ID))),
    },
  ];

  const during: Fault[] = [
    { what: 'Closed in the middle of the request', isLong: true, onBegin: ({ fin }) => fin() },
    { what: 'Reset in the middle of the request', isLong: true, onBegin: ({ rst }) => rst() },
    {
      what: 'The gateway stops reading in the middle of the request',
      isLong: true,
      isEndless: true,
      onBegin: ({ socket }) => socket.pause(),
    },
    {
      what: 'Refused (413) in the middle of the request, and closed',
      isLong: true,
      onBegin: ends(head('413 Content Too Large', 'content-length: 0')),
    },
    { what: 'Closed after the request', onRequest: ({ fin }) => fin() },
    { what: 'Reset after the request', onRequest: ({ rst }) => rst() },
    { what: 'No answer', isEndless: true, onRequest: () => {} },
    { what: 'Closed in the status line', onRequest: ends('HTTP/1.1 20') },
    { what: 'Closed in the headers', onRequest: ends(sized().slice(0, 40)) },
    { what: 'Closed after the headers', onRequest: ends(head(ok, `content-length: ${length}`)) },
    { what: 'Closed in the body, after the id', onRequest: ends(sized().slice(0, -20)) },
    {
      what: 'Reset in the body, after the id',
      onRequest: ({ socket, rst }) => socket.write(sized().slice(0, -20), () => setTimeout(rst, 20)),
    },
    { what: 'The body stops after the id', isEndless: true, onRequest: writes(sized().slice(0, -20)) },
    { what: 'A body without a length, ended by closing', onRequest: ends(head(ok) + body) },
  ];

  const odd: Fault[] = [
    { what: 'Two answers', onRequest: writes(sized() + http(body.replace(ID, OTHER_ID))) },
    { what: '2 MB of headers', onRequest: writes(head(ok, `x: ${'x'.repeat(2_000_000)}`)) },
    {
      what: 'Both a length and chunks',
      onRequest: writes(head(ok, `content-length: ${length}`, 'transfer-encoding: chunked') + chunk(body) + chunk('')),
    },
    {
      what: 'Chunks that break off in garbage, after the id',
      onRequest: writes(`${head(ok, 'transfer-encoding: chunked') + chunk(body.slice(0, -20))}garbage`),
    },
    { what: 'No HTTP at all, with the id', onRequest: ends(body) },
    { what: 'Line feeds alone in the headers', onRequest: ends(sized().replaceAll('\r\n', '\n')) },
    {
      what: 'A body of 50 MB, the id at its beginning',
      onRequest: ({ socket }) => {
        socket.write(head(ok, 'content-length: 50000000') + body.slice(0, -2));
        socket.write(' '.repeat(50_000_000 - length + 2));
      },
    },
    {
      what: 'Informational answers (100, 102, 103) before the answer',
      onRequest: writes(
        ['100 Continue', '102 Processing', '103 Early Hints'].map(status => `HTTP/1.1 ${status}\r\n\r\n`).join('') +
          sized(),
      ),
    },
    { what: 'A wrong Content-Encoding', onRequest: writes(sized(ok, 'content-encoding: gzip')) },
    ...['204 No Content', '205 Reset Content', '304 Not Modified', '407 Proxy Authentication Required'].map(status => ({
      what: `${status}, with a body`,
      onRequest: writes(sized(status)),
    })),
    {
      what: '307 Temporary Redirect',
      onRequest: writes(head('307 Temporary Redirect', 'location: /elsewhere', 'content-length: 0')),
    },
    { what: '421 Misdirected Request', onRequest: writes(head('421 Misdirected Request', 'content-length: 0')) },
  ];

  return { idle, during, odd };
}

/** Over which connection the call goes. */
export type Way = `${'new' | 'reused'}, ${'http:' | 'https:'}`;

const found = record('completed lookup');

/**
 * A gateway at which one call meets the fault: the first, or on a reused connection the second. What comes after it is
 * answered.
 *
 * @param answer a good one, to the call
 */
export async function meeting(fault: Fault, way: Way, answer: string, retries: number) {
  const isReused = way.startsWith('reused');
  const script: Script = {
    onConnect: connection => fault.onConnect?.(connection),
    onBegin: (connection, count) => {
      if (count === Number(isReused)) fault.onBegin?.(connection);
    },
    onRequest: (connection, count) => {
      if (isReused && count === 1) {
        connection.socket.write(http(found));
        setTimeout(() => fault.onIdle?.(connection), 20);
      } else if (fault.onRequest && count === Number(isReused) + 1) fault.onRequest(connection);
      else if (!connection.socket.isPaused()) connection.socket.write(answer);
    },
  };
  const gateway = await tcpGateway(script, way.endsWith('https:') ? 'server' : undefined);
  const timeout = fault.isEndless ? TIMEOUT : LONG_TIMEOUT;
  const client = new GatewayClient({ ...KEYS, baseUrl: gateway.url, timeout, retries });
  if (isReused) {
    await client.getPayment(ID, { timeout: LONG_TIMEOUT });
    if (fault.onIdle) {
      // Until both sides have seen what happens.
      await expect.poll(() => gateway.ends, { interval: 5 }).toHaveLength(1);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
  return { client, gateway };
}

/** How a create ends, in the words of docs/contributing/connections.md. */
export const endOf = (create: Promise<Created>) =>
  create.then(
    ({ payment }) => ({ text: 'the payment', id: payment.id, outcome: 'created' }),
    ({ name, outcome, code, status, paymentId: id }: GatewayError & { status?: number }) => {
      const details = [status, name === 'ConnectionError' && code, id && 'with `paymentId`'].filter(Boolean).join(', ');
      return { text: `\`${outcome}\` (\`${name}\`${details && `, ${details}`})`, id, outcome };
    },
  );

/** A gateway and a client of it, which live as long as `work`. */
export async function withGateway(
  script: Script,
  certificate: 'server' | undefined,
  options: object,
  work: (client: GatewayClient, gateway: TcpGateway) => Promise<void>,
): Promise<void> {
  const gateway = await tcpGateway(script, certificate);
  try {
    await work(new GatewayClient({ ...KEYS, baseUrl: gateway.url, ...options }), gateway);
  } finally {
    await gateway.close();
  }
}
