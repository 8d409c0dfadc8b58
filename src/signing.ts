// Serialises a creation request once and signs exactly those bytes.
import { createHmac, type KeyObject } from 'node:crypto';
import { ConfigurationError } from './errors.ts';

/** How the signature's 32 bytes are written. The gateway's document does not say: `hex` is the default. */
export type SignatureEncoding = 'hex' | 'base64';

// In every Node since 21, and not yet in TypeScript's library.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/**
 * The JSON of a creation request. Fields of `extra` come last. An amount given as text keeps its digits.
 *
 * @throws TypeError if a value has no JSON, such as a BigInt or an object that holds itself.
 */
export function serialize(request: { amount: number | string }, extra?: object): string {
  const amount = typeof request.amount === 'string' ? rawJSON(request.amount) : request.amount;
  return JSON.stringify({ ...request, amount, ...extra });
}

/**
 * HMAC-SHA256 of a creation request's body under the merchant's sign key: the value of the `Signature` header.
 * Sign the very bytes you send; re-serialised JSON has another signature.
 *
 * @param body the request's body; text is signed as UTF-8
 * @param signKey the merchant's sign key; text is used as UTF-8
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
    throw new ConfigurationError("signBody knows the encodings 'hex' and 'base64'.");
  }
  return createHmac('sha256', signKey).update(body).digest(encoding);
}
