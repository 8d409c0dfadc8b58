// Checks a create's signature, and explains a mismatch if its cause can be found.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

type Encoding = 'hex' | 'base64';

/** A create's signature and the expected one. The sandbox shows it to its user, but never to a caller. */
export interface SignatureCheck {
  /** The `Signature` header, if present. */
  given?: string | undefined;
  /** The HMAC-SHA256 of the body's exact bytes. */
  expected: { hex: string; base64: string };
  /** The encoding that this terminal accepts. */
  encoding: Encoding;
  /** The problem with the signature. The text shows neither the key nor the right signature. */
  problem?: string | undefined;
}

interface Terminal {
  signKey: string;
  apiKey: string;
  signatureEncoding: Encoding;
}

export function checkSignature(
  given: string | null,
  body: Uint8Array,
  { signKey, apiKey, signatureEncoding: encoding }: Terminal,
): SignatureCheck {
  const digest = createHmac('sha256', signKey).update(body).digest();
  const expected = { hex: digest.toString('hex'), base64: digest.toString('base64') };
  if (given === null) {
    const problem = 'The Signature header is missing. Creates carry an HMAC-SHA256 of the body.';
    return { expected, encoding, problem };
  }
  if (isSame(given, expected[encoding])) return { given, expected, encoding };
  return {
    given,
    expected,
    encoding,
    problem: problemOf(given, expected, body, { signKey, apiKey, signatureEncoding: encoding }),
  };
}

function problemOf(
  given: string,
  expected: SignatureCheck['expected'],
  body: Uint8Array,
  { signKey, apiKey, signatureEncoding: encoding }: Terminal,
): string {
  const matches = (bytes: string | Uint8Array, key = signKey) =>
    isSame(given, createHmac('sha256', key).update(bytes).digest(encoding));
  const other = encoding === 'hex' ? 'base64' : 'hex';
  if (isSame(given, expected[other])) return `The signature is ${other}; this terminal expects ${encoding}.`;
  if (encoding === 'hex' && isSame(given, expected.hex.toUpperCase())) {
    return 'The signature is in upper case; this terminal expects lower case.';
  }
  if (given === '') return 'The Signature header is empty.';
  if (isSame(given.replace(/^sha256=/i, ''), expected[encoding])) {
    return 'The signature has the prefix "sha256=". Send the digest alone.';
  }
  if (isSame(given, Buffer.from(expected.hex).toString('base64'))) {
    return 'The signature is the base64 of the hex text. Encode the digest itself.';
  }
  if (isSame(given, createHash('sha256').update(body).digest(encoding))) {
    return 'The signature is a SHA-256 without a key. This terminal expects an HMAC-SHA256.';
  }
  for (const algorithm of ['sha1', 'sha512']) {
    if (!isSame(given, createHmac(algorithm, signKey).update(body).digest(encoding))) continue;
    return `The signature is an HMAC-${algorithm.toUpperCase()}. This terminal expects an HMAC-SHA256.`;
  }
  if (matches(body, apiKey)) return 'The signature was made with the API key. Use the sign key.';
  if (matches(body, '')) return 'The signature was made with an empty key.';
  if ([signKey.trim(), `${signKey}\n`, `${signKey} `].some(key => key !== signKey && matches(body, key))) {
    return 'The signature was made with the right key plus or minus white space at its ends.';
  }
  if (reserialised(new TextDecoder().decode(body)).some(variant => matches(variant))) {
    return 'The signature is that of the same JSON serialised in another way. Sign the very bytes you send.';
  }
  if (matches('')) return 'The signature is that of an empty body.';
  return 'The signature does not match: another key, or another body than the one sent.';
}

/** The forms into which frameworks rewrite a JSON body between signing and sending. */
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
