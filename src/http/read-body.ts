// Reads the body of an answer or a callback up to a limit, and keeps the part of a body that breaks off.
import { Buffer } from 'node:buffer';

/** As in a `Response` or a `Request`. */
export interface BodyStream {
  getReader(): { read(): Promise<{ done: boolean; value?: unknown }>; cancel(): Promise<unknown> };
}

export class BoundedBody {
  /** Whether the body is longer than the limit, and its rest missing. */
  isTooLong = false;
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes() {
    return Buffer.concat(this.#chunks);
  }

  /** UTF-8 without a byte order mark. */
  get text() {
    return this.bytes.toString().replace(/^\uFEFF/, '');
  }

  /** @param chunk bytes, or the text of a test double */
  add(chunk: unknown) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as Uint8Array);
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    this.isTooLong = this.#length > this.#limit;
  }

  /** Ends with the stream, at the limit, or at the signal. */
  async read(stream: BodyStream, signal: AbortSignal) {
    const reader = stream.getReader();
    const cancel = () => void reader.cancel().catch(() => {});
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel);
    while (!this.isTooLong) {
      const { done, value } = await reader.read();
      if (done) return;
      this.add(value);
    }
    cancel();
  }
}
