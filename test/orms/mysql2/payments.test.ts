// A gateway that needs no account and no network: an order is paid once, and a payout is made once. It needs a database for
// tests, leaves its rows there, and can run again.
import { randomUUID } from 'node:crypto';
import type { RowDataPacket } from 'mysql2';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ORDERS, pool, TO_CHECK } from './database.ts';
import { openPayments } from './payments.ts';

// Callbacks go straight to the handler.
const sandbox = new Sandbox({ fetch: (url, init) => payments.handler(new Request(url, init)) });
const payments = openPayments(sandbox.clientOptions);

beforeAll(async () => {
  await pool.query(ORDERS);
  await pool.query(TO_CHECK);
  await payments.journal.migrate();
  await payments.inbox.migrate();
});
afterAll(() => pool.end());

test('an order is paid once, however often its callback comes', async () => {
  const reference = `order-${randomUUID()}`;
  await pool.execute("INSERT INTO orders VALUES (?, '25.50', 'EUR', NULL)", [reference]);
  const { payment } = await payments.gateway.createDeposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    reference,
    webhookUrl: 'https://shop.example/callbacks',
  });
  sandbox.faults.next('callback-duplicate');
  await sandbox.complete(payment.id);
  await sandbox.idle();
  expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
  const [[order]] = await pool.execute<RowDataPacket[]>('SELECT paid_by FROM orders WHERE reference = ?', [reference]);
  expect(order?.paid_by).toBe(payment.id);
});

test('a payout is made if its order is committed, and only then', async () => {
  const reference = `payout-${randomUUID()}`;
  const order = async (ending: 'COMMIT' | 'ROLLBACK') => {
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.execute("INSERT INTO orders VALUES (?, '120.00', 'EUR', NULL)", [reference]);
    await payments.journal.plan(connection, {
      paymentType: 'WITHDRAWAL',
      paymentMethod: 'SEPA',
      amount: '120.00',
      currency: 'EUR',
      reference,
      webhookUrl: 'https://shop.example/callbacks',
    });
    await connection.query(ending);
    connection.release();
  };
  await order('ROLLBACK');
  expect((await payments.gateway.drain()).created).toBe(0);
  await order('COMMIT');
  expect((await payments.gateway.drain()).created).toBe(1); // from any scheduler, in any replica
});
