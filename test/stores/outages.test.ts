// What happens to servers: they are killed, replaced by a copy that is behind, reached through a pooler; and processes
// stand still. Each payment is credited exactly once all the same.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { redisInbox } from 'payment-gateway-sdk/redis';
import { inboxSuite } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Credits, completedEvent, completedPayment, openCallbacks, openCredits } from '../support/credits.ts';
import { type Cluster, hasOwnPostgres, openCluster, owner, ownerFolder } from '../support/own-postgres.ts';
import { freePorts } from '../support/ports.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { isCi, lacks } from '../support/skips.ts';
import { hasRedis, uniqueName } from '../support/stores.ts';

const newIds = (count: number) => Array.from({ length: count }, () => completedPayment().id);

/** A replica whose onPayment takes a moment in the middle of its transaction. */
const replica = (credits: Credits, pool: pg.Pool) =>
  openCallbacks({
    inbox: credits.inboxOf(pool),
    onPayment: async ({ id }, { tx }) => {
      await tx.query('select pg_sleep(0.005)');
      await credits.credit(tx, id);
      await tx.query('select pg_sleep(0.005)');
    },
  }).deliver;

/** Delivers until it is answered 200, as a gateway that redelivers would. @returns every answer */
async function redeliver(deliver: (id: string) => Promise<string>, id: string): Promise<string[]> {
  const answers: string[] = [];
  for (;;) {
    const answer = await deliver(id);
    answers.push(answer);
    if (answer.startsWith('200')) return answers;
    await delay(30);
  }
}

/** Works a list off, so many at a time. */
async function inParallel<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

describe.skipIf(
  lacks(isCi && hasOwnPostgres, 'outages of Postgres, which CI plays (with initdb, pg_ctl and a user postgres)'),
)('over a Postgres', () => {
  let cluster: Cluster;
  let observer: pg.Pool;
  let credits: Credits;
  const pools: pg.Pool[] = [];

  const poolOf = (of: Cluster, options?: pg.PoolConfig) => {
    const pool = of.pool(options);
    pools.push(pool);
    return pool;
  };

  beforeAll(async () => {
    cluster = await openCluster();
    observer = cluster.pool();
    credits = await openCredits(observer);
  }, 60_000);
  afterEach(async () => {
    await Promise.all(pools.splice(0).map(pool => pool.end()));
  });
  afterAll(async () => {
    await observer?.end();
    await cluster?.remove();
  });

  async function expectOnceEach(ids: readonly string[], db: pg.Pool = observer): Promise<void> {
    const all = await credits.all(db);
    for (const id of ids) expect([id, all.get(id)]).toEqual([id, 1]);
    const { rows } = await db.query(`select count(*)::int as uncertain from ${credits.marks} where handled_at is null`);
    expect(rows).toEqual([{ uncertain: 0 }]);
  }

  it('that is killed again and again under load, two replicas credit each payment once', {
    timeout: 120_000,
  }, async () => {
    const ids = newIds(2_000);
    const replicas = [0, 1].map(() => replica(credits, poolOf(cluster)));
    const answers = new Map<string, number>();
    let isDone = false;
    const crashes = (async () => {
      let count = 0;
      for (; !isDone; count++) {
        await delay(300);
        await cluster.crash();
        await cluster.start();
      }
      return count;
    })();
    await Promise.all(
      replicas.map(deliver =>
        inParallel(ids, 16, async id => {
          for (const answer of await redeliver(deliver, id)) answers.set(answer, (answers.get(answer) ?? 0) + 1);
        }),
      ),
    );
    isDone = true;
    expect(await crashes).toBeGreaterThan(10);
    expect(answers.get('503 failed')).toBeGreaterThan(10);
    expect(answers.get('503 effect_uncertain')).toBe(undefined);
    await expectOnceEach(ids);
  });

  it('that is replaced by a copy without its last commits, these are credited by their next callback, once', {
    timeout: 60_000,
  }, async () => {
    const copy = await cluster.copy();
    onTestFinished(() => copy.remove());
    await copy.start();
    const before = replica(credits, poolOf(cluster));
    const [early, late] = [newIds(5), newIds(5)];
    for (const id of early) expect(await before(id)).toBe('200 handled');
    await copy.stop();
    for (const id of late) expect(await before(id)).toBe('200 handled');
    await expectOnceEach([...early, ...late]);
    await cluster.crash();

    await copy.start();
    await copy.promote();
    const pool = poolOf(copy);
    await expectOnceEach(early, pool);
    const marks = await pool.query(`select from ${credits.marks} where payment_id = any($1)`, [late]);
    expect([(await credits.all(pool)).has(late[0] ?? ''), marks.rowCount]).toEqual([false, 0]);
    const after = replica(credits, pool);
    for (const id of early) expect(await after(id)).toBe('200 handled before');
    for (const id of late) expect([await after(id), await after(id)]).toEqual(['200 handled', '200 handled before']);
    await expectOnceEach([...early, ...late], pool);
    await cluster.start();
  });

  it('whose process stands still under the effect, the replica gives up, and the payment is credited once later', {
    timeout: 30_000,
  }, async () => {
    const [one, other] = [poolOf(cluster), poolOf(cluster)];
    const event = completedEvent();
    let backend = 0;
    const standing = credits.inboxOf(one).run(event, async ({ tx }) => {
      await credits.credit(tx, event.paymentId);
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      backend = rows[0].pid;
      process.kill(backend, 'SIGSTOP');
    });
    const begun = performance.now();
    await expect(standing).rejects.toThrow('The database did not answer within 5000 ms.');
    expect(performance.now() - begun).toBeLessThan(6_500);
    const pay = () => credits.inboxOf(other).run(event, ({ tx }) => credits.credit(tx, event.paymentId));
    // The process still has the lock.
    expect(await pay()).toBe('busy');
    process.kill(backend, 'SIGCONT');
    expect([await pay(), await pay()]).toEqual(['ran', 'already']);
    await expectOnceEach([event.paymentId]);
  });

  describe.skipIf(lacks(hasPgBouncer(), 'postgresInbox through pgbouncer: no pgbouncer'))(
    'behind pgbouncer in transaction mode',
    () => {
      let folder: string;
      let bouncer: ChildProcess;
      let port: number;
      let suitePools: [pg.Pool, pg.Pool];

      beforeAll(async () => {
        [port = 0] = await freePorts(1);
        folder = ownerFolder();
        const settings = join(folder, 'pgbouncer.ini');
        writeFileSync(
          settings,
          `[databases]
postgres = host=127.0.0.1 port=${cluster.port} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
`,
        );
        bouncer = spawn('pgbouncer', ['-q', settings], { ...owner, stdio: 'ignore' });
        suitePools = [cluster.pool({ port }), cluster.pool({ port })];
        while (!(await suitePools[0].query('select 1').catch(() => undefined))) await delay(20);
      }, 20_000);
      afterAll(async () => {
        await Promise.all(suitePools.map(pool => pool.end()));
        bouncer.kill();
        await once(bouncer, 'exit');
        rmSync(folder, { recursive: true, force: true });
      });

      inboxSuite({ test: it, make: () => [credits.inboxOf(suitePools[0]), credits.inboxOf(suitePools[1])] });

      it('two replicas with more clients than it has connections credit each payment once', {
        timeout: 60_000,
      }, async () => {
        const ids = newIds(1_000);
        const replicas = [0, 1].map(() => replica(credits, poolOf(cluster, { port, max: 20 })));
        await Promise.all(replicas.map(deliver => inParallel(ids, 32, id => redeliver(deliver, id))));
        await expectOnceEach(ids);
      });
    },
  );
});

