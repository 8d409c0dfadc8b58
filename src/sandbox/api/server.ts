// Serves the sandbox over real HTTP, on loopback by default.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { optionsReader } from '../../option-reader.ts';

/** The address that a sandbox listens on. */
export interface ListenOptions {
  /** The port. 0 takes a free one. @default 0 */
  port?: number | undefined;
  /** The address to listen on. In a container, use `0.0.0.0` and put its names in `allowHosts`. @default '127.0.0.1' */
  host?: string | undefined;
  /** Host names that callers may use in addition to loopback, without a port. */
  allowHosts?: readonly string[] | undefined;
}

/** A running server. */
export interface Listening {
  /** `http://127.0.0.1:<port>`: the `baseUrl` of a client on this machine. */
  url: string;
  close(): Promise<void>;
}

const HOST = { error: 'must be a name or an address, without a port' };
const HOSTS = { error: 'must be a list of names' };
const PORT = { error: 'must be a number from 0 to 65535' };

const readFields = optionsReader<ListenOptions>()('sandbox.listen', {
  port: z.int(PORT).min(0, PORT).max(65_535, PORT).default(0),
  host: z.string(HOST).min(1, HOST).default('127.0.0.1'),
  allowHosts: z
    .array(z.string(HOST).regex(/^[\w.-]+$/, HOST), HOSTS)
    .readonly()
    .default([]),
});

type Handler = (request: Request) => Promise<Response>;

/** Identifies a sandbox to the command line. */
export const SERVER_NAME = 'payment-gateway-sandbox';

/** Keeps out pages of other sites whose name resolves to this machine. */
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])$/i;

const NOT_ALLOWED = 'The sandbox answers on loopback names only, and on those it is told to: --allow-host.';

export async function listen(handler: Handler, options: ListenOptions, publicUrl = ''): Promise<Listening> {
  const { port, host, allowHosts } = readFields(options);
  const tunnel = URL.parse(publicUrl);
  /** Returns the origin that the caller has used, or undefined for a foreign name. */
  const originOf = (name: string) => {
    if (name === tunnel?.host) return tunnel.origin;
    const host = name.replace(/:\d{1,5}$/, '');
    return LOCAL.test(host) || allowHosts.includes(host) ? `http://${name}` : undefined;
  };
  const server = createServer((incoming, outgoing) => {
    const origin = originOf(incoming.headers.host ?? '');
    outgoing.setHeader('server', SERVER_NAME);
    if (origin === undefined) outgoing.writeHead(403).end(NOT_ALLOWED);
    else serve(handler, origin, incoming, outgoing).catch(() => outgoing.socket?.destroy());
  });
  await once(server.listen(port, host), 'listening');
  const { port: taken } = server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return {
    url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${taken}`,
    close: () => new Promise(resolve => server.close(() => resolve()).closeAllConnections()),
  };
}

/** Rejects to break the connection. A body that fails also breaks it, after its written part. */
async function serve(handler: Handler, origin: string, incoming: IncomingMessage, outgoing: ServerResponse) {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const { method = 'GET', url = '/' } = incoming;
  const headers = incoming.headers as Record<string, string>;
  const body = method === 'GET' || method === 'HEAD' ? null : await buffer(incoming);
  const response = await handler(new Request(origin + url, { method, headers, body, signal: gone.signal }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  await pipeline(response.body ? Readable.fromWeb(response.body) : [], outgoing);
}
