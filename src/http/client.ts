// Sends one call to the gateway and returns its answer, with ky for the retries. No other file uses ky.
import ky from 'ky';
import { type Deadline, LateError, since } from '../deadline.ts';
import { isPassing } from '../http-statuses.ts';
import type { ConnectionOptions } from './connection.ts';
import { type Exchange, type HttpAnswer, HttpAttempt, type HttpRequest } from './exchange.ts';
import { type Failure, failureOf } from './network-error.ts';
import { exchangeByFetch, type Fetch } from './own-fetch.ts';
import { pauseBefore } from './retry-policy.ts';

/** The result of a call without a complete answer. */
export interface NoAnswer extends Failure {
  /** False if the request provably never left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer's body that arrived: it may contain the payment's id. */
  body: string;
}

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
    if (signal?.aborted)
      return { mayHaveLeft: false, body: '', code: signal.reason instanceof LateError ? 'timeout' : 'aborted' };
    const { call, method, url } = request;
    // Ends the running attempt. ky's own timeout costs more, and Node loses its signal when ky clones a request.
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal?.reason);
    const timer = awaitsAnswer ? undefined : setTimeout(() => stop.abort(new LateError()), deadline.remaining);
    signal?.addEventListener('abort', giveUp);
    let last = new HttpAttempt(deadline, stop.signal);
    call.attempt = 1;
    const first = attemptOnce(exchange, request, last);
    // ky gets a call only once the first attempt has failed, because it costs as much as the rest of a create.
    const repeat = () => {
      const failed = [first];
      let failedAt = 0;
      let pause = 0;
      const again = () => {
        stop.signal.throwIfAborted();
        const reason = last.answer?.status ?? last.failure.code;
        last = new HttpAttempt(deadline, stop.signal);
        call.attempt += 1;
        call.emit({ type: 'retry', reason, waitedMs: since(failedAt) });
        return attemptOnce(exchange, request, last);
      };
      const shouldRetry = ({ retryCount }: { retryCount: number }) => {
        failedAt = performance.now();
        pause = pauseBefore(retryCount, last.answer?.pause);
        // A create is repeated only if it certainly never left. The errors of a merchant's fetch prove too little.
        const mayRepeat = method === 'GET' || !(fetch || last.mayHaveLeft);
        // If the time ends in the pause, the caller gets the answer now.
        return mayRepeat && deadline.remaining > pause;
      };
      return ky(url, {
        method,
        // Headers and body bypass ky, so that its errors cannot show them and the signed bytes are sent.
        fetch: () => (failed.pop() ?? again()) as never,
        timeout: false,
        retry: { methods: ['get', 'post'], limit: retries, shouldRetry, delay: () => pause },
        // Not the caller's own, which may be of another realm.
        ...(signal && { signal: stop.signal }),
      });
    };
    await first.catch(repeat).catch(() => {});
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    const { answer, body, mayHaveLeft, failure } = last;
    // The abort ended the retries of a passing status.
    const isStopped = signal?.aborted && !(signal.reason instanceof LateError);
    const isAborted = isStopped && (!answer || isPassing(answer.status));
    // An error status is an answer too.
    if (answer && !isAborted) return { ...answer, body: body.text, isTooLong: body.isTooLong };
    return { mayHaveLeft, body: body.text, ...failure, ...(isAborted && { code: 'aborted' }) };
  };
}

/** Rejects if the attempt failed, or if its answer says that a later attempt may succeed. */
async function attemptOnce(exchange: Exchange, request: HttpRequest, attempt: HttpAttempt): Promise<object> {
  const { call, secrets } = request;
  const begun = performance.now();
  call.emit({ type: 'request' });
  try {
    attempt.answer = await exchange(request, attempt);
  } catch (error) {
    attempt.failure = failureOf(error, secrets);
    throw error;
  }
  const { status, requestId } = attempt.answer;
  call.httpStatus = status;
  call.emit({ type: 'response', status, requestId, attemptMs: since(begun) });
  if (isPassing(status)) throw new Error();
  return { ok: true };
}
