// The attempts of one call: each sends the very same bytes and reads the whole answer, up to a limit.
import { Buffer } from 'node:buffer';
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
  readonly #exchange: Exchange;
  readonly #fetch: Fetch | undefined;
  readonly #onEvent: EventListener | undefined;
  #count = 0;
  #body = new Body();

  constructor(exchange: Exchange, fetch: Fetch | undefined, onEvent: EventListener | undefined) {
    this.#exchange = exchange;
    this.#fetch = fetch;
    this.#onEvent = onEvent;
  }

  /** The body of the latest answer as far as it arrived: half of one may hold the payment's id. */
  get received(): string {
    return this.#body.text;
  }

  /** Rejects as soon as the signal is aborted, even if the fetch in use does not heed it. */
  async next(signal: AbortSignal): Promise<Response> {
    signal.throwIfAborted();
    const { call } = this.#exchange;
    const attempt = ++this.#count;
    const begun = performance.now();
    this.answer = undefined;
    this.#body = new Body();
    observe(this.#onEvent, { ...call, type: 'request', attempt });
    try {
      this.mayHaveLeft = true;
      const response = await unlessAborted(signal, this.#send(signal, this.#body));
      const { status, headers } = response;
      const requestId = headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
      const retryAfter = headers.get('retry-after') ?? undefined;
      const { text: body, tooLong } = this.#body;
      this.answer = { status, body, tooLong, requestId, retryAfter };
      observe(this.#onEvent, {
        ...call,
        type: 'response',
        attempt,
        status,
        requestId,
        durationMs: since(begun),
      });
      return response;
    } catch (error) {
      this.failure = error;
      if (neverLeft(error)) this.mayHaveLeft = false;
      this.#body.cancel();
      throw error;
    }
  }

  /** Resolves once the whole answer has been read into `into`. */
  async #send(signal: AbortSignal, into: Body): Promise<Response> {
    const { method, url, headers, body } = this.#exchange;
    const response = await (this.#fetch ?? fetch)(url, {
      method,
      headers,
      body: body ?? null,
      signal,
      redirect: 'manual',
      cache: 'no-store',
    });
    await into.read(response);
    return response;
  }
}

/** The bytes of one answer, kept as they arrive. */
class Body {
  /** Whether it went on after {@link LONGEST_ANSWER}. */
  tooLong = false;
  readonly #chunks: Uint8Array[] = [];
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  /** UTF-8 without a byte order mark. */
  get text(): string {
    return Buffer.concat(this.#chunks)
      .toString()
      .replace(/^\uFEFF/, '');
  }

  async read(response: Response): Promise<void> {
    this.#reader = response.body?.getReader?.();
    // A test's double may have no stream.
    if (!this.#reader) return void this.#chunks.push(Buffer.from(await response.text()));
    for (let bytes = 0; !this.tooLong; ) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      this.#chunks.push(value);
      bytes += value.byteLength;
      this.tooLong = bytes > LONGEST_ANSWER;
    }
    this.cancel();
  }

  /** Stops reading; the rest is not wanted. */
  cancel(): void {
    this.#reader?.cancel().catch(() => {});
  }
}

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
