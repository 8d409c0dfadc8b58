// Each example is started as it stands, and gets real callbacks from the sandbox.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** How each example is started: itself, or what stands in for the platform that calls it. */
const examples: Record<string, string> = {
  'express.ts': 'examples/express.ts',
  'fastify.ts': 'examples/fastify.ts',
  'hono.ts': 'examples/hono.ts',
  'lambda.ts': 'test/examples/serve-lambda.ts',
  'nest.ts': 'examples/nest.ts',
  'next-route.ts': 'test/examples/serve-next-route.ts',
  'node-http.ts': 'examples/node-http.ts',
};

const sandbox = new Sandbox();
const gateway = new GatewayClient(sandbox.clientOptions);
let server: { url: string; close(): Promise<void> };
beforeAll(async () => {
  server = await sandbox.listen();
});
afterAll(() => server.close());

async function start(script: string) {
  const { apiKey, signKey } = sandbox.clientOptions;
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: '',
      PORT: '0',
      PAYMENT_GATEWAY_URL: server.url,
      PAYMENT_GATEWAY_API_KEY: apiKey,
      PAYMENT_GATEWAY_SIGN_KEY: signKey,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      lines.push(line);
      const port = /port: (\d+)/.exec(lines.join(' '))?.[1];
      if (port) resolve(`http://127.0.0.1:${port}/callbacks`);
    });
    child.stderr.on('data', data => lines.push(String(data)));
    child.once('exit', () => reject(new Error(lines.join('\n'))));
  });
  return { url, lines, stop: () => child.kill() };
}

/** Tried by tests of their own. */
const OTHERS = ['admin-route.ts', 'callbacks.ts', 'checkout.ts', 'payouts.ts', 'upkeep.ts'];

it('every example of a callback server is tried here, and fits on a page', () => {
  const files = readdirSync(`${root}examples`).filter(name => name.endsWith('.ts'));
  expect(files.sort()).toEqual([...OTHERS, ...Object.keys(examples)].sort());
  for (const file of files) expect(readFileSync(`${root}examples/${file}`, 'utf8').split('\n').length).toBeLessThan(50);
});

describe.each(Object.entries(examples))('%s', (_, script) => {
  let shop: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    shop = await start(script);
  }, 30_000);
  afterAll(() => shop.stop());

  const said = (line: string) => shop.lines.filter(one => one === line).length;

  it('pays an order once, however often its callback comes', async () => {
    const { payment } = await gateway.createDeposit({
      paymentMethod: 'BLIK',
      amount: '149.00',
      currency: 'PLN',
      reference: 'order-1 é',
      webhookUrl: shop.url,
    });
    await sandbox.authorize(payment.id);
    await sandbox.complete(payment.id);
    await sandbox.idle();
    const deliveries = sandbox.deliveries.filter(({ paymentId }) => paymentId === payment.id);
    for (const { id } of [...deliveries, ...deliveries]) await sandbox.redeliver(id);
    const statuses = sandbox.deliveries.filter(({ paymentId }) => paymentId === payment.id).map(({ status }) => status);
    expect(statuses).toEqual(Array(6).fill(200));
    expect(said('Order order-1 é is paid.')).toBe(1);
  });

  it('does not credit a payout', async () => {
    const request = {
      paymentMethod: 'SEPA',
      amount: '75.00',
      currency: 'EUR',
      reference: 'payout-1',
      webhookUrl: shop.url,
    } as const;
    const { payment } = await gateway.createWithdrawal(request);
    await sandbox.complete(payment.id);
    await sandbox.idle();
    expect([said('Payout payout-1 is COMPLETED.'), said('Order payout-1 is paid.')]).toEqual([1, 0]);
  });

  it.each([
    ['a callback of an unknown payment', '{"id":"11111111-2222-4333-8444-555555555555"}', 503],
    ['what is no JSON', 'nope', 400],
    ['an endless body', 'x'.repeat(300_000), 413],
  ])('refuses %s', async (_, body, status) => {
    const response = await fetch(shop.url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain' },
    });
    expect(response.status).toBe(status);
  });
});
