// What happens to servers: they are killed, stand still, are replaced by a copy that is behind, or reached through a pooler.
// Each payment is credited exactly once all the same.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { storeSuite } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EffectResult } from '../../src/store/contract.ts';
import { hasOwnMariadb, ownMariadb } from '../support/own-mariadb.ts';
import { fakeTimers, until, whileTimePasses } from '../support/passing-time.ts';
import { freePorts } from '../support/ports.ts';
import { inParallel } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { suiteTest } from '../support/suite-test.ts';
import { type Credits, newId, openCredits } from './credits.ts';
import { type Database, overMysql, overPostgres, type Query } from './database.ts';
import { type Cluster, hasOwnPostgres, openCluster, owner, ownerFolder } from './own-postgres.ts';

const newIds = (count: number) => Array.from({ length: count }, newId);

/** A replica whose effects take some time in the middle of their transaction. */
const replica = (credits: Credits, database: Database, nap = 'select pg_sleep(0.005)') => {
  const store = credits.storeOf(database);
  return (id: string) =>
    credits.pay(store, id, async tx => {
      const query = database.queryIn(tx);
      await query(nap);
      await credits.credit(tx, id);
      await query(nap);
    });
};

async function expectOnceEach(credits: Credits, ids: readonly string[], query?: Query): Promise<void> {
  const all = await credits.all(query);
  for (const id of ids) expect([id, all.get(id)]).toEqual([id, 1]);
  expect(await credits.uncertain(query)).toBe(0);
}

/** Delivers until the payment is credited, as a gateway that redelivers would. @returns every result */
async function redeliver(deliver: (id: string) => Promise<EffectResult>, id: string): Promise<string[]> {
  const results: string[] = [];
  for (;;) {
    const result = await deliver(id).catch(String);
    results.push(result);
    if (result === 'done' || result === 'skipped') return results;
    await delay(30);
  }
}

/** What a run ends with, once it waits for a server that stands still. Time is real again after that. */
async function lateError(running: Promise<unknown>, stands: () => boolean): Promise<string> {
  const ending = running.then(String, String);
  await until(stands);
  const ended = await whileTimePasses(ending, 100);
  vi.useRealTimers();
  return ended;
}

const servers = [
  {
    name: 'Postgres',
    needs: [hasOwnPostgres, 'initdb, pg_ctl and a user postgres'],
    nap: 'select pg_sleep(0.005)',
    start: async () => {
      const cluster = await openCluster();
      /** Stops the process of a transaction alone. */
      const freeze = async (query: Query) => {
        const [row] = await query('select pg_backend_pid() as pid');
        process.kill(Number(row?.pid), 'SIGSTOP');
        return () => process.kill(Number(row?.pid), 'SIGCONT');
      };
      return { ...cluster, freeze, open: () => overPostgres(cluster.pool()) };
    },
  },
  {
    name: 'MariaDB',
    needs: [hasOwnMariadb, 'mariadb-server'],
    nap: 'do sleep(0.005)',
    start: async () => {
      const mariadb = await ownMariadb();
      const freeze = async () => {
        await mariadb.signal('SIGSTOP');
        return () => mariadb.signal('SIGCONT');
      };
      return { ...mariadb, freeze, open: () => overMysql(mariadb.pool()) };
    },
  },
] as const;

for (const { name, needs, nap, start } of servers) {
  const [available, what] = needs;
  const missing = lacks(available, `outages of ${name}: no ${what}`);
  it.skipIf(missing)(
    `over a ${name} that is killed again and again under load, two replicas credit each payment once`,
    { timeout: 180_000 },
    async () => {
      const server = await start();
      const [observer, ...databases] = [server.open(), server.open(), server.open()];
      onTestFinished(async () => {
        await Promise.all([observer, ...databases].map(database => database.end()));
        await server.remove();
      });
      const credits = await openCredits(observer);
      const ids = newIds(300);
      const uncertain: string[] = [];
      // After so many deliveries, and not by a clock: so it is killed under load, wherever it is.
      let delivered = 0;
      let crashes = Promise.resolve();
      const crash = async () => {
        await server.crash();
        await server.start();
      };
      await Promise.all(
        databases.map(database => {
          const deliver = replica(credits, database, nap);
          return inParallel(ids, 16, async id => {
            delivered += 1;
            if (delivered % 140 === 0) crashes = crashes.then(crash);
            const answers = await redeliver(deliver, id);
            uncertain.push(...answers.filter(answer => answer === 'uncertain'));
          });
        }),
      );
      await crashes;
      // The last crash may have broken its idle connection.
      const isBack = () =>
        observer.query('select 1').then(
          () => true,
          () => false,
        );
      await expect.poll(isBack).toBe(true);
      expect(uncertain).toEqual([]);
      await expectOnceEach(credits, ids);
    },
  );

  it.skipIf(missing)(
    `over a ${name} that stands still under the effect, the replica gives up, and the payment is credited once later`,
    { timeout: 60_000 },
    async () => {
      const server = await start();
      const [one, other] = [server.open(), server.open()];
      onTestFinished(async () => {
        await Promise.all([one.end(), other.end()]);
        await server.remove();
      });
      const credits = await openCredits(other);
      const id = newId();
      let thaw: (() => unknown) | undefined;
      fakeTimers();
      const standing = credits.pay(credits.storeOf(one), id, async tx => {
        await credits.credit(tx, id);
        thaw = await server.freeze(one.queryIn(tx));
      });
      const error = await lateError(standing, () => thaw !== undefined);
      expect(error).toBe('Error: The database did not answer within 5000 ms.');
      await thaw?.();
      const pay = () => credits.pay(credits.storeOf(other), id);
      // Until the server sees that its client has gone, the payment is locked.
      await expect.poll(pay).toBe('done');
      expect(await pay()).toBe('skipped');
      await expectOnceEach(credits, [id]);
    },
  );
}

