// Sends one attempt of a call over a connection of our own, or of the merchant's own agent.
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { LateError } from '../deadline.ts';
import { limit } from '../limit.ts';
import { ConnectionPool } from './connection-pool.ts';
import {
  type Attempt,
  type Exchange,
  type HttpAnswer,
  type HttpRequest,
  isCompressed,
  LONGEST_ANSWER,
} from './exchange.ts';
import { behindAnswer, behindHeaders, isEndedByClose } from './framing.ts';

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
    let stray: NodeJS.Timeout | undefined;
    let isSettled = false;
    let isWritten = false;
    /** Something arrived before the request was written: it belongs to an earlier one. */
    let isUnsolicited = false;

    // As properties of the modules, where instrumentation and mocks replace them.
    const outgoing = (target.protocol === 'https:' ? https : http).request({
      ...target,
      path: url.slice(origin.length),
      method,
      headers: { ...headers, ...(body && { 'content-length': body.byteLength }) },
      agent,
      maxHeaderSize: LONGEST_ANSWER,
      ...(pool && { whileConnecting: signal }),
    });

    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      clearTimeout(stray);
      signal.removeEventListener('abort', giveUp);
      socket?.off('data', tap);
      return true;
    };
    const close = () => {
      // After an upgrade Node takes the request for destroyed, and leaves its socket open.
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

    /** All bytes as they arrive: an answer that HTTP cannot read may hold the payment's id. */
    const tap = (chunk: Uint8Array) => {
      if (!isWritten) isUnsolicited = true;
      else if (body && !attempt.raw.isTooLong) attempt.raw.add(chunk);
    };

    const write = () => {
      if (isSettled) return;
      const isStale = outgoing.reusedSocket && socket && pool && !pool.isFresh(socket);
      if (isStale || isUnsolicited) return fail(new StaleConnection());
      // Now, and not before: a process that was paused must not send late.
      if (signal.aborted) return giveUp();
      if (attempt.deadline.isPast) return fail(new LateError());
      isWritten = true;
      attempt.mayHaveLeft = true;
      outgoing.end(body);
    };

    outgoing.once('socket', given => {
      socket = given;
      given.prependListener('data', tap);
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
      if (body && isBodiless(message) && outgoing.writableFinished) {
        stray = setTimeout(answer, STRAY_BODY, message);
        return;
      }
      pool?.keepFor(message.socket, message.headers['keep-alive'] as string | undefined);
      message.on('data', chunk => {
        attempt.body.add(chunk);
        if (attempt.body.isTooLong) answer(message);
      });
      message.once('end', () => answer(message));
      message.once('error', fail);
    });
    outgoing.once('upgrade', (message, given, head) => {
      // Nobody else listens to it any more.
      given.on('error', () => {});
      attempt.body.add(head);
      answer(message);
    });
    outgoing.on('error', error => {
      if (!isWritten && outgoing.reusedSocket) fail(new StaleConnection());
      // An answer that has begun may still end well.
      else if (!incoming) fail(error);
    });
    outgoing.once('close', () => {
      if (incoming && isBodiless(incoming)) answer(incoming);
      else if (!incoming?.complete) fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
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

/** Whether HTTP gives the answer no body, and so leaves one unread that a careless gateway sends all the same. */
const isBodiless = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 204 || statusCode === 304 || Number(headers['content-length']) === 0;

/** Milliseconds for such a body to arrive: it may hold the payment's id. */
const STRAY_BODY = 100;

function answerOf(message: IncomingMessage, attempt: Attempt): HttpAnswer {
  const { statusCode: status = 0, headers } = message;
  const { 'x-request-id': id = headers['request-id'], 'retry-after': retryAfter } = headers;
  const isEncoded = isCompressed(headers['content-encoding']);
  const { text, isTooLong } = attempt.body;
  const shared = { status, isTooLong, isEncoded, requestId: id?.toString(), retryAfter };
  if (isBodiless(message)) return { ...shared, body: behindHeaders(attempt.raw.bytes).toString() };
  const stray = behindAnswer(attempt.raw.bytes, headers).toString().trim();
  return { ...shared, body: text, stray: stray || undefined, isEndedByClose: isEndedByClose(headers) };
}
