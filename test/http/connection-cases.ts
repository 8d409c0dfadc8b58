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

export const created = record('created card deposit');
export const answers = ({ socket }: Connection) => void socket.write(http(created));
export const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** Milliseconds for a call that reaches nobody; that nothing but its time-out ends; that something else ends. */
export const SHORT_TIMEOUT = 600;
export const TIMEOUT = 5_000;
export const LONG_TIMEOUT = 20_000;

const head = (status: string, ...headers: string[]) =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', ...headers, '', ''].join('\r\n');
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

type Act = (connection: Connection) => unknown;

/** What happens to the call: at the first bytes of it, or once it is whole. */
export interface Fault {
  what: string;
  /** The create is longer than what fits into one packet. */
  isLong?: boolean;
  /** Nothing but its time-out ends the call. */
  isEndless?: boolean;
  onBegin?: Act;
  onRequest?: Act;
  /** What happens on a connection after an earlier call, before this one. */
  onIdle?: Act;
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
  /** After a call, before the next one; in the middle of a request; or once it is whole. */
  const idling = (what: string, onIdle: Act): Fault => ({ what, onIdle });
  const within = (what: string, onBegin: Act, isEndless = false): Fault => ({ what, onBegin, isEndless, isLong: true });
  const then = (what: string, onRequest: Act, isEndless = false): Fault => ({ what, onRequest, isEndless });
  const another = body.replace(ID, OTHER_ID);
  const begun = sized().slice(0, -20);

  const idle = [
    idling('The connection was closed after the call before', ({ fin }) => fin()),
    idling('The connection was reset after the call before', ({ rst }) => rst()),
    idling('The answer of another call arrived on the idle connection', writes(http(another))),
  ];

  const refusal = ends(head('413 Content Too Large', 'content-length: 0'));
  const during = [
    within('Closed in the middle of the request', ({ fin }) => fin()),
    within('Reset in the middle of the request', ({ rst }) => rst()),
    within('The gateway stops reading in the middle of the request', ({ socket }) => socket.pause(), true),
    within('Refused (413) in the middle of the request, and closed', refusal),
    then('Closed after the request', ({ fin }) => fin()),
    then('Reset after the request', ({ rst }) => rst()),
    then('No answer', () => {}, true),
    then('Closed in the status line', ends('HTTP/1.1 20')),
    then('Closed in the headers', ends(sized().slice(0, 40))),
    then('Closed after the headers', ends(head(ok, `content-length: ${length}`))),
    then('Closed in the body, after the id', ends(begun)),
    then('Reset in the body, after the id', ({ socket, rst }) => socket.write(begun, () => setTimeout(rst, 20))),
    then('The body stops after the id', writes(begun), true),
    then('A body without a length, ended by closing', ends(head(ok) + body)),
  ];

  const both = head(ok, `content-length: ${length}`, 'transfer-encoding: chunked');
  const broken = `${head(ok, 'transfer-encoding: chunked') + chunk(body.slice(0, -20))}garbage`;
  const informed = ['100 Continue', '102 Processing', '103 Early Hints'].map(status => `HTTP/1.1 ${status}\r\n\r\n`);
  const odd = [
    then('Two answers', writes(sized() + http(another))),
    then('2 MB of headers', writes(head(ok, `x: ${'x'.repeat(2_000_000)}`))),
    then('Both a length and chunks', writes(both + chunk(body) + chunk(''))),
    then('Chunks that break off in garbage, after the id', writes(broken)),
    then('No HTTP at all, with the id', ends(body)),
    then('Line feeds alone in the headers', ends(sized().replaceAll('\r\n', '\n'))),
    then('A body of 50 MB, the id at its beginning', ({ socket }) => {
      socket.write(head(ok, 'content-length: 50000000') + body.slice(0, -2));
      socket.write(' '.repeat(50_000_000 - length + 2));
    }),
    then('Informational answers (100, 102, 103) before the answer', writes(informed.join('') + sized())),
    then('A wrong Content-Encoding', writes(sized(ok, 'content-encoding: gzip'))),
    ...['204 No Content', '205 Reset Content', '304 Not Modified', '407 Proxy Authentication Required'].map(status =>
      then(`${status}, with a body`, writes(sized(status))),
    ),
    then('307 Temporary Redirect', writes(head('307 Temporary Redirect', 'location: /elsewhere', 'content-length: 0'))),
    then('421 Misdirected Request', writes(head('421 Misdirected Request', 'content-length: 0'))),
    then('503 Service Unavailable', writes(head('503 Service Unavailable', 'content-length: 0'))),
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
