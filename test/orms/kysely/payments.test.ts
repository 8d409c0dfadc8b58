// A gateway that needs no account and no network: an order is paid once, and a payout is made once. It needs a database for
// tests, leaves its rows there, and can run again.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { db } from './database.ts';
import { openPayments } from './payments.ts';

// Callbacks go straight to the handler.
const sandbox = new Sandbox({ fetch: (url, init) => payments.handler(new Request(url, init)) });
const payments = openPayments(sandbox.clientOptions);

beforeAll(async () => {
  await sql`create table if not exists orders (reference text primary key, amount numeric not null, currency text not null, paid_by uuid)`.execute(
    db,
  );
  await sql`create table if not exists to_check (payment_id uuid, status text, primary key (payment_id, status))`.execute(
    db,
  );
  await payments.journal.migrate();
  await payments.inbox.migrate();
});
afterAll(async () => {
  await db.destroy();
});

test('an order is paid once, however often its callback comes', async () => {
  const reference = `order-${randomUUID()}`;
  await db.insertInto('orders').values({ reference, amount: '25.50', currency: 'EUR', paid_by: null }).execute();
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
  const [order] = await db.selectFrom('orders').selectAll().where('reference', '=', reference).execute();
  expect(order?.paid_by).toBe(payment.id);
});

test('a payout is made if its order is committed, and only then', async () => {
  const reference = `payout-${randomUUID()}`;
  const order = (fails: boolean) =>
    db.transaction().execute(async tx => {
      await tx.insertInto('orders').values({ reference, amount: '120.00', currency: 'EUR', paid_by: null }).execute();
      await payments.journal.plan(tx, {
        paymentType: 'WITHDRAWAL',
        paymentMethod: 'SEPA',
        amount: '120.00',
        currency: 'EUR',
        reference,
        webhookUrl: 'https://shop.example/callbacks',
      });
      if (fails) throw new Error('out of stock');
    });
  await expect(order(true)).rejects.toThrow('out of stock');
  expect((await payments.gateway.drain()).created).toBe(0);
  await order(false);
  expect((await payments.gateway.drain()).created).toBe(1); // from any scheduler, in any replica
});
