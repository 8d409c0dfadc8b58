// Reads a callback's body, up to a limit and a deadline.
import { withTimeout } from '../deadline.ts';
import { WebhookError } from '../errors.ts';
import { BoundedBody } from '../http/read-body.ts';

/** Milliseconds for the whole body: a callback is small. */
const DEADLINE = 10_000;

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** What a framework has parsed: anything that JSON can hold. */
export interface ParsedBody {
  body: unknown;
}

/** A request whose body a framework has parsed already, with the result. */
export const withParsedBody = (request: Request, parsed: ParsedBody): Request =>
  Object.defineProperty(request, PARSED, { value: parsed });

export const parsedBodyOf = (request: Request): ParsedBody | undefined =>
  (request as { [PARSED]?: ParsedBody })[PARSED];

/** Bytes, as the request says. */
export const lengthOf = (request: Request): number => Number(request.headers.get('content-length')) || 0;

/**
 * @throws {WebhookError} `too_large`; `already_parsed`, if something has read the body
 * @throws what the connection throws, and if the body takes too long
 */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    throw new WebhookError(
      'already_parsed',
      'The body was read before the webhook handler got the request: pass the request on first, or pass request.clone().',
    );
  }
  if (lengthOf(request) > maxBytes) throw tooLarge(maxBytes);
  const body = new BoundedBody(maxBytes);
  if (!request.body) return body.bytes;
  try {
    await withTimeout(body.read(request.body), DEADLINE, `The callback's body took more than ${DEADLINE} ms.`);
  } catch (error) {
    body.cancel();
    throw error;
  }
  if (body.isTooLong) throw tooLarge(maxBytes);
  return body.bytes;
}

export const tooLarge = (maxBytes: number) =>
  new WebhookError('too_large', `The callback's body is larger than maxBodyBytes, ${maxBytes} bytes.`);
