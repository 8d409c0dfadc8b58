// Checks a create's signature, and explains a mismatch if its cause can be found.
import { createHash, createHmac } from 'node:crypto';
import { escapeNonAscii } from '../php.ts';
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

interface Facts extends Terminal {
  body: Uint8Array;
  /** The right digest. */
  right: Buffer;
  /** Signs as the gateway does, also with another key or another body. */
  sign(bytes: string | Uint8Array, key?: string | Uint8Array): Buffer;
}

/** Known mistakes, each with the headers or digests that it leads to. */
const MISTAKES: readonly (readonly [
  step: SigningStep,
  problem: string,
  made: (facts: Facts) => readonly (string | Buffer)[],
])[] = [
  ['header', 'The Signature header is empty.', () => ['']],
  ['digest', 'The signature is base64; this terminal expects hex.', ({ right }) => [right.toString('base64')]],
  ['digest', 'The signature is hex; this terminal expects base64.', ({ right }) => [right.toString('hex')]],
  ['digest', 'The signature is hex in upper case.', ({ right }) => [right.toString('hex').toUpperCase()]],
  [
    'header',
    'The signature has the prefix "sha256=". Send the digest alone.',
    ({ right }) => [`sha256=${right.toString('hex')}`, `sha256=${right.toString('base64')}`],
  ],
  [
    'digest',
    'The signature is the base64 of the hex text. Encode the digest itself.',
    ({ right }) => [Buffer.from(right.toString('hex')).toString('base64')],
  ],
  [
    'digest',
    'The signature is a SHA-256 without a key. This terminal expects an HMAC-SHA256.',
    ({ body, signKey }) => ['', signKey].map(end => createHash('sha256').update(body).update(end).digest()),
  ],
  ...['sha1', 'sha512'].map(
    algorithm =>
      [
        'digest',
        `The signature is an HMAC-${algorithm.toUpperCase()}. This terminal expects an HMAC-SHA256.`,
        ({ body, signKey }: Facts) => [createHmac(algorithm, signKey).update(body).digest()],
      ] as const,
  ),
  ['digest', 'The key and the body are interchanged.', ({ body, signKey, sign }) => [sign(signKey, body)]],
  [
    'key',
    'The signature was made with the API key. Use the sign key.',
    ({ body, apiKey, sign }) => [sign(body, apiKey)],
  ],
  ['key', 'The signature was made with an empty key.', ({ body, sign }) => [sign(body, '')]],
  [
    'key',
    'The signature was made with the right key and white space at its ends.',
    ({ body, signKey, sign }) => ['\n', '\r\n', ' '].map(end => sign(body, signKey + end)),
  ],
  [
    'key',
    'The sign key was decoded before it was used. Use its text.',
    ({ body, signKey, sign }) => (['hex', 'base64'] as const).map(form => sign(body, Buffer.from(signKey, form))),
  ],
  [
    'body',
    'The signature is that of the same JSON serialised in another way. Sign the bytes that you send.',
    ({ body, sign }) => serialisations(new TextDecoder().decode(body)).map(text => sign(text)),
  ],
  ['body', 'The signature is that of an empty body.', ({ sign }) => [sign('')]],
];

export function checkSignature(given: string | null, body: Uint8Array, terminal: Terminal): SignatureCheck {
  const { signKey, signatureEncoding: encoding } = terminal;
  const sign: Facts['sign'] = (bytes, key = signKey) => createHmac('sha256', key).update(bytes).digest();
  const right = sign(body);
  const expected = { hex: right.toString('hex'), base64: right.toString('base64') };
  if (given === null) {
    const problem = 'The Signature header is missing. Creates carry an HMAC-SHA256 of the body.';
    return { expected, encoding, problem, correction: correctionOf(encoding) };
  }
  if (given === expected[encoding]) return { given, expected, encoding };
  const isGiven = (made: string | Buffer) =>
    typeof made === 'string' ? made === given : [made.toString('hex'), made.toString('base64')].includes(given);
  const [step, problem = 'The signature does not match: another key, or another body than the one sent.'] =
    MISTAKES.find(([, , made]) => made({ ...terminal, body, right, sign }).some(isGiven)) ?? [];
  return { given, expected, encoding, problem, correction: correctionOf(encoding, step) };
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
