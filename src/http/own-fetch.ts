// Sends one attempt of a call through a fetch of the merchant's own. What it has sent can only be inferred.
import { LateError, withSignal } from '../deadline.ts';
import type { Attempt, Exchange, HttpRequest } from './exchange.ts';
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

/**
 * Any fetch that does not retry: a proxy's, an APM wrapper, a test double, `sandbox.fetch`. Node's global fetch repeats a
 * request by itself after status 421, and the fetch of Deno and of Bun below 1.4 after a reused connection broke: a
 * create may then be sent twice. What it writes after it has connected, however long that took, cannot be told. So a create over it
 * is never repeated, and `not_sent` only where its error says of the gateway itself that its name or address was not reached.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export const exchangeByFetch =
  (fetch: Fetch): Exchange =>
  async (request, attempt, signal) => {
    // A process that was paused must not send late: somebody may have given the attempt up by now.
    if (attempt.deadline.isPast) throw new LateError();
    signal.throwIfAborted();
    try {
      // Also if the fetch does not react to the signal.
      const { status, headers } = await withSignal(send(fetch, request, attempt, signal), signal);
      const { text: body, isTooLong } = attempt.body;
      const requestId = headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
      return { status, body, isTooLong, requestId, retryAfter: headers.get('retry-after') ?? undefined };
    } catch (error) {
      attempt.body.cancel();
      throw error;
    }
  };

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
