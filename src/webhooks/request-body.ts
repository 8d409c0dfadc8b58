// Reads a callback's body within a size limit and a deadline.
import { withTimeout } from '../deadline.ts';
import { WebhookError } from '../errors.ts';
import { BoundedBody } from '../http/read-body.ts';

/** Milliseconds for the whole body: a callback is small. */
const DEADLINE = 10_000;

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** A body that a framework has parsed: any JSON value. */
interface ParsedBody {
  body: unknown;
}

/** Attaches a body that a framework has parsed already to its request. */
export const withParsedBody = (request: Request, parsed: ParsedBody): Request =>
  Object.defineProperty(request, PARSED, { value: parsed });

export const parsedBodyOf = (request: Request): ParsedBody | undefined =>
  (request as { [PARSED]?: ParsedBody })[PARSED];

/** @throws {WebhookError} `too_large`, or `already_parsed` if other code has read the body */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw new WebhookError('already_parsed', READ_BEFORE);
  const body = new BoundedBody(maxBytes);
  const isTooLong = Number(request.headers.get('content-length')) > maxBytes;
  if (request.body && !isTooLong) {
    const late = `The callback's body took more than ${DEADLINE} ms.`;
    await withTimeout(body.read(request.body), DEADLINE, late).catch(error => {
      body.cancel();
      throw error;
    });
  }
  if (isTooLong || body.isTooLong)
    throw new WebhookError('too_large', `The callback's body is larger than maxBodyBytes, ${maxBytes} bytes.`);
  return body.bytes;
}

const READ_BEFORE =
  'The body was read before the webhook handler got the request: pass the request on first, or pass request.clone().';
