// Each example is started unchanged, and gets real callbacks from the sandbox.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFull, lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { openPaymentsApp, type PaymentsApp } from './payments-app.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The script that starts each example: itself, or a replacement of its platform. */
const examples: Record<string, string> = {
  'express.ts': 'examples/express.ts',
  'fastify.ts': 'examples/fastify.ts',
  'hono.ts': 'examples/hono.ts',
  'lambda.ts': 'test/examples/serve-lambda.ts',
  'nest.ts': 'examples/nest.ts',
  'next-route.ts': 'test/examples/serve-next-route.ts',
  'node-http.ts': 'examples/node-http.ts',
};

async function start(script: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: '',
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      lines.push(line);
      const port = /port: (\d+)/.exec(lines.join(' '))?.[1];
      // With a query, in which signCallbackUrls puts its token.
      if (port) resolve(`http://127.0.0.1:${port}/callbacks?callbackToken=x`);
    });
    child.stderr.on('data', data => lines.push(String(data)));
    child.once('exit', () => reject(new Error(lines.join('\n'))));
  });
  return { url, stop: () => child.kill() };
}

/** Other tests try these. */
const OTHERS = ['admin-route.ts', 'payments.ts', 'upkeep.ts'];

it('every example of a callback server is tried here, and fits on a page', () => {
  const files = readdirSync(`${root}examples`).filter(name => name.endsWith('.ts'));
  expect(files.sort()).toEqual([...OTHERS, ...Object.keys(examples)].sort());
  for (const file of files) {
    expect(readFileSync(`${root}examples/${file}`, 'utf8').split('\n').length).toBeLessThanOrEqual(61);
  }
});

const SOME = ['express.ts', 'lambda.ts', 'next-route.ts'];
const played = Object.entries(examples).filter(([file]) => isFull || SOME.includes(file));

const missing = lacks(hasPostgres, 'the examples of callback servers: no PostgreSQL at 127.0.0.1:5432');
describe.skipIf(missing)('a callback server', () => {
  let shop: PaymentsApp;
  beforeAll(async () => {
    shop = await openPaymentsApp();
  });
  afterAll(() => shop.close());
  beforeEach(() => shop.empty());

  it('upkeep.ts finds a lost callback, sends a payout, and ends on SIGTERM', async () => {
    shop.reach(false);
    await shop.place('order-1');
    await shop.pay('order-1');
    await shop.sandbox.complete(shop.sandbox.payments[0]?.id ?? '');
    await shop.sandbox.idle();
    await shop.passAnHour();
    const worker = spawn(process.execPath, ['--import', 'tsx', 'examples/upkeep.ts'], { cwd: root, stdio: 'ignore' });
    await shop.payOut('payout-1');
    await shop.sandbox.waitFor({ reference: 'payout-1', timeout: 60_000 });
    await expect.poll(() => shop.rowsOf('orders', 'id, paid')).toEqual([{ id: 'order-1', paid: true }]);
    worker.kill('SIGTERM');
    expect(await once(worker, 'exit')).toEqual([0, null]);
  });

  describe.each(played)('%s', (_, script) => {
    let server: Awaited<ReturnType<typeof start>>;
    beforeAll(async () => {
      server = await start(script);
    }, 30_000);
    afterAll(() => server.stop());

    /** Made by the app, and reported to this server, as often as the gateway likes. */
    async function report(status: string): Promise<void> {
      const { sandbox } = shop;
      for (const { body } of sandbox.deliveries.filter(delivery => delivery.paymentStatus === status)) {
        for (let times = 0; times < 3; times++) {
          const response = await fetch(server.url, {
            method: 'POST',
            body,
            headers: { 'content-type': 'application/json' },
          });
          expect(response.status).toBe(200);
        }
      }
    }

    it('pays an order once, however often its callback comes, and records a payout', async () => {
      const { sandbox } = shop;
      shop.reach(false);
      await shop.place('order-1 é');
      await shop.pay('order-1 é');
      await shop.payOut('payout-1');
      await shop.upkeep();
      const [deposit, payout] = sandbox.payments;
      await sandbox.authorize(deposit?.id ?? '');
      await sandbox.idle();
      await report('AUTHORIZED');
      expect(await shop.rowsOf('orders', 'id, paid')).toEqual([{ id: 'order-1 é', paid: false }]);
      for (const payment of [deposit, payout]) await sandbox.complete(payment?.id ?? '');
      await sandbox.idle();
      await report('COMPLETED');
      expect(await shop.rowsOf('orders', 'id, paid')).toEqual([{ id: 'order-1 é', paid: true }]);
      expect(await shop.rowsOf('payouts', 'reference, state')).toEqual([{ reference: 'payout-1', state: 'paid' }]);
      expect(await shop.app.gateway.reviews()).toEqual([]);
    });
  });
});
