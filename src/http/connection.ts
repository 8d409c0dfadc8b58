// Sends one attempt of a call over a connection of our own, or of the merchant's own agent.
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { LateError } from '../deadline.ts';
import { limit } from '../limit.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { Attempt, Exchange, HttpAnswer, HttpRequest } from './exchange.ts';

/** How connections are made. */
export interface ConnectionOptions {
  baseUrl: string;
  /** The merchant's own: for client certificates, a private CA, a proxy. */
  agent?: http.Agent | undefined;
  maxConnections: number;
  /** Whether a connection may serve several calls, one after the other. */
  isReusable: boolean;
}

/** A reused connection turned out to be closing, or not to be ours, before anything was written to it. */
class StaleConnection extends Error {}

/** The way to the gateway, of every exchange. */
interface Route {
  /** Where to, taken apart once. */
  target: { protocol: string; hostname: string; port: number | undefined };
  /** What of a request's URL comes before its path. */
  origin: string;
  agent: http.Agent;
}

export function openConnections({ baseUrl, agent, maxConnections, isReusable }: ConnectionOptions): Exchange {
  const url = new URL(baseUrl);
  const isSecure = url.protocol === 'https:';
  const { protocol, hostname, port } = urlToHttpOptions(url) as Route['target'];
  const limited = limit(maxConnections);
  const route = {
    target: { protocol, hostname, port },
    origin: url.origin,
    agent: agent ?? proxyAgent(isSecure) ?? new ConnectionPool(isSecure, maxConnections, isReusable),
  };
  const exchangeOn = async (...[request, attempt, signal]: Parameters<Exchange>): Promise<HttpAnswer> => {
    for (;;) {
      try {
        return await exchange(request, attempt, signal, route);
      } catch (error) {
        // Nothing was written, so another connection gets it.
        if (!(error instanceof StaleConnection)) throw error;
      }
    }
  };
  return (request, attempt, signal) => limited(() => exchangeOn(request, attempt, signal), signal);
}

/** Node's own agent, if Node was told to use the proxies that the environment names (`NODE_USE_ENV_PROXY`). */
function proxyAgent(isSecure: boolean): http.Agent | undefined {
  const { Agent, globalAgent } = isSecure ? https : http;
  const { proxyEnv } = (globalAgent as { options?: http.AgentOptions }).options ?? {};
  return proxyEnv && new Agent({ keepAlive: true, proxyEnv });
}

function exchange(
  { method, url, headers, body }: HttpRequest,
  attempt: Attempt,
  signal: AbortSignal,
  { target, origin, agent }: Route,
): Promise<HttpAnswer> {
  const pool = agent instanceof ConnectionPool ? agent : undefined;
  return new Promise((resolve, reject) => {
    // It may have waited for the code of this file, or for a place: nobody connects for it any more.
    signal.throwIfAborted();
    let socket: Socket | undefined;
    let incoming: IncomingMessage | undefined;
    let isSettled = false;
    let isWritten = false;

    // As properties of the modules, where instrumentation and mocks replace them.
    const outgoing = (target.protocol === 'https:' ? https : http).request({
      ...target,
      path: url.slice(origin.length),
      method,
      headers: { ...headers, ...(body && { 'content-length': body.byteLength }) },
      agent,
      ...(pool && { whileConnecting: signal }),
    });

    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      signal.removeEventListener('abort', giveUp);
      return true;
    };
    const close = () => {
      if (socket) pool ? pool.reset(socket) : socket.destroy();
      outgoing.destroy();
    };
    const fail = (error: unknown) => {
      if (!settle()) return;
      // Not while Node's parser or OpenSSL is at work on this socket: it would be freed under them.
      setImmediate(close);
      reject(error);
    };
    const giveUp = () => {
      if (!settle()) return;
      // At once: what waits for the network to take more must not leave any more.
      process.nextTick(close);
      reject(signal.reason);
    };
    const answer = (message: IncomingMessage) => {
      if (!settle()) return;
      // The rest of the request, or of the answer, is not needed any more.
      if (!outgoing.writableFinished || !message.readableEnded) setImmediate(close);
      resolve(answerOf(message, attempt));
    };

    const write = () => {
      if (isSettled) return;
      const isStale = outgoing.reusedSocket && socket && pool && !pool.isFresh(socket);
      if (isStale) return fail(new StaleConnection());
      // Now, and not before: a process that was paused must not send late.
      if (signal.aborted) return giveUp();
      if (attempt.deadline.isPast) return fail(new LateError());
      isWritten = true;
      attempt.mayHaveLeft = true;
      outgoing.end(body);
    };

    outgoing.once('socket', given => {
      socket = given;
      // What has arrived on a reused connection, its end above all, is to be seen first. Where something read has begun the
      // call, the first of these still runs before the event loop looks at its sockets again; the second runs after that.
      if (outgoing.reusedSocket) setImmediate(setImmediate, write);
      // Ours is connected by then; what a mock puts in its place waits for the request before it says so.
      else if (pool) write();
      else whenReady(given, write);
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
      // An answer that has begun may still end well.
      else if (!incoming) fail(error);
    });
    outgoing.once('close', () => {
      if (!incoming?.complete) fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    });

    signal.addEventListener('abort', giveUp);
  });
}

/** The socket of a merchant's own agent may still be connecting: until it is ready, and secured, nothing leaves. */
function whenReady(socket: Socket & { secureConnecting?: boolean }, write: () => void): void {
  if (socket.secureConnecting) socket.once('secureConnect', write);
  else if (socket.connecting) socket.once('connect', write);
  else write();
}

/** Some servers write other things into the header, such as a character set. */
const COMPRESSED = /gzip|deflate|compress|\bbr\b|zstd/i;

function answerOf(message: IncomingMessage, attempt: Attempt): HttpAnswer {
  const { statusCode: status = 0, headers } = message;
  const { 'x-request-id': id = headers['request-id'], 'retry-after': retryAfter } = headers;
  const { text: body, isTooLong } = attempt.body;
  const isCompressed = COMPRESSED.test(headers['content-encoding'] ?? '');
  return { status, body, isTooLong, isCompressed, requestId: id?.toString(), retryAfter };
}
