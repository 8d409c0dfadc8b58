// Adapts a web-standard handler to node:http, node:http2, Express, Fastify and Nest.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Readable } from 'node:stream';
import { ConfigurationError } from '../errors.ts';
import { isPaymentId } from '../schemas/id.ts';
import { withParsedBody } from './request-body.ts';

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

/** The server's request, or a framework's: Express and Nest extend it, Fastify contains it. */
export type NodeRequest = (Incoming | { raw: Incoming }) & { body?: unknown; rawBody?: unknown };

/** The server's response, or a framework's. */
export type NodeResponse = Outgoing | { raw: Outgoing; hijack(): unknown };

type Handler = (request: Request) => Promise<Response>;

/**
 * Turns a webhook handler into one for node:http, node:http2 (its compatibility API), Express, Fastify and Nest. It
 * answers every request without throwing or rejecting.
 *
 * @example
 * app.post('/callbacks', toNodeHandler(handler)); // Express, Fastify
 * createServer(toNodeHandler(handler)).listen(3000); // node:http
 */
export function toNodeHandler(handler: Handler): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('toNodeHandler takes a handler: toNodeHandler(createWebhookHandler({ … })).');
  }
  return async (request, response) => {
    // Fastify has the originals in `raw`, where other middleware may keep a body.
    const { raw } = request as { raw?: Incoming };
    const incoming = raw?.headers ? raw : (request as Incoming);
    // Both kinds have the methods used here.
    const outgoing = ('hijack' in response ? response.raw : response) as ServerResponse;
    try {
      if ('hijack' in response) response.hijack();
      send(incoming, outgoing, await replyOf(handler, request, incoming));
    } catch {
      // No answer is possible any more.
      outgoing.destroy();
    }
  };
}

type Reply = Awaited<ReturnType<typeof replyOf>>;

/** Reads the whole answer first, so that a failure is answered too. */
async function replyOf(handler: Handler, request: NodeRequest, incoming: Incoming) {
  try {
    const response = await handler(toRequest(request, incoming));
    const { status, headers } = response;
    return { status, headers: Object.fromEntries(headers), text: await response.text() };
  } catch {
    // The cause is unknown, so a retry may succeed.
    return { status: 503, headers: { 'content-type': 'text/plain', 'retry-after': '10' }, text: 'failed' };
  }
}

/** Milliseconds to send the end of an answer before its HTTP/2 stream is closed. */
const CLOSING = 100;

function send(incoming: Incoming, outgoing: ServerResponse, { status, headers, text }: Reply): void {
  // The merchant's own timeout may have answered.
  if (outgoing.headersSent || outgoing.destroyed) return;
  const isUnread = !incoming.complete;
  // A request of HTTP/1 may claim to be HTTP/2.0.
  const stream = 'stream' in incoming ? incoming.stream : undefined;
  // The server would read the rest of an unread body as the next request.
  if (isUnread && !stream) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(status, headers);
  outgoing.end(text, () => {
    // An unread body would keep its stream and session open permanently.
    if (isUnread && stream) setTimeout(() => stream.destroy(), CLOSING).unref();
  });
}

function toRequest({ body, rawBody }: NodeRequest, incoming: Incoming): Request {
  const kept = [rawBody, body].find(given => typeof given === 'string' || ArrayBuffer.isView(given));
  // Body parsers set an empty object by default, which does not count while the body is unread.
  const isRead = kept === undefined && incoming.readableDidRead;
  // Only POST is handled, and a Request refuses some other methods.
  const method = incoming.method === 'POST' ? 'POST' : 'GET';
  const sent = method === 'GET' || isRead ? null : (kept ?? Readable.toWeb(incoming));
  const init = { method, headers: headersOf(incoming), body: sent, duplex: 'half' } as RequestInit;
  const request = new Request(addressOf(incoming.url), init);
  if (!isRead) return request;
  // PHP sends JSON as a form by default. A parser of forms may tear it apart: then it has no id.
  const isTorn = /form/i.test(String(incoming.headers['content-type'])) && !isPaymentId(Object(body).id);
  return withParsedBody(request, isTorn ? undefined : body);
}

/** Keeps only the path and query of an address: the rest may be anything. */
const addressOf = (target = '/') =>
  `http://localhost/${target.replace(/^(?:[a-z][a-z\d+.-]*:\/\/[^/?#]*)?\/?/i, '').replace(/#.*/s, '')}`;

/** Leaves out headers that the web's Headers refuse, such as HTTP/2's own. No callback needs them. */
function headersOf({ headers: all }: Incoming): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(all)) {
    try {
      headers.set(name, String(value));
    } catch {}
  }
  return headers;
}
