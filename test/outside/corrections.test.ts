// Mistakes of signing, made in PHP and Python, are named; the dashboard's code of each language signs as openssl does.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it, onTestFinished } from 'vitest';
import { asText } from '../support/pages.ts';
import { lacks } from '../support/skips.ts';

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const isMissing = {
  php: lacks(has('php', '--version'), 'signatures in PHP: no php'),
  python: lacks(has('python3', '--version'), 'signatures in Python: no python3'),
  node: false,
  curl: lacks(has('openssl', 'version') && has('curl', '--version'), 'signatures in a shell: no openssl or curl'),
};

const KEY = 'c2FuZGJveA==';
const PAYMENT =
  '{"paymentType":"DEPOSIT","paymentMethod":"CARD","amount":25.5,"currency":"EUR","reference":"Zoë/1","webhookUrl":"http://127.0.0.1:1/"}';

const MISTAKES = {
  php: {
    "hash_hmac('sha256', json_encode(json_decode($body)), $key)": 'serialised in another way',
    "hash_hmac('sha256', json_encode(json_decode($body), JSON_PRETTY_PRINT), $key)": 'serialised in another way',
    "hash_hmac('sha256', json_encode(json_decode($body), JSON_UNESCAPED_SLASHES), $key)": 'serialised in another way',
    "hash_hmac('sha256', $body . PHP_EOL, $key)": 'serialised in another way',
    "hash_hmac('sha256', '', $key)": 'of an empty body',
    "hash_hmac('sha256', $body, 'sandbox-api-key')": 'made with the API key',
    "hash_hmac('sha256', $body, '')": 'made with an empty key',
    "hash_hmac('sha256', $body, $key . PHP_EOL)": 'white space at its ends',
    "hash_hmac('sha256', $body, base64_decode($key))": 'decoded before it was used',
    "hash_hmac('sha256', $key, $body)": 'The key and the body are interchanged.',
    "hash_hmac('sha1', $body, $key)": 'HMAC-SHA1.',
    "hash_hmac('sha512', $body, $key)": 'HMAC-SHA512.',
    "hash('sha256', $body)": 'SHA-256 without a key',
    "hash('sha256', $body . $key)": 'SHA-256 without a key',
    "base64_encode(hash_hmac('sha256', $body, $key))": 'the base64 of the hex text',
    "base64_encode(hash_hmac('sha256', $body, $key, true))": 'The signature is base64; this terminal expects hex.',
    "strtoupper(hash_hmac('sha256', $body, $key))": 'hex in upper case',
    "'sha256=' . hash_hmac('sha256', $body, $key)": 'the prefix "sha256="',
    "hash_hmac('sha256', $body, 'other')": 'another key, or another body',
  },
  python: {
    'sign(json.dumps(payment).encode())': 'serialised in another way',
    'sign(json.dumps(payment, sort_keys=True).encode())': 'serialised in another way',
    'sign(json.dumps(payment, indent=2).encode())': 'serialised in another way',
    'sign(json.dumps(payment, ensure_ascii=False).encode())': 'serialised in another way',
    "sign(json.dumps(payment, separators=(',', ':')).encode())": 'serialised in another way',
    "base64.b64encode(hmac.new(key, body, 'sha1').digest()).decode()": 'HMAC-SHA1.',
  },
};

/** The signatures of one language, by its expressions. */
const PROGRAMS = {
  php: (made: string[]) => `$body = getenv('BODY'); $key = getenv('SIGN_KEY'); echo json_encode([${made.join(', ')}]);`,
  python: (made: string[]) => `import base64, hashlib, hmac, json, os
body, key = os.environ['BODY'].encode(), os.environ['SIGN_KEY'].encode()
payment = json.loads(body)
sign = lambda signed: hmac.new(key, signed, hashlib.sha256).hexdigest()
print(json.dumps([${made.join(', ')}]))`,
};
const COMMANDS = { php: ['php', '-r'], python: ['python3', '-c'] } as const;

for (const language of ['php', 'python'] as const)
  it.skipIf(isMissing[language])(`names the mistakes of ${language}`, async () => {
    const mistakes = Object.entries(MISTAKES[language]);
    const [program, flag] = COMMANDS[language];
    const code = PROGRAMS[language](mistakes.map(([expression]) => expression));
    const env = { ...process.env, BODY: PAYMENT, SIGN_KEY: KEY };
    const signatures = JSON.parse(execFileSync(program, [flag, code], { env, encoding: 'utf8' }));
    const sandbox = new Sandbox({ signKey: KEY });
    for (const [at, [expression, problem]] of mistakes.entries()) {
      const headers = { authorization: 'Bearer sandbox-api-key', signature: signatures[at] };
      const init = { method: 'POST', headers, body: PAYMENT };
      const { status } = await sandbox.fetch('http://sandbox.localhost/api/v1/payments', init);
      const { signature } = sandbox.calls.at(-1) ?? {};
      expect([expression, status, signature?.problem]).toEqual([expression, 401, expect.stringContaining(problem)]);
    }
  });

/** How a merchant runs the code of a language. */
const RUNS = {
  php: (code: string) => ['php', '-r', code.replace('<?php', '')],
  python: (code: string) => ['python3', '-c', code],
  node: (code: string) => [process.execPath, '--input-type=module', '-e', code],
  curl: (code: string) => ['sh', '-c', code],
};

const REFERENCE = `Zoë/1 "it's" \\\\ $signKey %s`;

for (const language of ['php', 'python', 'node', 'curl'] as const)
  it.skipIf(isMissing[language] || isMissing.curl).each(['hex', 'base64'] as const)(
    `the code of the form in ${language}, and so the corrected lines, sign in %s`,
    async signatureEncoding => {
      const signKey = `it's ${KEY}`;
      const sandbox = new Sandbox({ signKey, signatureEncoding });
      const { url, close } = await sandbox.listen();
      onTestFinished(close);
      const fields = { paymentMethod: 'CARD', currency: 'EUR', webhookUrl: 'http://127.0.0.1:1/' };
      const form = { paymentType: 'DEPOSIT', amount: '25.5', reference: REFERENCE, ...fields };
      const page = await (await fetch(`${url}/create?${new URLSearchParams(form)}`)).text();
      const [, code = ''] = new RegExp(`id="create-${language}"[^>]*><code>([^<]*)`).exec(page) ?? [];
      expect(code).not.toBe('');
      const [program = '', ...args] = RUNS[language](asText(code));
      const keys = { PAYMENT_GATEWAY_API_KEY: 'sandbox-api-key', PAYMENT_GATEWAY_SIGN_KEY: `${signKey}\n` };
      // The code for a shell needs no environment.
      const own = language === 'curl' ? {} : { PAYMENT_GATEWAY_URL: url, ...keys };
      const child = spawn(program, args, { env: { ...process.env, ...own } });
      const [out, errors, [exit]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      expect(exit, errors).toBe(0);
      expect(out).toContain('"paymentStatus":"PENDING"');
      const [call] = sandbox.calls;
      expect(call?.answer?.status).toBe(201);
      expect(sandbox.payments).toMatchObject([{ reference: REFERENCE, amount: 25.5, currency: 'EUR' }]);
      const hmac = ['dgst', '-sha256', '-binary', '-hmac', signKey];
      const digest = execFileSync('openssl', hmac, { input: call?.body ?? '' });
      expect(call?.signature?.given).toBe(digest.toString(signatureEncoding));
    },
  );
