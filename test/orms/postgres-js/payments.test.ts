// A callback of a gateway that needs no account and no network, and an order that is paid once.
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from './database.ts';
import { openPayments } from './payments.ts';

// Callbacks go straight to the handler.
const sandbox = new Sandbox({ fetch: (url, init) => payments.handler(new Request(url, init)) });
const payments = openPayments(sandbox.clientOptions);

beforeAll(async () => {
  await payments.journal.migrate();
  await payments.inbox.migrate();
});
afterAll(async () => {
  await sql.end();
});

test('an order is paid once, however often its callback comes', async () => {
  await sql`insert into orders ${sql({ reference: 'order-1042', amount: '25.50' })}`;
  const { payment } = await payments.gateway.createDeposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    reference: 'order-1042',
    webhookUrl: 'https://shop.example/callbacks',
  });
  sandbox.faults.next('callback-duplicate');
  await sandbox.complete(payment.id);
  await sandbox.idle();
  expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
  const [order] = await sql`select * from orders`;
  expect(order?.paid_by).toBe(payment.id);
});
