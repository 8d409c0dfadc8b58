import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { getEventListeners, once } from 'node:events';
import { connect } from 'node:net';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { GatewayClient, type GatewayError } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectDocumented, tableOf } from '../support/documents.ts';
import { CARD, errorOf, ID, KEYS, OTHER_ID, record } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { type Connection, http, type Script, tcpGateway } from '../support/tcp.ts';
import { authority } from '../support/tls.ts';

const created = record('created card deposit');
const found = record('completed lookup');
const LENGTH = Buffer.byteLength(created);
/** Milliseconds for a create that reaches nobody; that nothing but its time-out ends; that something else ends. */
const SHORT_TIMEOUT = 600;
const TIMEOUT = 2_500;
const LONG_TIMEOUT = 20_000;

const trusted = tls.getCACertificates('default');
beforeEach(() => tls.setDefaultCACertificates([...trusted, authority]));
afterEach(() => void vi.restoreAllMocks());

const head = (status: string, ...headers: string[]) =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', ...headers, '', ''].join('\r\n');
const sized = (status = '201 Created', ...headers: string[]) =>
  head(status, `content-length: ${LENGTH}`, ...headers) + created;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** What happens to the create: at the first bytes of it, or once it is whole. */
interface Fault {
  what: string;
  /** The create is longer than what fits into one packet. */
  isLong?: boolean;
  /** Nothing but its time-out ends the create. */
  isEndless?: boolean;
  onConnect?: (connection: Connection) => void;
  onBegin?: (connection: Connection) => void;
  onRequest?: (connection: Connection) => void;
  /** What happens on a connection after an earlier call, before the create. */
  onIdle?: (connection: Connection) => void;
}

const writes = (text: string) => (connection: Connection) => void connection.socket.write(text);
const ends = (text: string) => (connection: Connection) => void connection.socket.end(text);

