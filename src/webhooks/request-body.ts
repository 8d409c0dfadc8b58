// Reads a callback's body within a size limit and a deadline.
import { withTimeout } from '../deadline.ts';
import { WebhookError } from '../errors.ts';
import { BoundedBody } from '../http/read-body.ts';

/** Milliseconds for the whole body: a callback is small. */
const DEADLINE = 10_000;

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** Attaches a body, any JSON value, that a framework has parsed already to its request. */
export const withParsedBody = (request: Request, body: unknown): Request =>
  Object.defineProperty(request, PARSED, { value: { body } });

export const parsedBodyOf = (request: Request) => (request as { [PARSED]?: { body: unknown } })[PARSED];

/** @throws {WebhookError} `too_large`, or `already_parsed` if other code has read the body */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw new WebhookError('already_parsed', READ_BEFORE);
  const body = new BoundedBody(maxBytes);
  const isTooLong = Number(request.headers.get('content-length')) > maxBytes;
  if (request.body && !isTooLong) {
    const stop = new AbortController();
    await withTimeout(body.read(request.body, stop.signal), DEADLINE, () => {
      stop.abort();
      throw new Error(`The callback's body took more than ${DEADLINE} ms.`);
    });
  }
  if (isTooLong || body.isTooLong)
    throw new WebhookError('too_large', `The callback's body is larger than maxBodyBytes, ${maxBytes} bytes.`);
  return body.bytes;
}

const READ_BEFORE =
  'The body was read before the webhook handler got the request: pass the request on first, or pass request.clone().';
