// postgresStore over every library that merchants have, each with the real library and the real server.
import { type PostgresDatabase, postgresStore } from 'payment-gateway-sdk/postgres';
import { afterAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/install.ts';
import { proveOthersUndone } from '../support/orm-left-open.ts';
import { proveLibrary } from '../support/orm-proofs.ts';
import { expectProven, NOTHING, ONCE, Scene, type Server } from '../support/orm-scene.ts';
import { orms } from '../support/orms.ts';
import { isFull, lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const missing =
  lacks(hasPostgres, 'ORMs: no PostgreSQL at 127.0.0.1:5432') ||
  lacks(isInstalled('test/orms'), 'ORMs: npm ci in test/orms failed');

/** A pool, a library over `pg`, and a driver of its own. Each adapter has its tests without a database. */
const SOME = ['`pg`', 'TypeORM', 'postgres.js'];
const played = orms.filter(({ name }) => isFull || SOME.includes(name));

const server: Server<PostgresDatabase> = {
  store: postgresStore,
  id: 'uuid',
  failing: 'select 1/0',
  findsDeadlocksAtOnce: false,
  observe() {
    const pool = postgresPool();
    const query = async (sql: string) => (await pool.query(sql)).rows;
    return {
      query,
      async kill(_, table) {
        const activity = `select pid from pg_stat_activity where pid <> pg_backend_pid() and state = 'idle in transaction'`;
        const rows = await query(`${activity} and query ilike '%${table}%'`);
        expect(rows).toHaveLength(1);
        await query(`select pg_terminate_backend(${rows[0].pid})`);
      },
      close: () => pool.end(),
    };
  },
};

describe.skipIf(missing).each(played.map(orm => ({ orm, name: orm.name })))('$name', ({ orm }) => {
  const scene = new Scene(orm, server);
  const { rows: table, credits } = scene.tables;

  proveLibrary(scene);
  proveOthersUndone(scene);

  it('has the same DDL as over a pool of pg, and migrates it once', async () => {
    const store = scene.storeOf(scene.opened);
    const pool = postgresPool();
    expect(store.ddl()).toBe(server.store(pool, { tablePrefix: scene.tablePrefix, scope: 'shop' }).ddl());
    await pool.end();
    await store.migrate();
    const rows = await scene.observer.query(`select obj_description('${table}'::regclass, 'pg_class') as comment`);
    expect(rows).toEqual([{ comment: expect.stringMatching(/^payment-gateway-sdk, version \d+$/) }]);
  });

  scene.proof('kills', 'tells that a COMMIT failed', async () => {
    const parent = uniqueName('parent');
    await scene.observer.query(`create table ${parent} (payment_id uuid primary key)`);
    await scene.observer.query(`alter table ${credits} add constraint ${parent}_of foreign key (payment_id)
      references ${parent} deferrable initially deferred not valid`);
    try {
      await expect(scene.credit()).rejects.toThrow(/foreign ?key|commit|rolled back/i);
      expect(await scene.state()).toEqual(NOTHING);
    } finally {
      await scene.observer.query(`drop table ${parent} cascade`);
    }
    expect([await scene.credit(), await scene.state()]).toEqual(['done', ONCE]);
  });

  scene.proof('session settings', 'sees the marks that are committed by then, at any level of isolation', async () => {
    const strict = await scene.open({ options: '-c default_transaction_isolation=serializable' });
    await strict.over().sql(`do $$ begin assert current_setting('transaction_isolation') = 'serializable'; end $$`);
    expect(await scene.credit(strict)).toBe('done');
    const again = [await scene.credit(), await scene.credit(strict)];
    expect([again, await scene.state()]).toEqual([['skipped', 'skipped'], ONCE]);
  });

  scene.proof('session settings', 'commits durably, whatever the session defaults to', async () => {
    const lax = await scene.open({ options: '-c synchronous_commit=off' });
    await lax.over().sql(`do $$ begin assert current_setting('synchronous_commit') = 'off'; end $$`);
    const isOn = `do $$ begin assert current_setting('synchronous_commit') = 'on'; end $$`;
    expect(await scene.run(tx => tx.sql(isOn), lax)).toBe('done');
  });
});

// docs/contributing/proven-libraries.md lists the proven combinations. By then all have been played, in any order.
afterAll(() => {
  if (!missing && isFull) expectProven('proven', orms);
});
