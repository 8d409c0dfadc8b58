// The recipes of docs/schedulers.md, each on its own engine: a planned payout is sent, and a lost callback takes effect.
import { readFileSync } from 'node:fs';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Payments } from '../../examples/upkeep.ts';
import { type Credits, openCredits } from '../support/credits.ts';
import { expectDocumented } from '../support/documents.ts';
import { PAYOUT } from '../support/fixtures.ts';
import { isInstalled } from '../support/install-suites.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, hasRedis, POSTGRES, postgresPool, uniqueName } from '../support/stores.ts';

const missing =
  lacks(hasPostgres, 'schedulers: no PostgreSQL at 127.0.0.1:5432') ||
  lacks(isInstalled('schedulers'), 'the recipes of schedulers, whose engines CI installs');
const connectionString = `postgres://${POSTGRES.user}@${POSTGRES.host}:${POSTGRES.port}/${POSTGRES.database}`;

describe.skipIf(missing)('a recipe', () => {
  const table = uniqueName('journal');
  const schema = uniqueName('engine');
  let pool: pg.Pool;
  let credits: Credits;
  let sandbox: Sandbox;
  let payments: Payments & { gateway: GatewayClient };

  beforeEach(async () => {
    pool = postgresPool();
    credits = await openCredits(pool);
    sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    const journal = postgresJournal(pool, { table, scope: 'eu' });
    await journal.migrate();
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
    const inbox = credits.inboxOf(pool);
    const handler = createWebhookHandler({ gateway, inbox, onPayment: ({ id }, { tx }) => credits.credit(tx, id) });
    payments = { gateway, handler };
    vi.spyOn(console, 'log').mockImplementation(() => {});

    const { payment } = await gateway.createWithdrawal({ ...PAYOUT, reference: 'lost' });
    await sandbox.complete(payment.id);
    await pool.query(`update ${table} set begun_at = now() - interval '1 hour'`);
    const client = await pool.connect();
    await client.query('begin');
    await journal.plan(client, { ...PAYOUT, paymentType: 'WITHDRAWAL', reference: 'planned' });
    await client.query('commit');
    client.release();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await credits.close();
    await pool.query(`drop table ${table}; drop schema if exists ${schema} cascade`);
    await pool.end();
  });

  /** What was planned is sent, what was lost has taken effect, and the engine runs it again every minute. */
  async function expectUpkeep(schedules: () => Promise<unknown[]>): Promise<void> {
    await expect.poll(async () => [...(await credits.all()).values()], { timeout: 15_000 }).toEqual([1]);
    expect(await payments.gateway.find('planned')).toMatchObject({ state: 'created' });
    expect(sandbox.payments).toHaveLength(2);
    expect(await schedules()).toHaveLength(1);
    await expect.poll(() => vi.mocked(console.log).mock.calls.length).toBe(1);
    const [line] = vi.mocked(console.log).mock.calls[0] as [string];
    const counts = { created: 1, refused: 0, postponed: 0, inDoubt: 0, processed: 1, open: 0, gaveUp: 0, failed: 0 };
    expect(JSON.parse(line)).toEqual({ time: expect.stringMatching(/^\d{4}-/), ...counts });
  }

  it('runs on pg-boss', async () => {
    const { PgBoss } = await import('pg-boss');
    const { scheduleUpkeep } = await import('./pg-boss.ts');
    const boss = new PgBoss({ connectionString, schema });
    boss.on('error', () => {});
    await boss.start();
    try {
      await scheduleUpkeep(boss, payments);
      await boss.send('payments-upkeep', {});
      await expectUpkeep(() => boss.getSchedules());
    } finally {
      await boss.stop();
    }
  });

  it('runs on Graphile Worker', async () => {
    const { Logger } = await import('graphile-worker');
    const { runUpkeep } = await import('./graphile-worker.ts');
    const quiet = new Logger(() => () => {});
    const runner = await runUpkeep({ connectionString, schema, noHandleSignals: true, logger: quiet }, payments);
    try {
      await runner.addJob('upkeep', {});
      const known = `select * from ${schema}._private_known_crontabs`;
      await expectUpkeep(async () => (await pool.query(known)).rows);
    } finally {
      await runner.stop();
    }
  });

  it.skipIf(lacks(hasRedis, 'BullMQ: no Redis at 127.0.0.1:6379'))('runs on BullMQ', async () => {
    const { scheduleUpkeep } = await import('./bullmq.ts');
    const { queue, worker } = await scheduleUpkeep({ host: '127.0.0.1', port: 6379 }, payments);
    try {
      await expectUpkeep(() => queue.getJobSchedulers());
    } finally {
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
    }
  });
});

it.each(['pg-boss', 'graphile-worker', 'bullmq'])('docs/schedulers.md shows the recipe for %s that is run', engine => {
  const code = readFileSync(new URL(`${engine}.ts`, import.meta.url), 'utf8').trim();
  const shown = code.replace('../../examples/upkeep.ts', './upkeep.ts');
  expectDocumented('schedulers.md', `${engine}.ts`, `\`\`\`typescript\n${shown}\n\`\`\``);
});

it('docs/schedulers.md shows examples/upkeep.ts', () => {
  const code = readFileSync(new URL('../../examples/upkeep.ts', import.meta.url), 'utf8').trim();
  expectDocumented('schedulers.md', 'upkeep.ts', `\`\`\`typescript\n${code}\n\`\`\``);
});
