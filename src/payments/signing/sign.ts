// Signs the bytes of a create.
import { createHmac, type KeyObject } from 'node:crypto';
import type { SignatureEncoding } from '../../client-options.ts';
import { ConfigurationError } from '../../errors.ts';

/**
 * Returns the `Signature` header: HMAC-SHA256 of a creation request's body under the merchant's sign key. Sign the
 * bytes that you send, because JSON that was serialised again has another signature.
 *
 * @param body the request's body, with text signed as UTF-8
 * @param signKey the merchant's sign key, with text used as UTF-8
 * @param encoding `hex` (lower case, 64 characters) or `base64` (44 characters)
 * @throws {ConfigurationError} for an empty key or another encoding
 */
export function signBody(
  body: string | Uint8Array,
  signKey: string | KeyObject,
  encoding: SignatureEncoding = 'hex',
): string {
  if (signKey === '') throw new ConfigurationError('signBody needs a sign key: an empty one signs nothing.');
  if (encoding !== 'hex' && encoding !== 'base64') {
    throw new ConfigurationError("signBody takes the encoding 'hex' or 'base64'.");
  }
  return createHmac('sha256', signKey).update(body).digest(encoding);
}
