// The lines of code that sign a create, in four languages, to correct a merchant's own.

export type Correction = Record<'php' | 'python' | 'node' | 'curl', string>;

export const LANGUAGES = [
  ['php', 'PHP'],
  ['python', 'Python'],
  ['node', 'Node'],
  ['curl', 'curl and openssl'],
] as const;

export type SigningStep = 'key' | 'body' | 'digest' | 'header';

const linesFor = (isHex: boolean): Record<keyof Correction, Record<SigningStep, string>> => ({
  php: {
    key: "$signKey = trim(getenv('PAYMENT_GATEWAY_SIGN_KEY'));",
    body: '$body = json_encode($payment); // sign and send this one text',
    digest: isHex
      ? "$signature = hash_hmac('sha256', $body, $signKey);"
      : "$signature = base64_encode(hash_hmac('sha256', $body, $signKey, true));",
    header: '$headers[] = "Signature: $signature";',
  },
  python: {
    key: "sign_key = os.environ['PAYMENT_GATEWAY_SIGN_KEY'].strip().encode()",
    body: 'body = json.dumps(payment).encode()  # sign these bytes, and send them as data=body',
    digest: isHex
      ? 'signature = hmac.new(sign_key, body, hashlib.sha256).hexdigest()'
      : 'signature = base64.b64encode(hmac.new(sign_key, body, hashlib.sha256).digest()).decode()',
    header: "headers['Signature'] = signature",
  },
  node: {
    key: 'const signKey = process.env.PAYMENT_GATEWAY_SIGN_KEY.trim();',
    body: 'const body = JSON.stringify(payment); // sign and send this one text',
    digest: `const signature = createHmac('sha256', signKey).update(body).digest('${isHex ? 'hex' : 'base64'}');`,
    header: 'headers.signature = signature;',
  },
  curl: {
    key: `sign_key=$(printf %s "$PAYMENT_GATEWAY_SIGN_KEY" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')`,
    body: 'body=$(cat payment.json) # sign this text, and send it as --data-raw "$body"',
    digest: isHex
      ? `signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "$sign_key" | sed 's/.* //')`
      : 'signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "$sign_key" -binary | openssl base64)',
    header:
      'curl "$PAYMENT_GATEWAY_URL/api/v1/payments" -H "Authorization: Bearer $PAYMENT_GATEWAY_API_KEY" -H "Signature: $signature" -H "Content-Type: application/json" --data-raw "$body"',
  },
});

/** Returns the line of one step, or all lines. */
export function correctionOf(encoding: 'hex' | 'base64', step?: SigningStep): Correction {
  const languages = Object.entries(linesFor(encoding === 'hex'));
  const written = languages.map(([name, lines]) => [name, step ? lines[step] : Object.values(lines).join('\n')]);
  return Object.fromEntries(written) as Correction;
}
