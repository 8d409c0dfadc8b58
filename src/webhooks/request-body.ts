// Reads the claim of a callback from its request, within a size limit.
import { BoundedBody } from '../http/read-body.ts';
import { type Claim, readClaim } from './claim.ts';
import type { Endpoint } from './endpoint.ts';
import { unhandled } from './reply.ts';

/** Shared by the ESM and the CommonJS copy. */
const PARSED = Symbol.for('payment-gateway-sdk.parsed-body');

/** Attaches a body that a framework has parsed, any JSON value, to its request. Undefined: it is lost. */
export const withParsedBody = (request: Request, body: unknown) =>
  Object.defineProperty(request, PARSED, { value: { body } });

const READ_BEFORE =
  'The body was read before the webhook handler got the request: register this route before body parsers, keep the raw bytes (express.raw, rawBody: true), or pass request.clone().';

/** Reads until the signal, without keeping the body. */
export async function claimOf(
  { verify, maxBodyBytes }: Endpoint,
  request: Request & { [PARSED]?: { body: unknown } },
  signal: AbortSignal,
): Promise<Claim> {
  const parsed = request[PARSED];
  const isLost = parsed ? verify || parsed.body === undefined : request.bodyUsed;
  if (isLost) throw unhandled('already_parsed', READ_BEFORE);
  if (parsed) return readClaim(parsed.body);
  const body = new BoundedBody(maxBodyBytes);
  const isTooLong = Number(request.headers.get('content-length')) > maxBodyBytes;
  if (request.body && !isTooLong) await body.read(request.body, signal);
  signal.throwIfAborted();
  if (isTooLong || body.isTooLong)
    throw unhandled('too_large', `The callback's body is larger than maxBodyBytes, ${maxBodyBytes} bytes.`);
  const { bytes } = body;
  if (verify && !(await verify(request, bytes))) throw unhandled('refused', 'Your `verify` refused a callback.');
  return readClaim(bytes);
}