function hasPgBouncer(): boolean {
  return hasOwnPostgres && spawnSync('pgbouncer', ['--version']).status === 0;
}

describe.skipIf(lacks(hasRedis, 'a pause of a process over Redis: no Redis at 127.0.0.1:6379'))('over a Redis', () => {
  it('a worker that stands still for longer than its lease is told so as soon as it goes on', {
    timeout: 20_000,
  }, async () => {
    const event = completedEvent();
    const prefix = uniqueName('inbox');
    const client = new Redis({ host: '127.0.0.1' });
    const holder = spawn(
      process.execPath,
      [...FROM_SOURCE, fileURLToPath(new URL('lease-holder.ts', import.meta.url))],
      {
        env: { ...process.env, NODE_ENV: '', PREFIX: prefix, PAYMENT_ID: event.paymentId, LEASE_MS: '1000' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    onTestFinished(async () => {
      holder.kill('SIGKILL');
      await client.del(`${prefix}:{${event.paymentId}}:marks`);
      client.disconnect();
    });
    const lines = createInterface(holder.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('entered');

    const inbox = redisInbox(client, { prefix });
    const runHere = () => inbox.run(event, async () => {});
    // It lives, and renews its lease.
    expect(await runHere()).toBe('busy');
    holder.kill('SIGSTOP');
    await delay(1_100);
    expect(await runHere()).toBe('ran');
    holder.kill('SIGCONT');
    const begun = performance.now();
    expect((await lines.next()).value).toBe(
      'The lease on this payment is lost: another worker may run the same effect.',
    );
    expect(performance.now() - begun).toBeLessThan(1_000);
    // Nothing of its own is left behind, and the mark of the other worker stays.
    await once(holder, 'exit');
    expect(await client.exists(`${prefix}:{${event.paymentId}}:lease`)).toBe(0);
    expect(await runHere()).toBe('already');
  });
});
