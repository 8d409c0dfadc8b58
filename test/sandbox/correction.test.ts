// The corrected code of a wrong signature, in the call, the API, the log and the dashboard.
import { createHmac } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { Sandbox, type SandboxEvent } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';
import { lineOf } from '../../src/sandbox/cli/lines.ts';

const BODY = '{"amount": 5}';
const hmac = (key: string) => createHmac('sha256', key).update(BODY);
const HERE = 'http://sandbox.localhost';

/** A refused create, and its line in the log. */
async function refuse(signature: string, authorization = 'Bearer sandbox-api-key') {
  const events: SandboxEvent[] = [];
  const sandbox = new Sandbox({ onEvent: event => events.push(event) });
  await sandbox.fetch(`${HERE}/api/v1/payments`, { method: 'POST', headers: { authorization, signature }, body: BODY });
  const [event] = events;
  if (!event) throw new Error('no event');
  return { sandbox, line: stripVTControlCharacters(lineOf(event) ?? '') };
}

it.each([
  ['key', hmac('sandbox-api-key').digest('hex'), /^\$signKey = trim\(getenv\('PAYMENT_GATEWAY_SIGN_KEY'\)\);$/],
  ['body', createHmac('sha256', 'sandbox-sign-key').update('{"amount":5}').digest('hex'), /^\$body = json_encode\(/],
  ['digest', hmac('sandbox-sign-key').digest('base64'), /^\$signature = hash_hmac\('sha256', \$body, \$signKey\);$/],
  ['header', '', /^\$headers\[\] = "Signature: \$signature";$/],
])(
  'a mistake of the %s is corrected by one line, also in the API, the log and the dashboard',
  async (_, given, php) => {
    const { sandbox, line } = await refuse(given);
    const { correction } = sandbox.calls[0]?.signature ?? {};
    expect(Object.keys(correction ?? {})).toEqual(['php', 'python', 'node', 'curl']);
    expect(correction?.php).toMatch(php);
    const call = (await (await sandbox.fetch(`${HERE}/_sandbox/calls/1`)).json()) as (typeof sandbox.calls)[0];
    expect(call.signature?.correction).toEqual(correction);
    expect(line.split('\n').slice(1)).toEqual(
      Object.entries(correction ?? {}).map(([language, code]) => `  ${language.padEnd(6)}  ${code}`),
    );
    const page = await (await sandbox.fetch(`${HERE}/calls/1`)).text();
    for (const language of ['PHP', 'Python', 'Node', 'curl and openssl'])
      expect(page).toContain(`aria-label="Correction in ${language}"`);
  },
);

it('an unknown mistake is corrected by all lines, which the log leaves to the page', async () => {
  const { sandbox, line } = await refuse('00');
  expect(sandbox.calls[0]?.signature?.correction?.php.split('\n')).toHaveLength(4);
  expect(line).not.toContain('\n');
});

it('nothing is corrected while the API key is wrong, or of a right signature', async () => {
  expect((await refuse('00', 'Bearer wrong')).line).not.toContain('\n');
  const { sandbox } = await refuse(hmac('sandbox-sign-key').digest('hex'));
  expect(sandbox.calls[0]?.signature).not.toHaveProperty('correction');
});
