// Sends one attempt of a call through a fetch: the global one, or the merchant's own.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Deadline, withSignal } from '../deadline.ts';
import type { Attempt, HttpAnswer, HttpRequest } from './exchange.ts';
import { neverLeft } from './network-error.ts';
import type { BodyStream } from './read-body.ts';

/** What a {@link Fetch} is called with. The signal is aborted at the time-out, or when the caller's own signal is. */
export interface FetchInit {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** The signed bytes of a create; null on a lookup. */
  body: Uint8Array<ArrayBuffer> | null;
  signal: AbortSignal;
  redirect: 'manual';
  cache: 'no-store';
}

/** What a {@link Fetch} answers: the parts of a `Response` that are read. */
export interface FetchAnswer {
  status: number;
  headers: { get(name: string): string | null };
  body: BodyStream | null;
  text(): Promise<string>;
}

/** Any fetch that does not retry: the global one, undici's, a proxy's, an APM wrapper, `sandbox.fetch`. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** The time is up before anything was sent. */
export class LateError extends Error {}

/** Rejects as soon as the signal is aborted, even if the fetch does not react to it. */
export async function exchangeByFetch(
  fetch: Fetch,
  request: HttpRequest,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { signature } = request.headers;
  const unwatch = signature ? stopLate(signature, attempt.deadline) : undefined;
  try {
    // A process that was paused must not send late: somebody may have given the attempt up by now.
    if (attempt.deadline.isPast) throw new LateError();
    signal.throwIfAborted();
    const { status, headers } = await withSignal(send(fetch, request, attempt, signal), signal);
    const { text: body, isTooLong } = attempt.body;
    const requestId = headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
    return { status, body, isTooLong, requestId, retryAfter: headers.get('retry-after') ?? undefined };
  } catch (error) {
    attempt.body.cancel();
    throw error;
  } finally {
    unwatch?.();
  }
}

/** Resolves once the whole answer has been read into the attempt. */
async function send(
  fetch: Fetch,
  { method, url, headers, body }: HttpRequest,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<FetchAnswer> {
  // Copies, so that a fetch that changes what it is given cannot change what the next attempt sends.
  const init: FetchInit = {
    method,
    headers: { ...headers },
    body: body ? new Uint8Array(body) : null,
    signal,
    redirect: 'manual',
    cache: 'no-store',
  };
  attempt.mayHaveLeft = true;
  let answer: FetchAnswer;
  try {
    answer = await fetch(url, init);
  } catch (error) {
    // Only what fetch itself reports, of its own accord, can prove that nothing left: no reason of an abort, and
    // nothing that happens once there is an answer.
    if (!signal.aborted && neverLeft(error, url)) attempt.mayHaveLeft = false;
    throw error;
  }
  // A test double may have no stream.
  if (answer.body?.getReader) await attempt.body.read(answer.body);
  else attempt.body.add(await answer.text());
  return answer;
}

/**
 * A process that is paused while it connects finds the connection open when it goes on, and fetch would write at
 * once. So the clock is checked once more when Node's fetch, or undici, announces that it writes.
 *
 * @returns what ends the watch
 */
function stopLate(signature: string, deadline: Deadline): () => void {
  const watch = (message: unknown) => {
    const { headers, socket } = message as { headers: unknown; socket: { destroy(error: Error): unknown } };
    if (String(headers).includes(signature) && deadline.isPast) socket.destroy(new LateError());
  };
  subscribe(SENDING, watch);
  return () => void unsubscribe(SENDING, watch);
}

const SENDING = 'undici:client:sendHeaders';
