// The attempts of one call: each sends the very same bytes and reads the whole answer, up to a limit.
import { Buffer } from 'node:buffer';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Call, type EventListener, observe } from './events.ts';
import { neverLeft } from './failure.ts';
import { type Deadline, isPast, since } from './time.ts';

/** What a {@link Fetch} is called with. The signal is aborted when time is up, or when the caller's own is. */
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
  body: { getReader(): FetchReader; cancel(): Promise<unknown> } | null;
  text(): Promise<string>;
}

interface FetchReader {
  read(): Promise<{ done: boolean; value?: unknown }>;
  cancel(): Promise<unknown>;
}

/** Any fetch that does not retry: the global one, undici's, a proxy's, an APM wrapper, `sandbox.fetch`. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

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
  /** How many were begun. */
  count = 0;
  /** Whether the gateway may have received the request: true unless every attempt provably never left. */
  mayHaveLeft = false;
  /** The answer of the latest attempt, once it is whole. */
  answer: Answer | undefined;
  /** What the latest attempt threw, if it did. */
  failure: unknown;
  readonly #exchange: Exchange;
  readonly #fetch: Fetch | undefined;
  readonly #onEvent: EventListener | undefined;
  readonly #deadline: Deadline;
  #body = new Body();

  constructor(
    exchange: Exchange,
    deadline: Deadline,
    fetch: Fetch | undefined,
    onEvent: EventListener | undefined,
  ) {
    this.#exchange = exchange;
    this.#deadline = deadline;
    this.#fetch = fetch;
    this.#onEvent = onEvent;
  }

  /** The body of the latest answer as far as it arrived: half of one may hold the payment's id. */
  get received(): string {
    return this.#body.text;
  }

  /** Rejects as soon as the signal is aborted, even if the fetch in use does not heed it. */
  async next(signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const { call } = this.#exchange;
    const attempt = ++this.count;
    const begun = performance.now();
    this.answer = undefined;
    this.#body = new Body();
    observe(this.#onEvent, { ...call, type: 'request', attempt });
    const { signature } = this.#exchange.headers;
    const unwatch = signature ? stopLate(signature, this.#deadline) : undefined;
    try {
      // A process that was paused must not send late: somebody may have given the attempt up by now.
      if (isPast(this.#deadline)) throw new LateError();
      const { status, headers } = await unlessAborted(signal, () => this.#send(signal, this.#body));
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
      return this.answer;
    } catch (error) {
      this.failure = error;
      this.#body.cancel();
      throw error;
    } finally {
      unwatch?.();
    }
  }

  /** Resolves once the whole answer has been read into `into`. */
  async #send(signal: AbortSignal, into: Body): Promise<FetchAnswer> {
    const { method, url, headers, body } = this.#exchange;
    // Copies, so that a fetch that changes what it is given cannot change what the next attempt sends.
    const init: FetchInit = {
      method,
      headers: { ...headers },
      body: body ? new Uint8Array(body) : null,
      signal,
      redirect: 'manual',
      cache: 'no-store',
    };
    const before = this.mayHaveLeft;
    this.mayHaveLeft = true;
    let answer: FetchAnswer;
    try {
      answer = await (this.#fetch ?? fetch)(url, init);
    } catch (error) {
      // Only what fetch itself reports, of its own accord, can prove that nothing left: no reason of an abort, and
      // nothing that happens once there is an answer.
      if (!signal.aborted && neverLeft(error, url)) this.mayHaveLeft = before;
      throw error;
    }
    await into.read(answer);
    return answer;
  }
}

/**
 * A process that is paused while it connects finds the connection standing when it goes on, and fetch would write at
 * once. So the clock is looked at once more when Node's fetch, or undici, announces that it writes.
 *
 * @returns what ends the watch
 */
function stopLate(signature: string, deadline: Deadline): () => void {
  const watch = (message: unknown) => {
    const { headers, socket } = message as { headers: unknown; socket: { destroy(error: Error): unknown } };
    if (String(headers).includes(signature) && isPast(deadline)) socket.destroy(new LateError());
  };
  subscribe(SENDING, watch);
  return () => void unsubscribe(SENDING, watch);
}

const SENDING = 'undici:client:sendHeaders';

/** The time is up before anything was sent. */
export class LateError extends Error {}

/** The bytes of one answer, kept as they arrive. */
class Body {
  /** Whether it went on after {@link LONGEST_ANSWER}. */
  tooLong = false;
  readonly #chunks: Uint8Array[] = [];
  #reader: FetchReader | undefined;
  #isUnwanted = false;

  /** UTF-8 without a byte order mark. */
  get text(): string {
    return Buffer.concat(this.#chunks)
      .toString()
      .replace(/^\uFEFF/, '');
  }

  async read(answer: FetchAnswer): Promise<void> {
    if (this.#isUnwanted) return void answer.body?.cancel().catch(() => {});
    this.#reader = answer.body?.getReader?.();
    // A test's double may have no stream.
    if (!this.#reader) return void this.#chunks.push(bytesOf(await answer.text()));
    for (let length = 0; !this.tooLong; ) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      const chunk = bytesOf(value);
      this.#chunks.push(chunk);
      length += chunk.byteLength;
      this.tooLong = length > LONGEST_ANSWER;
    }
    this.cancel();
  }

  /** Stops reading, also before it has begun: the rest is not wanted. */
  cancel(): void {
    this.#isUnwanted = true;
    this.#reader?.cancel().catch(() => {});
  }
}

/** Fetch's own streams give bytes; those of a double may give text. */
function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return new Uint8Array(chunk as ArrayBuffer);
}

/** Does not even begin the work if the signal has been aborted by now. */
function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
    // A fetch may have aborted it in the middle of its own first step.
    if (signal.aborted) abort();
  });
}
