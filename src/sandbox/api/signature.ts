// Checks a create's signature, and explains a mismatch if its cause can be found.
import { createHash, createHmac } from 'node:crypto';
import { escapeNonAscii } from '../text/php.ts';
import { type Correction, correctionOf, type SigningStep } from './correction.ts';

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
  /** The code that corrects the problem: one line for a known mistake, otherwise all that sign. */
  correction?: Correction | undefined;
}

interface Terminal {
  signKey: string;
  apiKey: string;
  signatureEncoding: Encoding;
}

const digests = (bytes: Buffer) => [bytes.toString('hex'), bytes.toString('base64')] as const;

const hmac = (bytes: string | Uint8Array, key: string | Uint8Array, algorithm = 'sha256') =>
  digests(createHmac(algorithm, key).update(bytes).digest());

/** Returns the known mistakes by the step of signing, each with its headers. */
function mistakesIn(body: Uint8Array, { signKey, apiKey }: Terminal) {
  const [hex, base64] = hmac(body, signKey);
  const keyless = (end: string) => digests(createHash('sha256').update(body).update(end).digest());
  const padded = (end: string) => hmac(body, signKey + end);
  const decoded = (form: Encoding) => hmac(body, Buffer.from(signKey, form));
  const text = new TextDecoder().decode(body);
  const rewritten = [`${text}\n`, ...serialisations(text)].flatMap(other => hmac(other, signKey));
  return {
    header: {
      'The Signature header is empty.': [''],
      'The signature has the prefix "sha256=". Send the digest alone.': [`sha256=${hex}`, `sha256=${base64}`],
    },
    digest: {
      'The signature is base64; this terminal expects hex.': [base64],
      'The signature is hex; this terminal expects base64.': [hex],
      'The signature is hex in upper case.': [hex.toUpperCase()],
      'The signature is the base64 of the hex text. Encode the digest itself.': [Buffer.from(hex).toString('base64')],
      'The signature is a SHA-256 without a key. This terminal expects an HMAC-SHA256.': ['', signKey].flatMap(keyless),
      'The signature is an HMAC-SHA1. This terminal expects an HMAC-SHA256.': hmac(body, signKey, 'sha1'),
      'The signature is an HMAC-SHA512. This terminal expects an HMAC-SHA256.': hmac(body, signKey, 'sha512'),
      'The key and the body are interchanged.': hmac(signKey, body),
    },
    key: {
      'The signature was made with the API key. Use the sign key.': hmac(body, apiKey),
      'The signature was made with an empty key.': hmac(body, ''),
      'The signature was made with the right key and white space at its ends.': ['\n', '\r\n', ' '].flatMap(padded),
      'The sign key was decoded before it was used. Use its text.': [...decoded('hex'), ...decoded('base64')],
    },
    body: {
      'The signature is that of the same JSON serialised in another way. Sign the bytes that you send.': rewritten,
      'The signature is that of an empty body.': hmac('', signKey),
    },
  } satisfies Record<SigningStep, Record<string, readonly string[]>>;
}

export function checkSignature(given: string | null, body: Uint8Array, terminal: Terminal): SignatureCheck {
  const { signKey, signatureEncoding: encoding } = terminal;
  const [hex, base64] = hmac(body, signKey);
  const check = { given: given ?? undefined, expected: { hex, base64 }, encoding };
  if (given === check.expected[encoding]) return check;
  const wrong = (problem: string, step?: SigningStep) => ({
    ...check,
    problem,
    correction: correctionOf(encoding, step),
  });
  if (given === null) return wrong('The Signature header is missing. Creates carry an HMAC-SHA256 of the body.');
  for (const [step, mistakes] of Object.entries(mistakesIn(body, terminal)))
    for (const [problem, made] of Object.entries(mistakes))
      if (made.includes(given)) return wrong(problem, step as SigningStep);
  return wrong('The signature does not match: another key, or another body than the one sent.');
}

/** The forms into which frameworks rewrite a JSON body between signing and sending. */
function serialisations(text: string): string[] {
  try {
    const value = JSON.parse(text);
    const sorted = Object.fromEntries(Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
    return [value, sorted]
      .flatMap(one => [inPython(one), ...[0, 2, 4].map(spaces => JSON.stringify(one, null, spaces))])
      .flatMap(json => [json, escapeNonAscii(json)])
      .flatMap(json => [json, json.replaceAll('/', '\\/')]);
  } catch {
    return [];
  }
}

/** Writes JSON with a space after each comma and colon. */
const inPython = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '');
