// The attempts of one call: each sends the very same bytes and reads the whole answer, up to a limit.
import { type Call, type EventListener, observe, since } from './events.ts';
import { neverLeft } from './failure.ts';

/** Any fetch that does not retry: a proxy's, an APM wrapper, `sandbox.fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** One call on the wire. */
export interface Exchange {
  call: Call;
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
}

/** What the gateway answered, whatever its status. */
export interface Answer {
  status: number;
  body: string;
  /** The body went on after {@link LONGEST_ANSWER}, and `body` is its beginning. */
  tooLong: boolean;
  requestId?: string | undefined;
  /** The `Retry-After` header. */
  retryAfter?: string | undefined;
}

/** Bytes. A record takes one or two thousand. */
export const LONGEST_ANSWER = 1024 * 1024;

export class Attempts {
  /** Whether the gateway may have received the request: true unless every attempt provably never left. */
  mayHaveLeft = false;
  /** The answer of the latest attempt, once it is whole. */
  answer: Answer | undefined;
  /** What the latest attempt threw, if it did. */
  failure: unknown;
  /** The text of the latest answer as far as it arrived. */
  received = '';
  readonly #exchange: Exchange;
  readonly #fetch: Fetch | undefined;
  readonly #onEvent: EventListener | undefined;
  #count = 0;

  constructor(exchange: Exchange, fetch: Fetch | undefined, onEvent: EventListener | undefined) {
    this.#exchange = exchange;
    this.#fetch = fetch;
    this.#onEvent = onEvent;
  }

  /** Rejects as soon as the signal is aborted, even if the fetch in use does not heed it. */
  async next(signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    const { call, method, url, headers, body } = this.#exchange;
    const attempt = ++this.#count;
    const begun = performance.now();
    this.answer = undefined;
    this.received = '';
    observe(this.#onEvent, { ...call, type: 'request', attempt });
    let reader: Reader | undefined;
    try {
      this.mayHaveLeft = true;
      const sending = (this.#fetch ?? fetch)(url, {
        method,
        headers,
        body: body ?? null,
        signal,
        redirect: 'manual',
        cache: 'no-store',
      });
      const response = await unlessAborted(signal, sending);
      const { status, headers: answered } = response;
      reader = response.body?.getReader?.();
      const tooLong = await unlessAborted(signal, reader ? this.#read(reader) : this.#readAll(response));
      const requestId = answered.get('x-request-id') ?? answered.get('request-id') ?? undefined;
      const retryAfter = answered.get('retry-after') ?? undefined;
      this.answer = { status, body: this.received, tooLong, requestId, retryAfter };
      const durationMs = since(begun);
      observe(this.#onEvent, { ...call, type: 'response', attempt, status, requestId, durationMs });
      return response;
    } catch (error) {
      this.failure = error;
      if (neverLeft(error)) this.mayHaveLeft = false;
      reader?.cancel().catch(() => {});
      throw error;
    }
  }

  /** Keeps what has arrived as it arrives: half an answer may hold the payment's id. */
  async #read(reader: Reader): Promise<boolean> {
    const decoder = new TextDecoder();
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      this.received += decoder.decode(value, { stream: true });
      if (bytes > LONGEST_ANSWER) {
        reader.cancel().catch(() => {});
        return true;
      }
    }
    this.received += decoder.decode();
    return false;
  }

  /** For a response without a web stream, such as a test's double. */
  async #readAll(response: Response): Promise<boolean> {
    this.received = await response.text();
    return false;
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
