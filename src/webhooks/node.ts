// Adapts a web-standard handler to node:http and node:http2, Express, Fastify and Nest.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Readable } from 'node:stream';
import { ConfigurationError } from '../errors.ts';
import { isPaymentId } from '../schemas/id.ts';
import { withParsedBody } from './request-body.ts';

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

/** The server's request, or a framework's: those of Express and Nest extend it, Fastify's contains it. */
export type NodeRequest = (Incoming | { raw: Incoming }) & {
  body?: unknown;
  rawBody?: unknown;
};

/** The server's response, or a framework's. */
export type NodeResponse = Outgoing | { raw: Outgoing; hijack(): unknown };

/** A `WebhookHandler`, or any other web-standard one. */
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
    // Fastify's have the originals in `raw`, where other middleware may keep the bytes of a body.
    const { raw } = request as { raw?: Incoming };
    const incoming = raw?.headers ? raw : (request as Incoming);
    // Both kinds of responses share the methods used here, although their types differ.
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

/** Reads the whole answer before it is sent, so that a failure is answered too. */
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
  // Other code may have answered in the meantime, such as the merchant's own timeout.
  if (outgoing.headersSent || outgoing.destroyed) return;
  const isUnread = !incoming.complete;
  // Ignores the version that a request claims: HTTP/2.0 may be written into HTTP/1.
  const stream = 'stream' in incoming ? incoming.stream : undefined;
  // The server would read the rest of an unread body as the next request.
  if (isUnread && !stream) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(status, headers);
  outgoing.end(text, () => {
    // An unread body would keep its stream and its session open permanently.
    if (isUnread && stream) setTimeout(() => stream.destroy(), CLOSING).unref();
  });
}

const isRaw = (body: unknown): body is string | Uint8Array => typeof body === 'string' || ArrayBuffer.isView(body);

function toRequest({ body, rawBody }: NodeRequest, incoming: Incoming): Request {
  const kept = [rawBody, body].find(isRaw);
  // PHP sends JSON as a form by default, and a parser of forms may tear it apart: then it has no id.
  const isForm = /form/i.test(incoming.headers['content-type'] ?? '');
  const parsed = isForm && !isPaymentId(Object(body).id) ? undefined : body;
  // Body parsers set an empty object by default, so one with an unread body does not count.
  const isRead = kept === undefined && incoming.readableDidRead;
  // Only POST is handled, and a Request refuses some other methods.
  const method = incoming.method === 'POST' ? 'POST' : 'GET';
  const sent = method === 'GET' || isRead ? null : (kept ?? Readable.toWeb(incoming));
  const init = { method, headers: headersOf(incoming), body: sent, duplex: 'half' } as RequestInit;
  const request = new Request(addressOf(incoming.url), init);
  return isRead ? withParsedBody(request, parsed) : request;
}

/** Keeps only path and query of a request's address: the rest is a header's, and may be anything. */
const addressOf = (target = '/') =>
  `http://localhost/${target.replace(/^(?:[a-z][a-z\d+.-]*:\/\/[^/?#]*)?\/?/i, '').replace(/#.*/s, '')}`;

/** Copies the headers, except HTTP/2's own fields and values that the web's Headers refuse. */
function headersOf({ headers: all }: Incoming): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(all)) {
    try {
      headers.set(name, String(value));
    } catch {
      // A callback does not need this header.
    }
  }
  return headers;
}
