// Sends one attempt of a call over the SDK's own connection, or through the merchant's agent.
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { LateError } from '../deadline.ts';
import { limit } from '../limit.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { Exchange, HttpAnswer, HttpAttempt, HttpRequest } from './exchange.ts';
import { runtime } from './runtime.ts';

/** The settings of the connections. */
export interface ConnectionOptions {
  baseUrl: string;
  /** The merchant's agent, for client certificates, a private CA or a proxy. */
  agent?: http.Agent | undefined;
  maxConnections: number;
}

/** A reused connection turned out to be closing, or another's, before the SDK wrote to it. */
class StaleConnection extends Error {}

/** The route to the gateway, shared by all exchanges. */
interface Route {
  /** The gateway's address, parsed once. */
  target: { protocol: string; hostname: string; port: number | undefined };
  /** The part of a request's URL before its path. */
  origin: string;
  agent: http.Agent;
}

export function openConnections({ baseUrl, agent, maxConnections }: ConnectionOptions): Exchange {
  const url = new URL(baseUrl);
  const isSecure = url.protocol === 'https:';
  const { protocol, hostname, port } = urlToHttpOptions(url) as Route['target'];
  const limited = limit(maxConnections);
  const route = {
    target: { protocol, hostname, port },
    origin: url.origin,
    agent: agent ?? proxyAgent(isSecure) ?? new ConnectionPool(isSecure, maxConnections, !runtime().repeatsPosts),
  };
  const exchangeOn = async (...[request, attempt, signal]: Parameters<Exchange>): Promise<HttpAnswer> => {
    for (;;) {
      try {
        return await exchange(request, attempt, signal, route);
      } catch (error) {
        // Nothing was written, so the next connection can send it.
        if (!(error instanceof StaleConnection)) throw error;
      }
    }
  };
  return (request, attempt, signal) => limited(() => exchangeOn(request, attempt, signal), signal);
}

/** Returns an agent for the proxies that the environment names, if Node uses them (`NODE_USE_ENV_PROXY`). */
function proxyAgent(isSecure: boolean): http.Agent | undefined {
  const { Agent, globalAgent } = isSecure ? https : http;
  const { proxyEnv } = (globalAgent as { options?: http.AgentOptions }).options ?? {};
  return proxyEnv && new Agent({ keepAlive: true, proxyEnv });
}

function exchange(request: HttpRequest, attempt: HttpAttempt, signal: AbortSignal, route: Route): Promise<HttpAnswer> {
  const { method, url, headers, body } = request;
  const { target, origin, agent } = route;
  const pool = agent instanceof ConnectionPool ? agent : undefined;
  // Read from the modules at each call, because instrumentation and mocks replace these properties.
  const outgoing = (target.protocol === 'https:' ? https : http).request({
    ...target,
    path: url.slice(origin.length),
    method,
    headers: { ...headers, ...(body && { 'content-length': body.byteLength }) },
    agent,
    ...(pool && { whileConnecting: signal }),
  });
  const { ended, isSettled, answer, fail, giveUp } = endOf(outgoing, pool, attempt, signal);
  let incoming: IncomingMessage | undefined;
  let isWritten = false;

  outgoing.once('socket', (socket: Socket & { secureConnecting?: boolean }) => {
    const write = () => {
      if (isSettled()) return;
      if (outgoing.reusedSocket && pool && !pool.isFresh(socket)) return fail(new StaleConnection());
      // Checked last, because a process that was paused must not send late.
      if (signal.aborted) return giveUp();
      if (attempt.deadline.isPast) return fail(new LateError());
      isWritten = true;
      attempt.mayHaveLeft = true;
      outgoing.end(body);
    };
    // A reused connection may have ended: read its events first. If a read began the call, the first setImmediate
    // still runs before the event loop polls the sockets. The second runs after that.
    if (outgoing.reusedSocket) setImmediate(setImmediate, write);
    // A pool's socket is connected already. A mock of it waits for the request before it reports a connection.
    else if (pool) write();
    // The merchant's agent may hand over a socket that is not connected and secured yet.
    else if (socket.secureConnecting) socket.once('secureConnect', write);
    else if (socket.connecting) socket.once('connect', write);
    else write();
  });
  outgoing.once('response', message => {
    if (!isWritten) return fail(new StaleConnection());
    incoming = message;
    pool?.keepFor(message.socket, message.headers['keep-alive'] as string | undefined);
    message.on('data', chunk => {
      attempt.body.add(chunk);
      if (attempt.body.isTooLong) answer(message);
    });
    message.once('end', () => answer(message));
    message.once('error', fail);
  });
  outgoing.on('error', error => {
    if (!isWritten && outgoing.reusedSocket) fail(new StaleConnection());
    // An answer that has begun may still complete.
    else if (!incoming) fail(error);
  });
  outgoing.once('close', () => {
    if (!incoming?.complete) fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
  });
  return ended;
}

/** Returns the end of an exchange, and the ways to reach it. The first one counts. */
function endOf(outgoing: ClientRequest, pool: ConnectionPool | undefined, attempt: HttpAttempt, signal: AbortSignal) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  let isSettled = false;
  let socket: Socket | undefined;
  outgoing.once('socket', given => {
    socket = given;
  });
  const close = () => {
    if (socket) pool ? pool.reset(socket) : socket.destroy();
    outgoing.destroy();
  };
  const settle = (end: () => void, defer?: (task: () => void) => unknown) => {
    if (isSettled) return;
    isSettled = true;
    signal.removeEventListener('abort', giveUp);
    defer?.(close);
    end();
  };
  // Closes later, because Node's parser or OpenSSL may still use this socket: closing would free it under them.
  const fail = (error: unknown) => settle(() => reject(error), setImmediate);
  // Closes on the next tick: bytes that wait for the network must not leave any more.
  const giveUp = () => settle(() => reject(signal.reason), process.nextTick);
  const answer = (message: IncomingMessage) => {
    // The rest of the request or of the answer is not needed.
    const isWhole = outgoing.writableFinished && message.readableEnded;
    settle(() => resolve(answerOf(message, attempt)), isWhole ? undefined : setImmediate);
  };
  signal.addEventListener('abort', giveUp);
  return { ended, isSettled: () => isSettled, answer, fail, giveUp };
}

/** Compressions to find in a header into which some servers write other values, such as a character set. */
const COMPRESSED = /gzip|deflate|compress|\bbr\b|zstd/i;

function answerOf(message: IncomingMessage, attempt: HttpAttempt): HttpAnswer {
  const { statusCode: status = 0, headers } = message;
  const { 'x-request-id': id = headers['request-id'], 'retry-after': retryAfter } = headers;
  const { text: body, isTooLong } = attempt.body;
  const isCompressed = COMPRESSED.test(headers['content-encoding'] ?? '');
  return { status, body, isTooLong, isCompressed, requestId: id?.toString(), retryAfter };
}
