// Sends one call to the gateway and returns its answer, with ky for the retries. No other file uses ky.
import type { Agent } from 'node:http';
import ky, { isHTTPError, TimeoutError } from 'ky';
import { type Deadline, LateError, since } from '../deadline.ts';
import { isPassing } from '../statuses.ts';
import { type Attempt, type Exchange, type HttpAnswer, type HttpRequest, LONGEST_ANSWER } from './exchange.ts';
import { codeOf, safeCause } from './network-error.ts';
import { exchangeByFetch, type Fetch } from './own-fetch.ts';
import { BoundedBody } from './read-body.ts';
import { mayRepeat, RETRY } from './retry-policy.ts';
import { runtime } from './runtime.ts';

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

export interface HttpOptions {
  baseUrl: string;
  /** Replaces the SDK's own connections. */
  fetch?: Fetch | undefined;
  agent?: Agent | undefined;
  maxConnections: number;
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

/** The state of one call. */
class Attempts {
  readonly all: Attempt[] = [];
  readonly request: HttpRequest;
  readonly deadline: Deadline;
  /** Aborts the running attempt. Node loses ky's own signal when ky clones its request for a retry. */
  readonly giveUp = new AbortController();
  constructor(request: HttpRequest, deadline: Deadline) {
    this.request = request;
    this.deadline = deadline;
  }
  get latest(): Attempt | undefined {
    return this.all.at(-1);
  }
  get mayHaveLeft(): boolean {
    return this.all.some(attempt => attempt.mayHaveLeft);
  }
}

/** The error of a failed attempt: it carries the call's state to `shouldRetry`. */
class AttemptFailed extends Error {
  readonly attempts: Attempts;
  constructor(attempts: Attempts) {
    super();
    this.attempts = attempts;
  }
}

export function createHttpClient(options: HttpOptions): Send {
  const { retries, fetch } = options;
  const exchange = exchangeOf(options);
  const api = ky.create({
    // Headers and body bypass ky, so that its errors cannot show them and the signed bytes are sent.
    fetch: (_, init) => attemptOnce((init as Carrier).attempts, exchange) as never,
    timeout: false,
    retry: {
      ...RETRY,
      limit: retries,
      shouldRetry: ({ error }) => {
        const attempts = attemptsOf(error);
        // Only the error of an attempt allows a retry. ky's own timeout is not one.
        return attempts !== undefined && shouldRetry(attempts, fetch !== undefined);
      },
    },
  });
  return async (request, { deadline, signal, awaitsAnswer }) => {
    const attempts = new Attempts(request, deadline);
    const carrier: Carrier = { attempts };
    const giveUp = () => attempts.giveUp.abort(signal?.reason ?? new LateError());
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp);
    const failure: unknown = await api(request.url, {
      method: request.method,
      totalTimeout: awaitsAnswer ? false : deadline.remaining,
      ...(signal && { signal }),
      ...carrier,
    }).then(
      () => undefined,
      error => error,
    );
    signal?.removeEventListener('abort', giveUp);
    const { latest, mayHaveLeft } = attempts;
    if (latest && !latest.endedAt) giveUp();
    const isLate = failure instanceof TimeoutError;
    const isAborted = failure !== undefined && !isLate && signal?.aborted && !(signal.reason instanceof LateError);
    // An error status is an answer too, even if the time ended in the pause after it.
    if (latest?.answer && !isAborted) return latest.answer;
    const received = latest?.body.text ?? '';
    if (isAborted) return { code: 'aborted', mayHaveLeft, received, cause: safeCause(signal.reason, request.secrets) };
    const error = latest?.error;
    if (error === undefined || error instanceof LateError) return { code: 'timeout', mayHaveLeft, received };
    return { code: codeOf(error), mayHaveLeft, received, cause: safeCause(error, request.secrets) };
  };
}

/** Loads node:http only for the SDK's own connections: it is slow to load, and some runtimes lack it. */
function exchangeOf({ fetch, ...options }: HttpOptions): Exchange {
  if (fetch) return exchangeByFetch(fetch);
  const opening = import('./connection.ts').then(({ openConnections }) =>
    openConnections({ ...options, isReusable: !runtime().repeatsPosts }),
  );
  return async (...exchange) => (await opening)(...exchange);
}

/** Carries the state of a call through ky, which passes unknown options on. */
interface Carrier {
  attempts: Attempts;
}

const attemptsOf = (error: unknown): Attempts | undefined => {
  if (error instanceof AttemptFailed) return error.attempts;
  return isHTTPError(error) ? (error.options as unknown as Carrier).attempts : undefined;
};

/** Returns undefined to leave the decision to ky's list of statuses and to `Retry-After`. */
function shouldRetry(attempts: Attempts, isInferred: boolean): boolean | undefined {
  const { request, deadline, mayHaveLeft, latest } = attempts;
  const { answer, error } = latest ?? {};
  // An attempt without either was aborted.
  if (!answer && (error === undefined || error instanceof LateError)) return false;
  const { method } = request;
  if (!mayRepeat({ method, mayHaveLeft, isInferred, answer }, deadline.remaining)) return false;
  return answer ? undefined : true;
}

/** The part of an answer for ky. Rate-limit headers stay hidden: ky reads them if `Retry-After` is missing. */
const seenByKy = ({ status, retryAfter }: HttpAnswer) => ({
  ok: !isPassing(status),
  status,
  headers: { get: () => retryAfter ?? null },
  body: null,
  text: async () => '',
});

async function attemptOnce(attempts: Attempts, exchange: Exchange) {
  const { request, deadline, all, giveUp, latest: earlier } = attempts;
  const { signal } = giveUp;
  const { call } = request;
  const begun = performance.now();
  const attempt: Attempt = {
    deadline,
    mayHaveLeft: false,
    body: new BoundedBody(LONGEST_ANSWER),
    endedAt: 0,
  };
  all.push(attempt);
  call.attempt = all.length;
  try {
    signal.throwIfAborted();
    if (earlier) {
      const reason = earlier.answer?.status ?? codeOf(earlier.error);
      call.tell({ type: 'retry', reason, waitedMs: since(earlier.endedAt) });
    }
    call.tell({ type: 'request' });
    attempt.answer = await exchange(request, attempt, signal);
    const { status, requestId } = attempt.answer;
    call.httpStatus = status;
    call.tell({ type: 'response', status, requestId, attemptMs: since(begun) });
    return seenByKy(attempt.answer);
  } catch (error) {
    // The error of an abort says nothing about the attempt.
    if (!signal.aborted) attempt.error = error;
    throw new AttemptFailed(attempts);
  } finally {
    attempt.endedAt = performance.now();
  }
}
