// Reads a callback's body, up to a limit and a deadline.
import { Buffer } from 'node:buffer';
import { WebhookError } from '../errors.ts';
import { failing, inTime } from '../time.ts';

/** Milliseconds for the whole body: a callback is small, and whoever trickles it is no gateway. */
const DEADLINE = 10_000;

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** A request whose body a framework has parsed already, with what it made of it. */
export const withParsedBody = (request: Request, body: object): Request =>
  Object.defineProperty(request, PARSED, { value: body });

export const parsedBodyOf = (request: Request): object | undefined =>
  (request as { [PARSED]?: object })[PARSED];

/**
 * @throws {WebhookError} `too_large`; `already_parsed` if something else has read the body before
 * @throws what the connection throws, and if the body takes too long
 */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    throw new WebhookError(
      'already_parsed',
      'The body was read before the webhook handler got the request: hand the request over first, or hand over request.clone().',
    );
  }
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  try {
    return await inTime(
      readAll(reader, maxBytes),
      DEADLINE,
      failing(`The callback's body took more than ${DEADLINE} ms.`),
    );
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    bytes += value.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
}

const tooLarge = (maxBytes: number) =>
  new WebhookError('too_large', `The callback's body is larger than maxBodyBytes, ${maxBytes} bytes.`);
