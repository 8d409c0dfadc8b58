// The client against a gateway that shares no line with us: it checks the signature with hash_hmac and answers in
// PHP's own JSON.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createdAt, GatewayClient } from 'payment-gateway-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OTHER_ID, webhookUrl } from '../support/fixtures.ts';
import { freePorts } from '../support/ports.ts';
import { lacks } from '../support/skips.ts';

const hasPhp = spawnSync('php', ['--version']).status === 0;

const request = {
  paymentMethod: 'CARD',
  amount: '100.10',
  currency: 'EUR',
  reference: 'order/1 "é" 😀 \u2028 \\ud83d',
  description: null,
  customer: { firstName: 'Zoë', lastName: null, email: undefined },
  webhookUrl,
} as const;

describe.skipIf(lacks(hasPhp, 'the gateway in PHP: there is no php on this machine')).each(['hex', 'base64'] as const)(
  'a gateway in PHP that expects %s',
  encoding => {
    const store = mkdtempSync(join(tmpdir(), 'php-gateway-'));
    let baseUrl = '';
    let stop = () => {};
    const client = (options: object = {}) =>
      new GatewayClient({
        baseUrl,
        apiKey: 'php-api-key',
        signKey: 'php-sign-key-ż',
        signatureEncoding: encoding,
        ...options,
      });

    beforeAll(async () => {
      const [port] = await freePorts(1);
      baseUrl = `http://127.0.0.1:${port}`;
      const script = fileURLToPath(new URL('gateway.php', import.meta.url));
      const php = spawn('php', ['-S', `127.0.0.1:${port}`, script], {
        env: {
          ...process.env,
          API_KEY: 'php-api-key',
          SIGN_KEY: 'php-sign-key-ż',
          ENCODING: encoding,
          STORE: store,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      stop = () => php.kill();
      for await (const line of php.stderr) if (String(line).includes('started')) break;
      php.stderr.resume();
    });
    afterAll(() => {
      stop();
      rmSync(store, { recursive: true, force: true });
    });

    it('takes a create, and tells it back on a lookup', async () => {
      const { payment, nextAction } = await client().createDeposit(request);
      expect(payment).toMatchObject({
        paymentStatus: 'PENDING',
        amount: 100.1,
        customer: { firstName: 'Zoë', lastName: null },
      });
      expect(nextAction).toEqual({ type: 'redirect', redirectUrl: `https://pay.example/p/${payment.id}` });
      expect(readFileSync(join(store, 'last-body'), 'utf8')).toContain('"amount":100.10,');
      expect(Math.abs(Date.now() - (createdAt(payment)?.getTime() ?? 0))).toBeLessThan(60_000);

      const looked = await client().getPayment(payment.id);
      expect(looked).toMatchObject({ id: payment.id, reference: payment.reference });
      expect(looked.billingAddress).toEqual({});
      expect(looked.reference?.slice(0, 16)).toBe(request.reference.slice(0, 16));
    });

    it('refuses another sign key, another encoding, and another API key', async () => {
      const other = encoding === 'hex' ? 'base64' : 'hex';
      for (const options of [{ signKey: 'wrong' }, { signatureEncoding: other }, { apiKey: 'wrong' }]) {
        await expect(client(options).createDeposit(request)).rejects.toMatchObject({
          status: 401,
          outcome: 'rejected',
        });
      }
    });

    it('knows no other payment', async () => {
      await expect(client().getPayment(OTHER_ID)).rejects.toHaveProperty('name', 'PaymentNotFoundError');
    });
  },
);
