// mysqlStore over every library that merchants have, each with the real library and the real server.
import { type MysqlDatabase, mysqlStore } from 'payment-gateway-sdk/mysql';
import { afterAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/install.ts';
import { mysqlOrms } from '../support/mysql-orms.ts';
import { procedure, proveSessions } from '../support/mysql-sessions.ts';
import { hasMariadb, mysqlPool } from '../support/mysql-stores.ts';
import { expectOnceOrReported } from '../support/orm-ends.ts';
import { meet, proveLibrary } from '../support/orm-proofs.ts';
import { expectProven, ONCE, Scene, type Server } from '../support/orm-scene.ts';
import { isFull, lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const missing =
  lacks(hasMariadb, 'ORMs over MySQL: install mariadb-server') ||
  lacks(isInstalled('test/orms'), 'ORMs: npm ci in test/orms failed');

const server: Server<MysqlDatabase> = {
  store: mysqlStore,
  id: 'char(36)',
  failing: 'select * from nowhere_at_all',
  findsDeadlocksAtOnce: true,
  observe() {
    const pool = mysqlPool();
    const query = async (sql: string) => {
      const [rows] = await pool.query(sql);
      return rows as Record<string, unknown>[];
    };
    return {
      query,
      async kill(tx) {
        const lock = uniqueName('killed');
        await tx.sql(`do get_lock('${lock}', 0)`);
        const [held] = await query(`select is_used_lock('${lock}') as id`);
        await query(`kill ${held?.id}`);
      },
      close: () => pool.end(),
    };
  },
};

/** `npm test` needs one library: the differences of MySQL belong to the connection, which all of them share. */
const played = mysqlOrms.slice(0, isFull ? undefined : 1);

describe.skipIf(missing).each(played.map(orm => ({ orm, name: orm.name })))('$name', ({ orm }) => {
  const scene = new Scene(orm, server);
  const { rows: table, credits } = scene.tables;

  proveLibrary(scene);

  it('has the same DDL as over a pool of mysql2, and migrates it once', async () => {
    const store = scene.storeOf(scene.opened);
    const pool = mysqlPool();
    expect(store.ddl()).toBe(server.store(pool, { tablePrefix: scene.tablePrefix, scope: 'shop' }).ddl());
    await pool.end();
    await store.migrate();
    const rows = await scene.observer.query(
      `select table_comment as comment from information_schema.tables where table_name = '${table}'`,
    );
    expect(rows).toEqual([{ comment: 'payment-gateway-sdk, version 1' }]);
  });

  // In MySQL it has undone that statement, and nothing else.
  scene.proof('swallowed SQL errors', 'keeps the rest of an effect that ignored an SQL error', async () => {
    const answer = await scene.run(async tx => {
      await expect(tx.sql(server.failing)).rejects.toThrow();
      await tx.credit(scene.id);
      await expect(tx.sql(`insert into ${credits} values (null)`)).rejects.toThrow();
    });
    expect([answer, await scene.state(), await scene.credit()]).toEqual(['done', ONCE, 'skipped']);
  });

  /** What an effect does with its deadlock. The rest of its statements is committed one by one. */
  const ignored: [string, Parameters<typeof meet<MysqlDatabase>>[1]][] = [
    ['is ignored', async (tx, id, theirs) => void (await tx.sql(theirs).catch(() => tx.credit(id).catch(() => {})))],
    [
      'is thrown after another write',
      (tx, id, theirs) => tx.sql(theirs).catch(error => tx.credit(id).then(() => Promise.reject(error))),
    ],
    ['meets others that are sent at the same time', (tx, id, theirs) => Promise.all([tx.sql(theirs), tx.credit(id)])],
  ];
  if (orm.nests === 'savepoint') {
    ignored.push([
      'meets a part that may fail',
      async (tx, id, theirs) => {
        await tx.nested(inner => inner.sql(theirs)).catch(() => {});
        await tx.nested(inner => inner.credit(id)).catch(() => {});
      },
    ]);
  }
  for (const [name, effect] of ignored) {
    scene.proof('deadlocks', `credits once or reports it, where a deadlock ${name}`, async () => {
      const met = await meet(scene, async (tx, id, theirs) => {
        await effect(tx, id, theirs);
        if ((await tx.times(id)) === 0) await tx.credit(id);
      });
      for (const [index, id] of met.ids.entries()) await expectOnceOrReported(scene, met.answers[index], id);
    });
  }

  const made = uniqueName('made');
  for (const body of ['commit', 'rollback', `create table if not exists ${made} (id int)`]) {
    const what = body.replace(/ if.*/, '');
    for (const hidden of [true, false]) {
      scene.proof(
        'own COMMIT',
        `credits once or reports it, where ${hidden ? 'a procedure' : 'it'} runs ${what}`,
        async () => {
          const sql = hidden ? `call ${await procedure(scene, body)}()` : body;
          const answer = await scene
            .run(async tx => {
              await tx.credit(scene.id);
              await tx.sql(sql);
              await tx.times(scene.id);
            })
            .catch(() => 'failed');
          await expectOnceOrReported(scene, answer);
          await scene.observer.query(`drop table if exists ${made}`);
        },
      );
    }
  }

  proveSessions(scene);
});

// docs/contributing/proven-libraries.md lists the proven combinations. By then all have been played, in any order.
afterAll(() => {
  if (!missing && isFull) expectProven('proven over MySQL', mysqlOrms);
});
