// The handlers that the README, AGENTS.md and docs/callbacks.md show are what most people copy: each credits an order once, by
// its reference, amount and currency, and lists whatever else was paid.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { GatewayClient, type WebhookHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { blocksOf, root } from '../docs/pages.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, POSTGRES, postgresPool, uniqueName } from '../support/stores.ts';

const folder = `${root}test/docs/examples/crediting/`;

/** What the page's examples have without declaring it, and what it does not export. */
const AROUND: Record<string, [string, string]> = {
  'README.md': ['', ''],
  'AGENTS.md': ['', ''],
  'docs/callbacks.md': [
    `import pg from 'pg';
    const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
    const sendReceipt = (_reference: unknown) => {};`,
    'export { handler };',
  ],
};

describe
  .skipIf(lacks(hasPostgres, 'the handlers of the documents: no PostgreSQL at 127.0.0.1:5432'))
  .each(Object.keys(AROUND))('the handler of %s', page => {
  const schema = uniqueName('crediting');
  const sandbox = new Sandbox({
    fetch: (_url, init) => handler(new Request('https://shop.example/callbacks', init as RequestInit)),
  });
  let handler: WebhookHandler;
  let pool: pg.Pool;
  let server: { close(): Promise<void> };

  beforeAll(async () => {
    pool = postgresPool({ options: `-c search_path=${schema}` });
    await pool.query(`create schema ${schema}`);
    await pool.query(`
      create table orders (id text primary key, amount numeric, currency text, paid_by uuid);
      create table to_check (payment_id uuid, status text, primary key (payment_id, status))`);
    const { url, close } = await sandbox.listen();
    server = { close };
    const { user, host, port, database } = POSTGRES;
    vi.stubEnv('DATABASE_URL', `postgres://${user}@${host}:${port}/${database}?options=-c%20search_path%3D${schema}`);
    vi.stubEnv('PAYMENT_GATEWAY_URL', url);
    vi.stubEnv('PAYMENT_GATEWAY_API_KEY', sandbox.clientOptions.apiKey);
    vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', sandbox.clientOptions.signKey);
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const [block] = blocksOf(page).filter(
      ({ code }) => code.includes('createWebhookHandler') && code.includes('const PAY'),
    );
    const [before, after] = AROUND[page] ?? [];
    mkdirSync(folder, { recursive: true });
    const file = `${folder}${page.replace(/\W/g, '-')}.ts`;
    writeFileSync(file, `${before}\n${block?.code}\n${after}\n`);
    ({ handler } = await import(file));
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    await server.close();
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await sandbox.idle();
    sandbox.reset();
    await pool.query('truncate orders, to_check');
    await pool.query("insert into orders values ('order-1', 25.50, 'EUR')");
  });

  const request = {
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    reference: 'order-1.1',
    webhookUrl: 'https://shop.example/callbacks',
  } as const;
  async function paid(changes: object = {}): Promise<string> {
    const { payment } = await new GatewayClient(sandbox.clientOptions).createDeposit({ ...request, ...changes });
    await sandbox.complete(payment.id);
    await sandbox.idle();
    return payment.id;
  }
  const paidBy = async () => (await pool.query('select paid_by from orders')).rows[0].paid_by;
  const listed = async () => (await pool.query('select payment_id, status from to_check')).rows;

  it('credits an order', async () => {
    const id = await paid();
    expect([await paidBy(), await listed()]).toEqual([id, []]);
  });

  it('credits an order once, and lists the second payment', async () => {
    const [first, second] = [await paid(), await paid({ reference: 'order-1.2' })];
    expect([await paidBy(), await listed()]).toEqual([first, [{ payment_id: second, status: 'COMPLETED' }]]);
  });

  it.each([
    ['amount', { amount: '0.50' }],
    ['currency', { currency: 'USD' }],
    ['reference', { reference: 'order-2.1' }],
  ])('credits nothing for another %s, and lists the payment', async (_, changes) => {
    const id = await paid(changes);
    expect([await paidBy(), await listed()]).toEqual([null, [{ payment_id: id, status: 'COMPLETED' }]]);
  });

  it('lists a payment again that was listed, and failed after that', async () => {
    const id = await paid({ amount: '26.00' });
    await sandbox.fail(id, { force: true });
    await sandbox.idle();
    expect(await listed()).toEqual([
      { payment_id: id, status: 'COMPLETED' },
      { payment_id: id, status: 'FAILED' },
    ]);
  });

  it('lists a payment with a status that the gateway’s document does not have', async () => {
    const { payment } = await new GatewayClient(sandbox.clientOptions).createDeposit(request);
    sandbox.faults.next('unknown-status', { on: 'lookup' });
    await handler.process(payment.id);
    expect([await paidBy(), await listed()]).toEqual([null, [{ payment_id: payment.id, status: 'IN_REVIEW' }]]);
  });

  it('lists no payment that failed, and had paid nothing', async () => {
    const { payment } = await new GatewayClient(sandbox.clientOptions).createDeposit(request);
    await sandbox.fail(payment.id);
    await sandbox.idle();
    expect([await paidBy(), await listed()]).toEqual([null, []]);
  });

  it('marks no withdrawal as done, which it does not record', async () => {
    const { payment } = await new GatewayClient(sandbox.clientOptions).createWithdrawal({
      ...request,
      paymentMethod: 'SEPA',
    });
    await sandbox.fail(payment.id);
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ status }) => status)).toEqual([503]);
    const DONE = 'select from payment_gateway_inbox where payment_id = $1 and handled_at is not null';
    expect((await pool.query(DONE, [payment.id])).rows).toEqual([]);
  });

  it('lists a payment that had paid an order, and failed after that', async () => {
    const id = await paid();
    await sandbox.fail(id, { force: true });
    await sandbox.idle();
    expect(await listed()).toEqual([{ payment_id: id, status: 'FAILED' }]);
  });
});
