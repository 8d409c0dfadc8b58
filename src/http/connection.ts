// Sends one attempt of a call over the SDK's own connection, or through the merchant's agent.
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { Settings } from '../client-options.ts';
import { LateError } from '../deadline.ts';
import { limit } from '../limit.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { AnswerHead, Exchange, HttpAttempt } from './exchange.ts';
import { runtime } from './runtime.ts';

export function openConnections({ baseUrl, agent: given, maxConnections }: Settings): Exchange {
  const base = new URL(baseUrl);
  const { protocol, hostname, port } = urlToHttpOptions(base);
  const isSecure = protocol === 'https:';
  const agent = given ?? proxyAgent(isSecure) ?? new ConnectionPool(isSecure, maxConnections, !runtime().repeatsPosts);
  const limited = limit(maxConnections);
  return ({ method, url, headers, body }, attempt) => {
    const path = url.slice(base.origin.length);
    // Only the pool reads `whileConnecting`.
    const options = { protocol, hostname, port, path, method, headers, agent, whileConnecting: attempt.signal };
    return limited(() => exchange(options, body, attempt), attempt.signal);
  };
}

/** Returns an agent for the environment's proxies, if Node uses them (`NODE_USE_ENV_PROXY`). */
function proxyAgent(isSecure: boolean) {
  const { Agent, globalAgent } = isSecure ? https : http;
  const { proxyEnv } = (globalAgent as { options?: http.AgentOptions }).options ?? {};
  return proxyEnv && new Agent({ keepAlive: true, proxyEnv });
}

async function exchange(
  options: http.RequestOptions,
  body: Uint8Array | undefined,
  attempt: HttpAttempt,
): Promise<AnswerHead> {
  const { deadline, signal } = attempt;
  const pool = options.agent instanceof ConnectionPool ? options.agent : undefined;
  // Read at each call, because instrumentation and mocks replace these properties.
  const outgoing = (options.protocol === 'https:' ? https : http).request(options);
  const { ended, isOver, answer, leave, fail } = endOf(outgoing, pool, attempt);
  let incoming: IncomingMessage | undefined;

  outgoing.once('socket', (socket: Socket & { secureConnecting?: boolean }) => {
    const write = () => {
      if (isOver()) return;
      if (outgoing.reusedSocket && pool && !pool.isFresh(socket)) return leave();
      // Checked last: a process that was paused must not send late.
      if (signal.aborted || deadline.remaining === 0) return fail(signal.reason ?? new LateError());
      attempt.mayHaveLeft = true;
      outgoing.end(body);
    };
    // A reused connection may have ended: read its events first. If a read began the call, only the second setImmediate
    // runs after the event loop has polled the sockets.
    if (outgoing.reusedSocket) setImmediate(setImmediate, write);
    // A pool's socket is connected. A mock of it waits for the request before it reports a connection.
    else if (pool) write();
    // The socket of a merchant's agent may still be connecting.
    else if (socket.secureConnecting) socket.once('secureConnect', write);
    else if (socket.connecting) socket.once('connect', write);
    else write();
  });
  outgoing.once('response', message => {
    // A connection that was left shares the attempt with the next one, which may have sent.
    if (isOver() || !attempt.mayHaveLeft) return leave();
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
    if (!attempt.mayHaveLeft && outgoing.reusedSocket) leave();
    // An answer that has begun may still complete.
    else if (!incoming) fail(error);
  });
  outgoing.once('close', () => {
    if (!incoming?.complete) fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
  });
  // Without an answer, a reused connection was closing or another's before the SDK wrote: take the next one.
  return (await ended) ?? exchange(options, body, attempt);
}

/** Returns the end of an exchange, and the ways to it. The first counts. */
function endOf(outgoing: ClientRequest, pool: ConnectionPool | undefined, { signal }: HttpAttempt) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<AnswerHead | undefined>();
  let isOver = false;
  const close = () => {
    const { socket } = outgoing;
    if (socket) pool ? pool.reset(socket) : socket.destroy();
    outgoing.destroy();
  };
  const end = (settle: () => void, isWhole = false) => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', giveUp);
    // Closing would free the socket under Node's parser or OpenSSL. But after an abort, waiting bytes must not leave.
    if (!isWhole) (signal.aborted ? process.nextTick : setImmediate)(close);
    settle();
  };
  const fail = (error: unknown) => end(() => reject(error));
  const giveUp = () => fail(signal.reason);
  signal.addEventListener('abort', giveUp);
  return {
    ended,
    isOver: () => isOver,
    // The rest of the request or answer is not needed.
    answer: (message: IncomingMessage) =>
      end(() => resolve(headOf(message)), outgoing.writableFinished && message.readableEnded),
    leave: () => end(() => resolve(undefined)),
    fail,
  };
}

/** Some servers write other values into the header, such as a character set. */
const COMPRESSED = /gzip|deflate|compress|\bbr\b|zstd/i;

function headOf({ statusCode: status = 0, headers }: IncomingMessage): AnswerHead {
  const isCompressed = COMPRESSED.test(headers['content-encoding'] ?? '');
  return { status, isCompressed, header: name => headers[name]?.toString() };
}
