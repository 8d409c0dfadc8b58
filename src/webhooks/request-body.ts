// Reads a callback's body, up to a limit and a deadline.
import { withTimeout } from '../deadline.ts';
import { WebhookError } from '../errors.ts';
import { BoundedBody } from '../http/read-body.ts';

/** Milliseconds for the whole body: a callback is small. */
const DEADLINE = 10_000;

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** A request whose body a framework has parsed already, with the result. */
export const withParsedBody = (request: Request, body: object): Request =>
  Object.defineProperty(request, PARSED, { value: body });

export const parsedBodyOf = (request: Request): object | undefined => (request as { [PARSED]?: object })[PARSED];

/**
 * @throws {WebhookError} `too_large`; `already_parsed` if something else has read the body before
 * @throws what the connection throws, and if the body takes too long
 */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    throw new WebhookError(
      'already_parsed',
      'The body was read before the webhook handler got the request: pass the request on first, or pass request.clone().',
    );
  }
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
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

const tooLarge = (maxBytes: number) =>
  new WebhookError('too_large', `The callback's body is larger than maxBodyBytes, ${maxBytes} bytes.`);