describe.skipIf(lacks(hasOwnPostgres, 'outages of Postgres: no initdb, no pg_ctl or no user postgres'))(
  'over a Postgres',
  () => {
    let cluster: Cluster;
    let observer: Database;
    let credits: Credits;
    const databases: Database[] = [];

    const databaseOf = (of: Cluster, options?: pg.PoolConfig) => {
      const database = overPostgres(of.pool(options));
      databases.push(database);
      return database;
    };

    beforeAll(async () => {
      cluster = await openCluster();
      observer = overPostgres(cluster.pool());
      credits = await openCredits(observer);
    }, 60_000);
    afterEach(async () => {
      await Promise.all(databases.splice(0).map(database => database.end()));
    });
    afterAll(async () => {
      await observer?.end();
      await cluster?.remove();
    });

    it('that is replaced by a copy without its last commits, these are credited by their next callback, once', {
      timeout: 60_000,
    }, async () => {
      const copy = await cluster.copy();
      onTestFinished(() => copy.remove());
      await copy.start();
      const before = replica(credits, databaseOf(cluster));
      const [early, late] = [newIds(5), newIds(5)];
      for (const id of early) expect(await before(id)).toBe('done');
      await copy.stop();
      for (const id of late) expect(await before(id)).toBe('done');
      await expectOnceEach(credits, [...early, ...late]);
      await cluster.crash();

      await copy.start();
      await copy.promote();
      const copied = databaseOf(copy);
      await expectOnceEach(credits, early, copied.query);
      const marks = await copied.query(`select state from ${credits.tablePrefix}_rows where id = any(?)`, [late]);
      expect([(await credits.all(copied.query)).has(late[0] ?? ''), marks]).toEqual([false, []]);
      const after = replica(credits, copied);
      for (const id of early) expect(await after(id)).toBe('skipped');
      for (const id of late) expect([await after(id), await after(id)]).toEqual(['done', 'skipped']);
      await expectOnceEach(credits, [...early, ...late], copied.query);
      await cluster.start();
    });

    describe.skipIf(lacks(hasPgBouncer(), 'postgresStore through pgbouncer: no pgbouncer'))(
      'behind pgbouncer in transaction mode',
      () => {
        let folder: string;
        let bouncer: ChildProcess;
        let port: number;
        let suiteDatabases: [Database, Database];

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
          suiteDatabases = [overPostgres(cluster.pool({ port })), overPostgres(cluster.pool({ port }))];
          while (!(await suiteDatabases[0].query('select 1').catch(() => undefined))) await delay(20);
        }, 20_000);
        afterAll(async () => {
          await Promise.all(suiteDatabases.map(database => database.end()));
          bouncer.kill();
          await once(bouncer, 'exit');
          rmSync(folder, { recursive: true, force: true });
        });

        storeSuite({
          test: suiteTest,
          open: scope => {
            const options = { scope, tablePrefix: credits.tablePrefix };
            const preparing = { ...options, prepare: true };
            return [suiteDatabases[0].store(options), suiteDatabases[1].store(preparing)];
          },
        });

        it('two replicas with more clients than it has connections credit each payment once', {
          timeout: 60_000,
        }, async () => {
          const ids = newIds(200);
          const replicas = [0, 1].map(() => replica(credits, databaseOf(cluster, { port, max: 20 })));
          await Promise.all(replicas.map(deliver => inParallel(ids, 32, id => redeliver(deliver, id))));
          await expectOnceEach(credits, ids);
        });
      },
    );
  },
);

function hasPgBouncer(): boolean {
  return hasOwnPostgres && spawnSync('pgbouncer', ['--version']).status === 0;
}
