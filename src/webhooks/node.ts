// Lets a web-standard handler serve node:http, Express, Fastify and Nest.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { ConfigurationError, WebhookError } from '../errors.ts';
import { withParsedBody } from './request-body.ts';

/** node:http's request, or that of a framework on top of it: Express's and Nest's extend it, Fastify's holds it. */
export type NodeRequest = (IncomingMessage | { raw: IncomingMessage }) & {
  body?: unknown;
  rawBody?: unknown;
};

/** node:http's response, or that of a framework on top of it. */
export type NodeResponse = ServerResponse | { raw: ServerResponse; hijack(): unknown };

/** A `WebhookHandler`, or any other web-standard one. */
type Handler = (request: Request) => Promise<Response>;

/**
 * Turns a webhook handler into one for node:http, Express, Fastify and Nest.
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
    const incoming = 'raw' in request ? request.raw : request;
    if ('raw' in response) response.hijack();
    const outgoing = 'raw' in response ? response.raw : response;
    const parsed = parsedByFramework(request, incoming);
    const webRequest = toRequest(request, incoming, parsed);
    const reply = await handler(parsed ? withParsedBody(webRequest, parsed) : webRequest);
    // Something else may have answered in the meantime, such as the merchant's own time-out.
    if (outgoing.headersSent || outgoing.destroyed) return;
    // The rest of a body that was not read would be taken for the next request.
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    outgoing.writeHead(reply.status, Object.fromEntries(reply.headers));
    outgoing.end(await reply.text());
  };
}

const isRaw = (body: unknown): body is string | Uint8Array => typeof body === 'string' || ArrayBuffer.isView(body);

type RequestBody = NonNullable<RequestInit['body']>;

/** What a framework parsed. An empty object beside an unread body is no parse: body parsers put it there by default. */
function parsedByFramework({ body, rawBody }: NodeRequest, incoming: IncomingMessage): object | undefined {
  if (isRaw(rawBody) || isRaw(body) || typeof body !== 'object' || body === null) return undefined;
  return incoming.readableDidRead ? body : undefined;
}

function toRequest(request: NodeRequest, incoming: IncomingMessage, parsed: object | undefined): Request {
  const { method = 'POST', headers, url = '/' } = incoming;
  const address = `http://${headers.host}${url}`;
  const fields = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const body = method === 'POST' && !parsed ? bodyOf(request, incoming) : null;
  return new Request(URL.canParse(address) ? address : 'http://localhost/', {
    // Only POST gets further, and not every method can be that of a Request.
    method: method === 'POST' ? 'POST' : 'GET',
    headers: fields,
    body,
    duplex: 'half',
  } as RequestInit);
}

function bodyOf({ body, rawBody }: NodeRequest, incoming: IncomingMessage): RequestBody {
  if (isRaw(rawBody)) return rawBody;
  if (isRaw(body)) return body;
  if (!incoming.readableDidRead) return Readable.toWeb(incoming);
  const lost = new WebhookError(
    'already_parsed',
    'The body was read before the webhook handler got the request, and is not in request.body: register this route before body parsers.',
  );
  return new ReadableStream({ start: controller => controller.error(lost) });
}
