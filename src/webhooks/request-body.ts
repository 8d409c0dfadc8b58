// Reads a callback's body within a size limit.
import { WebhookError } from '../errors.ts';
import { BoundedBody } from '../http/read-body.ts';

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** Attaches a body, any JSON value, that a framework has parsed already to its request. Undefined: it is lost. */
export const withParsedBody = (request: Request, body: unknown): Request =>
  Object.defineProperty(request, PARSED, { value: { body } });

export const parsedBodyOf = (request: Request) => (request as { [PARSED]?: { body: unknown } })[PARSED];

/** Reads a body until the signal. @throws {WebhookError} `too_large` */
export async function readRequestBody(request: Request, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const body = new BoundedBody(maxBytes);
  const isTooLong = Number(request.headers.get('content-length')) > maxBytes;
  if (request.body && !isTooLong) await body.read(request.body, signal);
  signal.throwIfAborted();
  if (isTooLong || body.isTooLong)
    throw new WebhookError('too_large', `The callback's body is larger than maxBodyBytes, ${maxBytes} bytes.`);
  return body.bytes;
}
