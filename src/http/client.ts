// Sends one call to the gateway and returns its answer, with ky for the retries. No other file uses ky.
import ky from 'ky';
import { type Deadline, LateError, since } from '../deadline.ts';
import { isPassing } from '../http-statuses.ts';
import type { ConnectionOptions } from './connection.ts';
import { type Exchange, type HttpAnswer, type HttpAttempt, type HttpRequest, LONGEST_ANSWER } from './exchange.ts';
import { codeOf, safeCause } from './network-error.ts';
import { exchangeByFetch, type Fetch } from './own-fetch.ts';
import { BoundedBody } from './read-body.ts';
import { mayHaveLeft, retryPolicy } from './retry-policy.ts';

/** The result of a call without a complete answer. */
export interface NoAnswer {
  /** `timeout`, `aborted`, the system's code such as `ECONNREFUSED`, or `fetch_failed`. */
  code: string;
  /** False if the request provably never left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer's body that arrived: it may contain the payment's id. */
  received: string;
  /** Safe to show. */
  cause?: Error | undefined;
}

export interface HttpOptions extends ConnectionOptions {
  /** Replaces the SDK's own connections. */
  fetch?: Fetch | undefined;
  retries: number;
}

/** The time limits of a call. */
export interface CallLimits {
  /** Covers every attempt, pause and body read. The SDK sends nothing after it. */
  deadline: Deadline;
  signal?: AbortSignal | undefined;
  /** Whether to wait until the signal, also after the deadline, for the answer to a request sent in time. */
  awaitsAnswer?: boolean | undefined;
}

/**
 * Sends a call and never rejects. It repeats a lookup while the gateway is busy or unreachable. It repeats a create
 * only over the SDK's own connections, and only if the request provably never left this machine.
 */
export type Send = (request: HttpRequest, limits: CallLimits) => Promise<HttpAnswer | NoAnswer>;

export async function createHttpClient({ fetch, retries, ...options }: HttpOptions): Promise<Send> {
  // node:http is slow to load, and some runtimes lack it.
  const exchange = fetch ? exchangeByFetch(fetch) : (await import('./connection.ts')).openConnections(options);
  return async (request, { deadline, signal, awaitsAnswer }) => {
    const { method, url, secrets } = request;
    const attempts: HttpAttempt[] = [];
    // Ends the running attempt. ky's own timeout costs more, and Node loses its signal when ky clones a request.
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal?.reason);
    const timer = awaitsAnswer ? undefined : setTimeout(() => stop.abort(new LateError()), deadline.remaining);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp);
    const failure: unknown = await ky(url, {
      method,
      // Headers and body bypass ky, so that its errors cannot show them and the signed bytes are sent.
      fetch: () => attemptOnce(request, attempts, deadline, stop.signal, exchange) as never,
      timeout: false,
      retry: retryPolicy(method, attempts, deadline, { retries, isOwnFetch: fetch !== undefined }),
      // Not the caller's own, which may be of another realm.
      ...(signal && { signal: stop.signal }),
    }).then(
      () => undefined,
      error => error,
    );
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    const latest = attempts.at(-1);
    const { aborted, reason } = stop.signal;
    const isAborted = failure !== undefined && aborted && !(reason instanceof LateError);
    // An error status is an answer too, even if the time ended in the pause after it.
    if (latest?.answer && !isAborted) return latest.answer;
    const facts = { mayHaveLeft: mayHaveLeft(attempts), received: latest?.body.text ?? '' };
    if (isAborted) return { ...facts, code: 'aborted', cause: safeCause(reason, secrets) };
    const error = latest?.error;
    if (error === undefined || error instanceof LateError) return { ...facts, code: 'timeout' };
    return { ...facts, code: codeOf(error), cause: safeCause(error, secrets) };
  };
}

/** Rejects if the attempt failed, or if its answer says that a later attempt may succeed. */
async function attemptOnce(
  request: HttpRequest,
  attempts: HttpAttempt[],
  deadline: Deadline,
  signal: AbortSignal,
  exchange: Exchange,
): Promise<object> {
  signal.throwIfAborted();
  const { call } = request;
  const earlier = attempts.at(-1);
  const begun = performance.now();
  const attempt: HttpAttempt = { deadline, mayHaveLeft: false, body: new BoundedBody(LONGEST_ANSWER), endedAt: 0 };
  call.attempt = attempts.push(attempt);
  try {
    if (earlier) {
      const reason = earlier.answer?.status ?? codeOf(earlier.error);
      call.emit({ type: 'retry', reason, waitedMs: since(earlier.endedAt) });
    }
    call.emit({ type: 'request' });
    attempt.answer = await exchange(request, attempt, signal);
    const { status, requestId } = attempt.answer;
    call.httpStatus = status;
    call.emit({ type: 'response', status, requestId, attemptMs: since(begun) });
    if (isPassing(status)) throw new Error();
    return { ok: true };
  } catch (error) {
    attempt.error = error;
    throw error;
  } finally {
    attempt.endedAt = performance.now();
  }
}
