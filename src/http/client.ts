// Brings back the gateway's answer to one call. The only file that knows ky, which decides when to repeat.
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

/** What is known when no complete answer arrived. */
export interface NoAnswer {
  /** `timeout`, `aborted`, the system's code such as `ECONNREFUSED`, or `fetch_failed`. */
  code: string;
  /** False if the request provably never left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer's body that arrived: it may hold the payment's id. */
  received: string;
  /** Safe to show. */
  cause?: Error | undefined;
}

export interface HttpOptions {
  baseUrl: string;
  /** In place of our own connections. */
  fetch?: Fetch | undefined;
  agent?: Agent | undefined;
  maxConnections: number;
  retries: number;
}

/** How long a call may take. */
export interface CallLimits {
  /** For every attempt, wait and body read. Nothing is sent after it. */
  deadline: Deadline;
  signal?: AbortSignal | undefined;
  /** The answer of what was sent in time is awaited until the signal, also after the deadline. */
  awaitsAnswer?: boolean | undefined;
}

/**
 * Answers what the gateway answered, and never rejects. A lookup is repeated while the gateway is busy or out of reach;
 * a create only over our own connections, and only when it provably never left this machine.
 */
export type Send = (request: HttpRequest, limits: CallLimits) => Promise<HttpAnswer | NoAnswer>;

/** Carries the state of one call through ky, which hands unknown options on. */
class Attempts {
  readonly all: Attempt[] = [];
  readonly request: HttpRequest;
  readonly deadline: Deadline;
  /** Ends the attempt that runs. ky has a signal too, but Node loses it when ky clones its request to repeat it. */
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

/** What a failed attempt throws, so that `shouldRetry` knows whose it is. */
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
    // Headers and body stay out of ky, so that none of its errors can show them, and the bytes sent are those signed.
    fetch: (_, init) => attemptOnce((init as Carrier).attempts, exchange) as never,
    timeout: false,
    retry: {
      ...RETRY,
      limit: retries,
      shouldRetry: ({ error }) => {
        const attempts = attemptsOf(error);
        // ky's own time-out has none. Nothing is repeated after an error that is not an attempt's.
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
    // An answer with an error status is an answer all the same, also if the time ended in the pause after it.
    if (latest?.answer && !isAborted) return latest.answer;
    const received = latest?.body.text ?? '';
    if (isAborted) return { code: 'aborted', mayHaveLeft, received, cause: safeCause(signal.reason, request.secrets) };
    const error = latest?.error;
    if (error === undefined || error instanceof LateError) return { code: 'timeout', mayHaveLeft, received };
    return { code: codeOf(error), mayHaveLeft, received, cause: safeCause(error, request.secrets) };
  };
}

/** node:http takes long to load, and some runtimes have none: only calls over our own connections need it. */
function exchangeOf({ fetch, ...options }: HttpOptions): Exchange {
  if (fetch) return exchangeByFetch(fetch);
  const opening = import('./connection.ts').then(({ openConnections }) =>
    openConnections({ ...options, isReusable: !runtime().repeatsPosts }),
  );
  return async (...exchange) => (await opening)(...exchange);
}

/** How the state of a call travels through ky. */
interface Carrier {
  attempts: Attempts;
}

const attemptsOf = (error: unknown): Attempts | undefined => {
  if (error instanceof AttemptFailed) return error.attempts;
  return isHTTPError(error) ? (error.options as unknown as Carrier).attempts : undefined;
};

/** Undefined leaves it to ky's list of statuses and to `Retry-After`. */
function shouldRetry(attempts: Attempts, isInferred: boolean): boolean | undefined {
  const { request, deadline, mayHaveLeft, latest } = attempts;
  const { answer, error } = latest ?? {};
  // Without either it was aborted.
  if (!answer && (error === undefined || error instanceof LateError)) return false;
  const { method } = request;
  if (!mayRepeat({ method, mayHaveLeft, isInferred, answer }, deadline.remaining)) return false;
  return answer ? undefined : true;
}

/** What ky sees of an answer: whether to ask for another, and when. It must not see those of rate limits, for which it asks next. */
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
    // What an abort throws says nothing about the attempt.
    if (!signal.aborted) attempt.error = error;
    throw new AttemptFailed(attempts);
  } finally {
    attempt.endedAt = performance.now();
  }
}
