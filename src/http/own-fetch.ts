// Sends one attempt of a call through the merchant's fetch.
import { LateError, withSignal } from '../deadline.ts';
import type { Exchange, HttpAttempt, HttpRequest } from './exchange.ts';
import { neverLeft } from './network-error.ts';
import type { BodyStream } from './read-body.ts';

/** The options of a {@link Fetch} call. The signal is aborted at the timeout, or with the caller's own signal. */
export interface FetchInit {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** The signed bytes of a create, or null for a lookup. */
  body: Uint8Array<ArrayBuffer> | null;
  signal: AbortSignal;
  redirect: 'manual';
  cache: 'no-store';
}

/** The parts of a `Response` that the SDK reads. */
interface FetchAnswer {
  status: number;
  headers: { get(name: string): string | null };
  body: BodyStream | null;
  text(): Promise<string>;
}

/**
 * A fetch that does not retry: a proxy's, an APM wrapper, a test double, `sandbox.fetch`. Some may send a create twice:
 * Node's global fetch after status 421, that of Deno and of Bun below 1.4 after a reused connection broke. The SDK
 * cannot see the bytes that a fetch writes, so it never repeats a create over one. It reports `not_sent` only if the
 * error says that the gateway's own name or address was not reached.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export const exchangeByFetch =
  (fetch: Fetch): Exchange =>
  async (request, attempt) => {
    const { deadline, signal } = attempt;
    // A process that was paused must not send late.
    if (signal.aborted || deadline.remaining === 0) throw signal.reason ?? new LateError();
    // Ends at the signal even if the fetch ignores it.
    return withSignal(exchange(fetch, request, attempt), signal);
  };

async function exchange(fetch: Fetch, { method, url, headers, body }: HttpRequest, attempt: HttpAttempt) {
  const { signal } = attempt;
  // Copies, because a fetch may change its arguments.
  const copies = { headers: { ...headers }, body: body ? new Uint8Array(body) : null };
  attempt.mayHaveLeft = true;
  const fetching = async () => fetch(url, { method, ...copies, signal, redirect: 'manual', cache: 'no-store' });
  const answer = await fetching().catch(error => {
    // Only an error of fetch itself, before any answer or abort, can prove that nothing left.
    if (!signal.aborted && neverLeft(error, url)) attempt.mayHaveLeft = false;
    throw error;
  });
  // A test double may lack a stream.
  if (answer.body?.getReader) await attempt.body.read(answer.body, signal);
  else attempt.body.add(await answer.text());
  return { status: answer.status, header: (name: string) => answer.headers.get(name) };
}
