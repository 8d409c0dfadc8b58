// Serves the sandbox over real HTTP, on loopback only.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { optionsReader } from '../../schemas/read-options.ts';

/** Where a sandbox listens. */
export interface ListenOptions {
  /**
   * 0 takes a free port.
   * @default 0
   */
  port?: number | undefined;
}

/** A sandbox that listens. */
export interface Listening {
  /** `http://127.0.0.1:<port>`: the `baseUrl` of a client. */
  url: string;
  close(): Promise<void>;
}

const PORT = { error: 'must be a number from 0 to 65535' };

const readFields = optionsReader<ListenOptions>()('sandbox.listen', {
  port: z.number(PORT).int(PORT).min(0, PORT).max(65_535, PORT).default(0),
});

type Handler = (request: Request) => Promise<Response>;

/** By this name the command line recognises a sandbox. */
export const SERVER_NAME = 'payment-gateway-sandbox';

/** Bytes. A create takes one or two thousand. */
const LONGEST_BODY = 1024 * 1024;

/** The page of another site, whose name leads to this machine, must not reach the sandbox through a browser. */
const LOCAL_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

export async function listen(handler: Handler, options: ListenOptions): Promise<Listening> {
  const { port } = readFields(options);
  const server = createServer((request, response) => {
    serve(handler, request, response).catch(() => response.socket?.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Rejects where the connection is to break. */
async function serve(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.setHeader('server', SERVER_NAME);
  const { host = '' } = incoming.headers;
  if (!LOCAL_NAMES.test(host)) {
    outgoing.writeHead(403).end('The sandbox answers on loopback names only.');
    return;
  }
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const request = await toRequest(incoming, host, gone.signal);
  if (!request) {
    outgoing.writeHead(413, { connection: 'close' }).end(`A body has at most ${LONGEST_BODY} bytes.`);
    return;
  }
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  gone.signal.addEventListener('abort', () => reader?.cancel().catch(() => {}), { once: true });
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      outgoing.write(value);
    }
  } catch {
    // Cut off on purpose: what was written arrives, then the connection ends without the rest.
    outgoing.socket?.destroySoon();
    return;
  }
  outgoing.end();
}

/** Undefined if the body is too long. */
async function toRequest(incoming: IncomingMessage, host: string, signal: AbortSignal): Promise<Request | undefined> {
  const { method = 'GET', url = '/', headers } = incoming;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length > LONGEST_BODY) return undefined;
    chunks.push(chunk);
  }
  const fields = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const body = method === 'GET' || method === 'HEAD' ? null : Buffer.concat(chunks);
  return new Request(`http://${host}${url}`, { method, headers: fields, body, signal });
}