/** A gateway that no request reaches. */
interface Unreached {
  what: string;
  open(): Promise<{ baseUrl: string; creates?: number; close(): Promise<void> }>;
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
  const child = spawn(process.execPath, [DEAF, address, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
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
const DEAF = fileURLToPath(new URL('../support/deaf.mjs', import.meta.url));

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

const UNREACHED: Unreached[] = [
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
  { what: 'Plain HTTP where TLS is expected', open: overTls({ onConnect: writes(sized('400 Bad Request')) }) },
  { what: 'A certificate of another name', open: overTls({ onRequest: writes(sized()) }, 'elsewhere') },
  {
    what: 'A certificate that nobody has signed whom this machine trusts',
    open: async () => {
      tls.setDefaultCACertificates(trusted);
      return overTls({ onRequest: writes(sized()) }, 'server')();
    },
  },
];

const IDLE: Fault[] = [
  { what: 'The connection was closed after the call before', onIdle: ({ fin }) => fin() },
  { what: 'The connection was reset after the call before', onIdle: ({ rst }) => rst() },
  {
    what: 'The answer of another call arrived on the idle connection',
    onIdle: writes(http(created.replace(ID, OTHER_ID))),
  },
];

const DURING: Fault[] = [
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
  { what: 'Closed after the headers', onRequest: ends(head('201 Created', `content-length: ${LENGTH}`)) },
  { what: 'Closed in the body, after the id', onRequest: ends(sized().slice(0, -20)) },
  {
    what: 'Reset in the body, after the id',
    onRequest: ({ socket, rst }) => socket.write(sized().slice(0, -20), () => setTimeout(rst, 20)),
  },
  { what: 'The body stops after the id', isEndless: true, onRequest: writes(sized().slice(0, -20)) },
  { what: 'A body without a length, ended by closing', onRequest: ends(head('201 Created') + created) },
];

const ODD: Fault[] = [
  { what: 'Two answers', onRequest: writes(sized() + http(created.replace(ID, OTHER_ID))) },
  {
    what: '100 headers of 8 kB',
    onRequest: writes(sized('201 Created', ...Array.from({ length: 100 }, (_, n) => `x-${n}: ${'x'.repeat(8000)}`))),
  },
  { what: '2 MB of headers', onRequest: writes(head('201 Created', `x: ${'x'.repeat(2_000_000)}`)) },
  {
    what: 'Both a length and chunks',
    onRequest: writes(
      head('201 Created', `content-length: ${LENGTH}`, 'transfer-encoding: chunked') + chunk(created) + chunk(''),
    ),
  },
  {
    what: 'Chunks that break off in garbage, after the id',
    onRequest: writes(`${head('201 Created', 'transfer-encoding: chunked') + chunk(created.slice(0, -20))}garbage`),
  },
  { what: 'No HTTP at all, with the id', onRequest: ends(created) },
  { what: 'Line feeds alone in the headers', onRequest: ends(sized().replaceAll('\r\n', '\n')) },
  {
    what: 'A body of 50 MB, the id at its beginning',
    onRequest: ({ socket }) => {
      socket.write(head('201 Created', 'content-length: 50000000') + created.slice(0, -2));
      socket.write(' '.repeat(50_000_000 - LENGTH + 2));
    },
  },
  {
    what: 'Informational answers (100, 102, 103) before the answer',
    onRequest: writes(
      ['100 Continue', '102 Processing', '103 Early Hints'].map(status => `HTTP/1.1 ${status}\r\n\r\n`).join('') +
        sized(),
    ),
  },
  {
    what: 'A change of protocols (101), with a body',
    onRequest: writes(head('101 Switching Protocols', 'connection: upgrade', 'upgrade: x') + created),
  },
  { what: 'A wrong Content-Encoding', onRequest: writes(sized('201 Created', 'content-encoding: gzip')) },
  ...['204 No Content', '205 Reset Content', '304 Not Modified', '407 Proxy Authentication Required'].map(status => ({
    what: `${status}, with a body`,
    onRequest: writes(sized(status)),
  })),
  {
    what: '204 No Content, and a body a moment later',
    onRequest: ({ socket }) => {
      socket.write(head('204 No Content'));
      setTimeout(() => socket.write(created), 10);
    },
  },
  {
    what: '307 Temporary Redirect',
    onRequest: writes(head('307 Temporary Redirect', 'location: /elsewhere', 'content-length: 0')),
  },
  { what: '421 Misdirected Request', onRequest: writes(head('421 Misdirected Request', 'content-length: 0')) },
];

type Way = 'new, http:' | 'new, https:' | 'reused, http:' | 'reused, https:';

/** Everything that is seen of a create that meets the fault. */
async function meet(fault: Fault, way: Way): Promise<string> {
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
      } else if (fault.onRequest) fault.onRequest(connection);
      else if (!connection.socket.isPaused()) connection.socket.write(sized());
    },
  };
  const gateway = await tcpGateway(script, way.endsWith('https:') ? 'server' : undefined);
  const timeout = fault.isEndless ? TIMEOUT : LONG_TIMEOUT;
  const client = new GatewayClient({ ...KEYS, baseUrl: gateway.url, timeout, retries: 1 });
  if (isReused) {
    await client.getPayment(ID, { timeout: LONG_TIMEOUT });
    // Until both sides have seen what happens.
    if (fault.onIdle) await expect.poll(() => gateway.ends, { timeout: 5_000 }).toHaveLength(1);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  const { signal } = new AbortController();
  const begun = performance.now();
  const description = fault.isLong ? 'x'.repeat(10_000_000) : undefined;
  const seen = await client.createDeposit({ ...CARD, description }, { signal }).then(
    ({ payment }) => ({ text: 'the payment', id: payment.id, outcome: 'created' }),
    ({ name, outcome, code, status, paymentId: id }: GatewayError & { status?: number }) => {
      const details = [status, name === 'ConnectionError' && code, id && 'with `paymentId`'].filter(Boolean).join(', ');
      return { text: `\`${outcome}\` (\`${name}\`${details && `, ${details}`})`, id, outcome };
    },
  );
  const took = performance.now() - begun;
  // A late delivery would arrive now.
  await new Promise(resolve => setTimeout(resolve, 50));
  const { creates, connections } = gateway;
  await gateway.close();

  expect(creates).toBeLessThanOrEqual(1);
  if (seen.outcome === 'not_sent') expect(creates).toBe(0);
  expect(seen.id ?? ID).toBe(ID);
  expect(took).toBeLessThan(LONG_TIMEOUT);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  if (fault.onIdle) expect(connections).toBe(2);
  return `${creates} → ${seen.text}`;
}

/** A table of what was seen; where http: and https: differ, both. */
function table(
  faults: readonly Fault[],
  columns: readonly [string, Way, Way][],
  seen: ReadonlyMap<string, string>,
): string {
  const rows = faults.map(({ what }) => {
    const cells = columns.map(([, plain, secure]) => {
      const [a = '', b] = [seen.get(what + plain), seen.get(what + secure)];
      return a === b ? a : `${a}; over TLS ${b}`;
    });
    return [what, ...cells];
  });
  return tableOf(['what goes wrong', ...columns.map(([name]) => name)], rows);
}

const NEW: [string, Way, Way] = ['on a new connection', 'new, http:', 'new, https:'];
const REUSED: [string, Way, Way] = ['on a reused connection', 'reused, http:', 'reused, https:'];

describe.skipIf(lacks(process.platform === 'linux', 'swallowed connections, which need the queue of Linux'))(
  'a create that is not sent',
  () => {
    it.each(UNREACHED)('says so: $what', async ({ open }) => {
      const { baseUrl, close, ...gateway } = await open();
      const client = new GatewayClient({ ...KEYS, baseUrl, timeout: SHORT_TIMEOUT, retries: 0 });
      const begun = performance.now();
      const error = await errorOf(client.createDeposit(CARD));
      expect(performance.now() - begun).toBeLessThan(LONG_TIMEOUT);
      expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'not_sent' });
      expect(error).not.toHaveProperty('paymentId');
      expect(gateway.creates ?? 0).toBe(0);
      await close();
    });

    it('is documented with each of these', () => {
      expectDocumented('connections.md', 'unreached', UNREACHED.map(({ what }) => `- ${what}.`).join('\n'));
    });
  },
);

describe('a create that meets', () => {
  it.each([
    ['trouble between two calls', 'idle', IDLE, [REUSED]],
    ['trouble during the call', 'during', DURING, [NEW, REUSED]],
    ['an odd answer', 'odd', ODD, [NEW, REUSED]],
  ] as const)('%s ends as docs/connections.md says', { timeout: 120_000 }, async (_, name, faults, columns) => {
    const seen = new Map<string, string>();
    const ways = columns.flatMap(([, plain, secure]) => [plain, secure]);
    const play = (fault: Fault) =>
      Promise.all(ways.map(async way => seen.set(fault.what + way, await meet(fault, way))));
    for (const fault of faults) if (!fault.isEndless) await play(fault);
    await Promise.all(faults.filter(({ isEndless }) => isEndless).map(play));
    expectDocumented('connections.md', name, table(faults, columns, seen));
  });
});
