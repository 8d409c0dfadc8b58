// Upkeep over a database: payouts that transactions have planned, lost callbacks, and replicas that are killed.
import { fileURLToPath } from 'node:url';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PAYOUT } from '../support/fixtures.ts';
import { Replicas } from '../support/processes.ts';
import { isFull } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';
import { type Credits, openCredits } from './credits.ts';
import type { Database } from './database.ts';
import { describeOver } from './databases.ts';

const upkeeper = fileURLToPath(new URL('upkeeper.ts', import.meta.url));
const webhookUrl = 'https://shop.example/callbacks';
const payoutOf = (reference: string) => ({ ...PAYOUT, reference });

describeOver(
  'upkeep',
  ({ name, open }) => {
    const orders = uniqueName('orders');
    let database: Database;
    let credits: Credits;
    let rows: string;
    let sandbox: Sandbox;

    beforeEach(async () => {
      database = await open();
      credits = await openCredits(database);
      rows = `${credits.tablePrefix}_rows`;
      await database.query(`create table ${orders} (reference varchar(60) primary key)`);
      // Every callback gets lost.
      sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    });
    afterEach(async () => {
      await credits.close();
      await database.query(`drop table ${orders}`);
      await database.end();
    });

    function openReplica(settleMargin?: number) {
      const store = database.store({ scope: 'shop', tablePrefix: credits.tablePrefix, settleMargin });
      const gateway = new GatewayClient({ ...sandbox.clientOptions, store, webhookUrl, retries: 0 });
      const onPaidOut = ({ payment }: { payment: { id: string } }, { tx }: { tx: unknown }) =>
        credits.credit(tx, payment.id);
      const handler = createWebhookHandler({ gateway, onPaidOut });
      const upkeep = () => gateway.upkeep({ handler, once: true, olderThan: 0, recheckAfter: [] });
      return { gateway, handler, upkeep };
    }
    async function completeAll(): Promise<void> {
      for (const { id, paymentStatus } of sandbox.payments) if (paymentStatus === 'PENDING') await sandbox.complete(id);
      await sandbox.idle();
    }
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

    const many = isFull ? 200 : 60;
    it(`of two replicas sends each of ${many} payouts once, and credits each whose callback got lost once`, async () => {
      const replicas = [openReplica(), openReplica()];
      const { tx, end } = await database.begin();
      for (let index = 0; index < many; index++) await replicas[0]?.gateway.payOut(tx, payoutOf(`payout-${index}`));
      await end('commit');
      const sent = await Promise.all(replicas.map(({ upkeep }) => upkeep()));
      expect(sum(sent.map(({ sent }) => sent.created))).toBe(many);
      expect(new Set(sandbox.payments.map(({ reference }) => reference)).size).toBe(many);
      expect(sandbox.payments).toHaveLength(many);
      await completeAll();
      await database.query(`update ${rows} set due_at = due_at - interval '1' day where due_at is not null`);
      const swept = await Promise.all(replicas.map(({ upkeep }) => upkeep()));
      expect(sum(swept.map(({ swept }) => swept.processed))).toBe(many);
      expect([...(await credits.all()).values()]).toEqual(Array(many).fill(1));
      expect((await replicas[0]?.upkeep())?.swept).toMatchObject({ processed: 0, open: 0, failed: 0 });
    }, 120_000);

    const count = isFull ? 40 : 15;
    it(`of three replicas that are killed again and again pays ${count} payouts once, or leaves an honest doubt`, async () => {
      const server = await sandbox.listen();
      const replicas = new Replicas(upkeeper, 3, 25, {
        DATABASE: name,
        GATEWAY_URL: server.url,
        PREFIX: credits.tablePrefix,
        EFFECTS: credits.table,
        ORDERS: orders,
        COUNT: String(count),
      });
      const left = async () => {
        await completeAll();
        // The work of dead replicas is due immediately, instead of after minutes.
        await database.query(
          `update ${rows} set leased_until = null, due_at = due_at - interval '1' day where due_at is not null`,
        );
        const [row] = await database.query(`select (select count(*) from ${orders}) as orders,
          (select count(*) from ${rows} where due_at is not null) as due`);
        return Number(row?.orders) < count ? 'orders are missing' : Number(row?.due);
      };
      try {
        await expect.poll(left, { timeout: 200_000, interval: 300 }).toBe(0);
      } finally {
        replicas.stop();
        await server.close();
      }
      expect(replicas.deaths).toBeGreaterThan(0);
      expect(replicas.failures).toBe(0);

      const { gateway, handler } = openReplica(0);
      const known = (await database.query(`select reference from ${orders}`)).map(row => String(row.reference));
      const doubts = new Set((await gateway.doubts()).map(({ reference }) => reference));
      const paid = sandbox.payments.map(({ reference }) => reference ?? '');
      // Rolled back payouts are not sent, and no payout is sent twice.
      expect(paid.filter(reference => !known.includes(reference))).toEqual([]);
      expect(new Set(paid).size).toBe(paid.length);
      for (const reference of known.filter(reference => !doubts.has(reference))) {
        expect([reference, paid.includes(reference)]).toEqual([reference, true]);
        expect((await gateway.find(reference))?.state).toBe('created');
      }
      // A callback ends a doubt, or an operator does.
      for (const { id } of sandbox.payments) {
        const callback = new Request(webhookUrl, { method: 'POST', body: JSON.stringify({ id }) });
        expect((await handler(callback)).status).toBe(200);
      }
      await database.query(`update ${rows} set begun_at = begun_at - interval '1' day where state = 'begun'`);
      for (const { reference } of await gateway.doubts()) await gateway.settle(reference, 'not_created');
      expect(await gateway.doubts()).toEqual([]);
      const credited = await credits.all();
      expect(sandbox.payments.map(({ id }) => credited.get(id))).toEqual(sandbox.payments.map(() => 1));
    }, 240_000);
  },
  { isLong: true },
);
