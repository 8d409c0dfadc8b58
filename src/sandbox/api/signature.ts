// Checks a create's signature, and says what is wrong with one that does not match, if that can be found out.
import { createHmac, timingSafeEqual } from 'node:crypto';

export type Encoding = 'hex' | 'base64';

/** Undefined if the signature is right, else what is wrong with it. It never shows the key or the right signature. */
export function signatureProblem(
  given: string | null,
  body: Uint8Array,
  signKey: string,
  encoding: Encoding,
): string | undefined {
  if (given === null) return 'The Signature header is missing. Creates carry an HMAC-SHA256 of the body.';
  const sign = (bytes: string | Uint8Array, key = signKey, as: Encoding = encoding) =>
    createHmac('sha256', key).update(bytes).digest(as);
  const matches = (expected: string) => isSame(given, expected);
  if (matches(sign(body))) return undefined;

  const other = encoding === 'hex' ? 'base64' : 'hex';
  const text = new TextDecoder().decode(body);
  if (matches(sign(body, signKey, other))) return `The signature is ${other}; this terminal expects ${encoding}.`;
  if (encoding === 'hex' && matches(sign(body).toUpperCase())) {
    return 'The signature is in upper case; this terminal expects lower case.';
  }
  if (matches(sign(body, ''))) return 'The signature was made with an empty key.';
  if ([signKey.trim(), `${signKey}\n`, `${signKey} `].some(key => key !== signKey && matches(sign(body, key)))) {
    return 'The signature was made with the right key plus or minus white space at its ends.';
  }
  if (reserialised(text).some(variant => matches(sign(variant)))) {
    return 'The signature is that of the same JSON serialised in another way. Sign the very bytes you send.';
  }
  if (matches(sign(''))) return 'The signature is that of an empty body.';
  return 'The signature does not match: another key, or another body than the one sent.';
}

/** The ways in which frameworks rewrite a JSON body between signing and sending. */
function reserialised(text: string): string[] {
  try {
    const value = JSON.parse(text);
    const compact = JSON.stringify(value);
    const escaped = compact.replaceAll('/', '\\/');
    return [compact, JSON.stringify(value, null, 2), JSON.stringify(value, null, 4), escaped, `${text}\n`];
  } catch {
    return [];
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [new TextEncoder().encode(given), new TextEncoder().encode(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
