// Sends one call to the gateway and returns its answer, with ky for the retries. No other file uses ky.
import ky from 'ky';
import { type Deadline, LateError, since } from '../deadline.ts';
import { isPassing } from '../http-statuses.ts';
import type { ConnectionOptions } from './connection.ts';
import { type Exchange, type HttpAnswer, HttpAttempt, type HttpRequest } from './exchange.ts';
import { type Failure, failureOf } from './network-error.ts';
import { exchangeByFetch, type Fetch } from './own-fetch.ts';
import { retryPolicy } from './retry-policy.ts';

/** The result of a call without a complete answer. */
export interface NoAnswer extends Failure {
  /** False if the request provably never left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer's body that arrived: it may contain the payment's id. */
  body: string;
}

/** The time limits of a call. */
export interface CallLimits {
  /** Covers every attempt, pause and body read. The SDK sends nothing after it. */
  deadline: Deadline;
  signal?: AbortSignal | undefined;
  /** Whether to wait until the signal, also after the deadline, for the answer to a request sent in time. */
  awaitsAnswer?: boolean | undefined;
}

/** Sends a call and never rejects. It repeats a lookup, and a create that provably never left this machine. */
export type Send = (request: HttpRequest, limits: CallLimits) => Promise<HttpAnswer | NoAnswer>;

/** @param options with a `fetch`, it replaces the SDK's own connections */
export async function createHttpClient(
  options: ConnectionOptions & { fetch?: Fetch | undefined; retries: number },
): Promise<Send> {
  const { fetch, retries } = options;
  // node:http is slow to load, and some runtimes lack it.
  const exchange = fetch ? exchangeByFetch(fetch) : (await import('./connection.ts')).openConnections(options);
  return async (request, { deadline, signal, awaitsAnswer }) => {
    if (signal?.aborted) return { mayHaveLeft: false, body: '', code: 'aborted' };
    const isCreate = request.method === 'POST';
    const attempts: HttpAttempt[] = [];
    // Ends the running attempt. ky's own timeout costs more, and Node loses its signal when ky clones a request.
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal?.reason);
    const timer = awaitsAnswer ? undefined : setTimeout(() => stop.abort(new LateError()), deadline.remaining);
    signal?.addEventListener('abort', giveUp);
    const attempt = () => attemptOnce(exchange, request, attempts, new HttpAttempt(deadline, stop.signal));
    const first = attempt();
    // ky gets a call only once the first attempt has failed, because it costs as much as the rest of a create.
    const repeat = () => {
      const failed = [first];
      return ky(request.url, {
        method: request.method,
        // Headers and body bypass ky, so that its errors cannot show them and the signed bytes are sent.
        fetch: () => (failed.pop() ?? attempt()) as never,
        timeout: false,
        // The errors of a merchant's fetch prove too little to repeat a create.
        retry: retryPolicy(isCreate, isCreate && fetch ? 0 : retries, deadline, attempts),
        // Not the caller's own, which may be of another realm.
        ...(signal && { signal: stop.signal }),
      });
    };
    await first.catch(repeat).catch(() => {});
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    // The first attempt is always in the list.
    const { answer, body, mayHaveLeft, failure } = attempts.at(-1) as HttpAttempt;
    // The abort ended the retries of a passing status.
    const isAborted = signal?.aborted && (!answer || isPassing(answer.status));
    // An error status is an answer too.
    if (answer && !isAborted) return { ...answer, body: body.text, isTooLong: body.isTooLong };
    return { mayHaveLeft, body: body.text, ...failure, ...(isAborted && { code: 'aborted' }) };
  };
}

/** Rejects if the attempt failed, or if its answer says that a later attempt may succeed. */
async function attemptOnce(
  exchange: Exchange,
  request: HttpRequest,
  attempts: HttpAttempt[],
  attempt: HttpAttempt,
): Promise<object> {
  attempt.signal.throwIfAborted();
  const { call, secrets } = request;
  const earlier = attempts.at(-1);
  const begun = performance.now();
  call.attempt = attempts.push(attempt);
  if (earlier) {
    const reason = earlier.answer?.status ?? earlier.failure.code;
    call.emit({ type: 'retry', reason, waitedMs: since(earlier.endedAt) });
  }
  call.emit({ type: 'request' });
  try {
    attempt.answer = await exchange(request, attempt);
  } catch (error) {
    attempt.failure = failureOf(error, secrets);
    throw error;
  } finally {
    attempt.endedAt = performance.now();
  }
  const { status, requestId } = attempt.answer;
  call.httpStatus = status;
  call.emit({ type: 'response', status, requestId, attemptMs: since(begun) });
  if (isPassing(status)) throw new Error();
  return { ok: true };
}
