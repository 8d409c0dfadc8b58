// Complete programs that send one signed create, in four languages.
import type { SandboxSettings } from '../sandbox-options.ts';
import { correctionOf } from './correction.ts';

/** The programs read the keys from the environment. The one for the shell sets it. */
export function programsOf(payment: object, url: string, { apiKey, signKey, signatureEncoding }: SandboxSettings) {
  const { php, python, node, curl } = correctionOf(signatureEncoding);
  const json = JSON.stringify(payment, null, 2);
  return {
    php: `<?php
$payment = ${phpOf(payment)};
$headers = ['Authorization: Bearer ' . getenv('PAYMENT_GATEWAY_API_KEY'), 'Content-Type: application/json'];
${php}
$http = ['method' => 'POST', 'header' => $headers, 'content' => $body, 'ignore_errors' => true];
$context = stream_context_create(['http' => $http]);
echo file_get_contents(getenv('PAYMENT_GATEWAY_URL') . '/api/v1/payments', false, $context);`,
    python: `import base64, hashlib, hmac, json, os, urllib.request
payment = ${json}
headers = {'Authorization': 'Bearer ' + os.environ['PAYMENT_GATEWAY_API_KEY'], 'Content-Type': 'application/json'}
${python}
request = urllib.request.Request(os.environ['PAYMENT_GATEWAY_URL'] + '/api/v1/payments', data=body, headers=headers)
print(urllib.request.urlopen(request).read().decode())`,
    node: `import { createHmac } from 'node:crypto';
const payment = ${json};
const { PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY } = process.env;
const headers = { authorization: \`Bearer \${PAYMENT_GATEWAY_API_KEY}\`, 'content-type': 'application/json' };
${node}
const response = await fetch(\`\${PAYMENT_GATEWAY_URL}/api/v1/payments\`, { method: 'POST', headers, body });
console.log(response.status, await response.text());`,
    curl: `PAYMENT_GATEWAY_URL=${quoted(url)}
PAYMENT_GATEWAY_API_KEY=${quoted(apiKey)}
PAYMENT_GATEWAY_SIGN_KEY=${quoted(signKey)}
${curl.replace('cat payment.json', () => `printf %s ${quoted(json)}`)}`,
  };
}

/** Makes one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Writes texts, numbers and maps as PHP. */
function phpOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`;
  return `[${Object.entries(value as object)
    .map(([name, one]) => `\n  ${phpOf(name)} => ${phpOf(one)},`)
    .join('')}\n]`;
}
