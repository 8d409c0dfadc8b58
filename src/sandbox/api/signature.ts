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

/** Returns a create with its right signature, and with a function that signs another way. */
function factsOf(body: Uint8Array, terminal: Terminal) {
  const hmac = (bytes: string | Uint8Array, key: string | Uint8Array = terminal.signKey, algorithm = 'sha256') =>
    createHmac(algorithm, key).update(bytes).digest();
  const right = hmac(body);
  return { ...terminal, body, hmac, hex: right.toString('hex'), base64: right.toString('base64') };
}

type Facts = ReturnType<typeof factsOf>;
type Made = (facts: Facts) => readonly (string | Buffer)[];

/** Known mistakes by the step of signing, each with the headers or digests that it leads to. */
const MISTAKES: Readonly<Record<SigningStep, Readonly<Record<string, Made>>>> = {
  header: {
    'The Signature header is empty.': () => [''],
    'The signature has the prefix "sha256=". Send the digest alone.': ({ hex, base64 }) =>
      [hex, base64].map(text => `sha256=${text}`),
  },
  digest: {
    'The signature is base64; this terminal expects hex.': ({ base64 }) => [base64],
    'The signature is hex; this terminal expects base64.': ({ hex }) => [hex],
    'The signature is hex in upper case.': ({ hex }) => [hex.toUpperCase()],
    'The signature is the base64 of the hex text. Encode the digest itself.': ({ hex }) => [
      Buffer.from(hex).toString('base64'),
    ],
    'The signature is a SHA-256 without a key. This terminal expects an HMAC-SHA256.': ({ body, signKey }) =>
      ['', signKey].map(end => createHash('sha256').update(body).update(end).digest()),
    'The signature is an HMAC-SHA1. This terminal expects an HMAC-SHA256.': ({ body, signKey, hmac }) => [
      hmac(body, signKey, 'sha1'),
    ],
    'The signature is an HMAC-SHA512. This terminal expects an HMAC-SHA256.': ({ body, signKey, hmac }) => [
      hmac(body, signKey, 'sha512'),
    ],
    'The key and the body are interchanged.': ({ body, signKey, hmac }) => [hmac(signKey, body)],
  },
  key: {
    'The signature was made with the API key. Use the sign key.': ({ body, apiKey, hmac }) => [hmac(body, apiKey)],
    'The signature was made with an empty key.': ({ body, hmac }) => [hmac(body, '')],
    'The signature was made with the right key and white space at its ends.': ({ body, signKey, hmac }) =>
      ['\n', '\r\n', ' '].map(end => hmac(body, signKey + end)),
    'The sign key was decoded before it was used. Use its text.': ({ body, signKey, hmac }) =>
      (['hex', 'base64'] as const).map(form => hmac(body, Buffer.from(signKey, form))),
  },
  body: {
    'The signature is that of the same JSON serialised in another way. Sign the bytes that you send.': ({
      body,
      hmac,
    }) => serialisations(new TextDecoder().decode(body)).map(text => hmac(text)),
    'The signature is that of an empty body.': ({ hmac }) => [hmac('')],
  },
};

export function checkSignature(given: string | null, body: Uint8Array, terminal: Terminal): SignatureCheck {
  const facts = factsOf(body, terminal);
  const { hex, base64, signatureEncoding: encoding } = facts;
  const check = { given: given ?? undefined, expected: { hex, base64 }, encoding };
  if (given === facts[encoding]) return check;
  const { problem, step } = mistakeIn(given, facts);
  return { ...check, problem, correction: correctionOf(encoding, step) };
}

function mistakeIn(given: string | null, facts: Facts): { problem: string; step?: SigningStep } {
  if (given === null) return { problem: 'The Signature header is missing. Creates carry an HMAC-SHA256 of the body.' };
  const isGiven = (made: string | Buffer) =>
    typeof made === 'string' ? made === given : [made.toString('hex'), made.toString('base64')].includes(given);
  for (const [step, mistakes] of Object.entries(MISTAKES))
    for (const [problem, made] of Object.entries(mistakes))
      if (made(facts).some(isGiven)) return { problem, step: step as SigningStep };
  return { problem: 'The signature does not match: another key, or another body than the one sent.' };
}

/** The forms into which frameworks rewrite a JSON body between signing and sending. */
function serialisations(text: string): string[] {
  try {
    const value = JSON.parse(text);
    const sorted = Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    return [value, sorted]
      .flatMap(one => [JSON.stringify(one), inPython(one), ...[2, 4].map(spaces => JSON.stringify(one, null, spaces))])
      .flatMap(json => [json, escapeNonAscii(json)])
      .flatMap(json => [json, json.replaceAll('/', '\\/')])
      .concat(`${text}\n`);
  } catch {
    return [`${text}\n`];
  }
}

/** Writes JSON with a space after each comma and colon. */
const inPython = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '');
