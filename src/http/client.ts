// Sends one call to the gateway, with ky for its retries. No other file uses ky.
import ky from 'ky';
import type { Settings } from '../client-options.ts';
import { type Deadline, LateError, since } from '../deadline.ts';
import { isPassing } from '../http-statuses.ts';
import type { AnswerHead, Exchange, HttpAnswer, HttpRequest } from './exchange.ts';
import { type Failure, failureOf } from './network-error.ts';
import { exchangeByFetch } from './own-fetch.ts';
import { BoundedBody } from './read-body.ts';
import { pauseAsked, pauseBefore } from './retry-policy.ts';

/** Bytes. A record has one or two thousand. */
const LONGEST_ANSWER = 1024 * 1024;

export interface NoAnswer extends Failure {
  /** False if the request provably never left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer that arrived: it may contain the payment's id. */
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

export async function createHttpClient(settings: Settings): Promise<Send> {
  const { fetch, retries } = settings;
  // node:http is slow to load, and some runtimes lack it.
  const exchange = fetch ? exchangeByFetch(fetch) : (await import('./connection.ts')).openConnections(settings);
  return async (request, { deadline, signal, awaitsAnswer }) => {
    const wasAborted = () => signal?.aborted && !(signal.reason instanceof LateError);
    if (signal?.aborted) return { mayHaveLeft: false, body: '', code: wasAborted() ? 'aborted' : 'timeout' };
    const { call, method, url } = request;
    // Ends the running attempt. ky's own timeout costs more, and Node loses its signal when ky clones a request.
    const stop = new AbortController();
    const giveUp = () => stop.abort(signal?.reason);
    const timer = awaitsAnswer ? undefined : setTimeout(() => stop.abort(new LateError()), deadline.remaining);
    signal?.addEventListener('abort', giveUp);
    call.attempt = 1;
    const attempt = () => attemptOnce(exchange, request, deadline, stop.signal);
    let last = await attempt();
    const repeat = () => {
      let failedAt = 0;
      let pause = 0;
      const attemptAgain = async () => {
        call.attempt += 1;
        call.emit({ type: 'retry', reason: 'code' in last ? last.code : last.status, waitedMs: since(failedAt) });
        last = await attempt();
      };
      const shouldRetry = ({ retryCount }: { retryCount: number }) => {
        failedAt = performance.now();
        pause = pauseBefore(retryCount, 'pause' in last ? last.pause : 0);
        // The errors of a merchant's fetch prove too little to repeat a create.
        const neverLeft = 'code' in last && !last.mayHaveLeft && !fetch;
        // If the time ends in the pause, the caller gets the answer now.
        return (method === 'GET' || neverLeft) && deadline.remaining > pause;
      };
      return ky(url, {
        method,
        // Judges the last attempt. The hook, which never rejects, sends the next one. Headers and body bypass ky: its
        // errors cannot show them, and the signed bytes are sent.
        fetch: async () => {
          if (mayPass(last)) throw new Error();
          return { ok: true } as never;
        },
        hooks: { beforeRetry: [attemptAgain] },
        timeout: false,
        retry: { methods: ['get', 'post'], limit: retries, shouldRetry, delay: () => pause },
        // The caller's own may be of another realm.
        signal: stop.signal,
      });
    };
    // ky gets only a failed call, because it costs as much as the rest of a create.
    if (mayPass(last)) await repeat().catch(() => {});
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    // The abort ended the retries of a passing status.
    if (!(wasAborted() && mayPass(last))) return last;
    return { mayHaveLeft: true, body: last.body, ...('code' in last && last), code: 'aborted' };
  };
}

const mayPass = (result: HttpAnswer | NoAnswer) => 'code' in result || isPassing(result.status);

async function attemptOnce(exchange: Exchange, request: HttpRequest, deadline: Deadline, signal: AbortSignal) {
  const { call, secrets } = request;
  const begun = performance.now();
  const body = new BoundedBody(LONGEST_ANSWER);
  const attempt = { deadline, signal, body, mayHaveLeft: false };
  const answered = ({ status, header, isCompressed }: AnswerHead): HttpAnswer => {
    const requestId = header('x-request-id') ?? header('request-id') ?? undefined;
    const pause = pauseAsked(header('retry-after'));
    call.httpStatus = status;
    call.emit({ type: 'response', status, requestId, attemptMs: since(begun) });
    return { status, requestId, pause, isCompressed, body: body.text, isTooLong: body.isTooLong };
  };
  const failed = (failure: Failure): NoAnswer => ({ mayHaveLeft: attempt.mayHaveLeft, body: body.text, ...failure });
  call.emit({ type: 'request' });
  const ended = exchange(request, attempt).then(answered);
  // An error of the merchant's fetch may throw when it is read.
  return ended.catch(error => failed(failureOf(error, secrets))).catch(() => failed({ code: 'fetch_failed' }));
}
