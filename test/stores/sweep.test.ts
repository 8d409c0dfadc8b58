// Sweeps over a database: thousands of lost callbacks, final payments that cost nothing, replicas that are killed.
import { fileURLToPath } from 'node:url';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type CreditsOver, openCreditsOver } from '../support/credits.ts';
import type { Database } from '../support/database.ts';
import { describeOver } from '../support/databases.ts';
import { PAYOUT } from '../support/fixtures.ts';
import { Replicas } from '../support/processes.ts';
import { isCi, lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { watchedPool } from '../support/watched-pool.ts';

const sweeper = fileURLToPath(new URL('sweeper.ts', import.meta.url));

describeOver(
  'a sweep',
  ({ name, isFull, open }) => {
    const table = uniqueName('journal');
    let database: Database;
    let credits: CreditsOver;
    let sandbox: Sandbox;

    beforeEach(async () => {
      database = await open();
      credits = await openCreditsOver(database);
      await database.journal({ table }).migrate();
      sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    });
    afterEach(async () => {
      await credits.close();
      await database.query(`drop table ${table}`);
      await database.end();
    });

    function openShop() {
      const journal = database.journal({ table, scope: 'sweep' });
      let running = 0;
      const most = { lookups: 0 };
      const fetch: Sandbox['fetch'] = async (input, init) => {
        running += 1;
        most.lookups = Math.max(most.lookups, running);
        try {
          return await sandbox.fetch(input, init);
        } finally {
          running -= 1;
        }
      };
      const creating = new GatewayClient({ ...sandbox.clientOptions, journal });
      const gateway = new GatewayClient({ ...sandbox.clientOptions, journal, fetch });
      const handler = createWebhookHandler({
        gateway,
        inbox: credits.inboxOf(database),
        onPayment: ({ id }, { tx }) => credits.credit(tx, id),
      });
      /** Payments that are completed, and whose callbacks are lost. */
      const lose = async (count: number) => {
        for (let left = count; left > 0; left -= 50) {
          const batch = Array.from({ length: Math.min(50, left) }, () => uniqueName('payout'));
          await Promise.all(
            batch.map(async reference => {
              const { payment } = await creating.createWithdrawal({ ...PAYOUT, reference });
              await sandbox.complete(payment.id);
            }),
          );
        }
        await sandbox.idle();
      };
      return { gateway, handler, lose, most };
    }
    const timesCredited = async () => [...(await credits.all()).values()];

    const many = isCi ? 1_000 : 100;
    it(`credits ${many} payments whose callbacks were all lost, once, by eight lookups at a time at most`, async () => {
      const { gateway, handler, lose, most } = openShop();
      await lose(many);
      const swept = await Promise.all([1, 2].map(() => gateway.sweep({ handler, olderThan: 0, limit: many })));
      expect(swept.reduce((sum, { processed }) => sum + processed, 0)).toBe(many);
      expect(await timesCredited()).toEqual(Array(many).fill(1));
      expect(most.lookups).toBeLessThanOrEqual(8);
      expect(await gateway.sweep({ handler, olderThan: 0 })).toEqual({ processed: 0, open: 0, gaveUp: 0, failed: 0 });
    }, 120_000);

    it.skipIf(!isFull)(
      'credits each payment once though three replicas sweep and are killed again and again',
      async () => {
        const { lose } = openShop();
        const count = isCi ? 100 : 12;
        await lose(count);
        const server = await sandbox.listen();
        const replicas = new Replicas(sweeper, 3, 2, {
          DATABASE: name,
          GATEWAY_URL: server.url,
          MARKS: credits.marks,
          EFFECTS: credits.table,
          JOURNAL: table,
        });
        const left = async () => {
          // What the dead have leased is let go at once, where two minutes would pass.
          await database.query(`update ${table} set leased_until = null where leased_until is not null`);
          const [row] = await database.query(`select count(*) as due from ${table} where due_at is not null`);
          return Number(row?.due);
        };
        try {
          await expect.poll(left, { timeout: 200_000, interval: 300 }).toBe(0);
        } finally {
          replicas.stop();
          await server.close();
        }
        expect(await timesCredited()).toEqual(Array(count).fill(1));
        expect(replicas.deaths).toBeGreaterThan(0);
        expect(replicas.failures).toBe(0);
      },
      240_000,
    );
  },
  { isLong: true },
);

describe.skipIf(lacks(hasPostgres, 'what a sweep reads: no PostgreSQL at 127.0.0.1:5432'))(
  'a sweep over Postgres',
  () => {
    it('reads only what is open, by an index that holds no final payment', async () => {
      const table = uniqueName('journal');
      const pool = postgresPool();
      onTestFinished(async () => {
        await pool.query(`drop table ${table}`);
        await pool.end();
      });
      await postgresJournal(pool, { table }).migrate();
      const details = `'{"attemptId":"a","timeoutMs":1,"conflictingIds":[],"looks":0,"paymentType":"DEPOSIT"}'`;
      const rows = (from: number, to: number, dueAt: string) => `insert into ${table}
      select 'sweep', 'order-' || n, 'created', 1, now() - interval '1 day', ${dueAt}, null, ${details}
      from generate_series(${from}, ${to}) n`;
      await pool.query(rows(1, 50_000, 'null'));
      await pool.query(rows(50_001, 50_100, "now() - interval '1 hour'"));
      await pool.query(`analyze ${table}`);
      const due = { scope: 'sweep', states: ['begun', 'created'], olderThan: 60_000 } as const;
      const asked: [string, unknown[]][] = [];
      const watched = watchedPool(pool, (text, values, send) => {
        asked.push([text, values]);
        return send();
      });
      const spied = postgresJournal(watched, { table });
      expect((await spied.claim(due, 200, 1_000)).rows).toHaveLength(100);
      const [text, values] = asked.at(-1) as [string, unknown[]];
      await pool.query(`update ${table} set leased_until = null where leased_until is not null`);
      const plan = await pool.query(`explain (analyze, buffers, format text) ${text}`, values);
      const lines = plan.rows.map(row => row['QUERY PLAN']).join('\n');
      expect(lines).toContain(`${table}_due`);
      expect(lines).not.toMatch(new RegExp(`Seq Scan on ${table}`));
    });
  },
);
