// The recipes of docs/schedulers.md, each on its own engine: a planned payout is sent, and a lost callback takes effect.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { PAYOUT } from '../support/fixtures.ts';
import { isInstalled } from '../support/install.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, hasRedis, inTransaction, POSTGRES, uniqueName } from '../support/stores.ts';
import { gateway, migrate, paidOut, pool, sandbox, tablePrefix } from './payments.ts';

const missing =
  lacks(hasPostgres, 'schedulers: no PostgreSQL at 127.0.0.1:5432') ||
  lacks(isInstalled('pg-boss'), 'the recipes of schedulers: npm install in test/tools failed');
const connectionString = `postgres://${POSTGRES.user}@${POSTGRES.host}:${POSTGRES.port}/${POSTGRES.database}`;

describe.skipIf(missing)('a recipe', () => {
  const schema = uniqueName('engine');

  beforeEach(async () => {
    await migrate();
    sandbox.reset();
    paidOut.length = 0;
    const { payment } = await gateway.createWithdrawal({ ...PAYOUT, reference: 'lost' });
    await sandbox.complete(payment.id);
    await pool.query(`update ${tablePrefix}_rows set begun_at = now() - interval '1 hour'`);
    await inTransaction(pool, client => gateway.payOut(client, { ...PAYOUT, reference: 'planned' }));
  });
  afterEach(async () => {
    await pool.query(`drop table ${tablePrefix}_rows; drop schema if exists ${schema} cascade`);
  });

  /** The plan is sent, the lost payment has taken effect, and the engine has one schedule. */
  async function expectUpkeep(schedules: () => Promise<unknown[]>): Promise<void> {
    await expect.poll(() => paidOut).toEqual(['lost']);
    expect(await gateway.find('planned')).toMatchObject({ state: 'created' });
    expect(sandbox.payments).toHaveLength(2);
    expect(await schedules()).toHaveLength(1);
  }

  it('runs on pg-boss', async () => {
    const { PgBoss } = await import('pg-boss');
    const { scheduleUpkeep } = await import('./pg-boss.ts');
    const boss = new PgBoss({ connectionString, schema });
    boss.on('error', () => {});
    await boss.start();
    try {
      await scheduleUpkeep(boss);
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
    const runner = await runUpkeep({ connectionString, schema, noHandleSignals: true, logger: quiet });
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
    const { queue, worker } = await scheduleUpkeep({ host: '127.0.0.1', port: 6379 });
    try {
      await expectUpkeep(() => queue.getJobSchedulers());
    } finally {
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
    }
  });
});

afterAll(() => pool.end());

it.each(['pg-boss', 'graphile-worker', 'bullmq'])('docs/schedulers.md shows the tested recipe for %s', engine => {
  const code = readFileSync(new URL(`${engine}.ts`, import.meta.url), 'utf8').trim();
  expectDocumented('schedulers.md', `${engine}.ts`, `\`\`\`typescript\n${code}\n\`\`\``);
});
