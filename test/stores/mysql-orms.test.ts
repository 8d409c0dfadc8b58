// The stores in MySQL and MariaDB over every library that merchants have, each with the real library and the real server.
import { type MysqlDatabase, mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { afterAll, describe, expect, it } from 'vitest';
import { completedEvent } from '../support/credits.ts';
import { hasOrms } from '../support/install-orms.ts';
import { mysqlOrms } from '../support/mysql-orms.ts';
import { openSessions, procedure, proveSessions } from '../support/mysql-sessions.ts';
import { hasMariadb, mysqlPool } from '../support/mysql-stores.ts';
import { BOTH, meet, proveLibrary } from '../support/orm-proofs.ts';
import { expectProven, NOTHING, ONCE, Scene, type Server, UNCERTAIN } from '../support/orm-scene.ts';
import { isCi, lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const missing =
  lacks(hasMariadb, 'ORMs over MySQL: install mariadb-server') || lacks(hasOrms(), 'ORMs: npm ci in test/orms failed');
lacks(isCi, 'the other libraries over MySQL, which CI plays');

const server: Server<MysqlDatabase> = {
  inbox: mysqlInbox,
  journal: mysqlJournal,
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

/** Statements that the SDK sees, and that would end the transaction. */
const ENDS = [
  'commit',
  'rollback',
  'begin',
  'start transaction',
  'set autocommit = 1',
  'truncate table nowhere_at_all',
  'lock tables nowhere_at_all write',
  '/* a comment */ commit',
  '/*! commit */',
];

/** Over the others CI plays them: what is different in MySQL is of the connection, which all of them share. */
const played = mysqlOrms.slice(0, isCi ? undefined : 1);

describe.skipIf(missing).each(played.map(orm => ({ orm, name: orm.name })))('$name', ({ orm }) => {
  const scene = new Scene(orm, server);
  const { marks, credits } = scene.tables;

  proveLibrary(scene);

  it('has the same DDL as over a pool of mysql2, and migrates it once', async () => {
    const inbox = scene.inboxOf(scene.opened);
    const pool = mysqlPool();
    expect(inbox.ddl()).toBe(mysqlInbox(pool, { table: marks }).ddl());
    await pool.end();
    await inbox.migrate();
    const rows = await scene.observer.query(
      `select table_comment as comment from information_schema.tables where table_name = '${marks}'`,
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
    expect([answer, await scene.state(), await scene.credit()]).toEqual(['ran', ONCE, 'already']);
  });

  scene.proof('deadlocks', 'writes nothing behind a deadlock that onPayment ignores, and runs it again', async () => {
    const met = await meet(scene, async (tx, id, lockTheirs) => {
      await tx.sql(lockTheirs).catch(() => {});
      await tx.credit(id).catch(() => {});
    });
    expect(met).toEqual(BOTH);
  });

  scene.proof('deadlocks', 'writes nothing of what was sent at once with a statement that met another', async () => {
    for (const settle of [Promise.all, Promise.allSettled, Promise.race]) {
      const met = await meet(scene, async (tx, id, lockTheirs) => {
        const write = () => tx.sql(`update ${credits} set payment_id = payment_id where payment_id = '${id}'`);
        await settle.call(Promise, [tx.sql(lockTheirs), tx.credit(id), write(), write()]);
        await tx.times(id);
      });
      expect(met).toEqual(BOTH);
    }
  });

  if (orm.nests === 'savepoint') {
    scene.proof('deadlocks', 'writes nothing behind a deadlock within a part that may fail', async () => {
      const met = await meet(scene, async (tx, id, lockTheirs) => {
        await tx.nested(inner => inner.sql(lockTheirs)).catch(() => {});
        await tx.nested(inner => inner.credit(id)).catch(() => {});
      });
      expect(met).toEqual(BOTH);
    });
  }

  scene.proof('deadlocks', 'keeps nothing of an effect that waited too long for a lock and ignored that', async () => {
    const impatient = await openSessions(
      scene,
      'set session innodb_lock_wait_timeout = 1',
      '@@innodb_lock_wait_timeout = 1',
    );
    const blocker = await scene.open();
    await blocker.begin(async holder => {
      const lock = `select id from ${scene.locks} where id = 0 for update`;
      await blocker.over(holder).sql(lock);
      const failing = scene.run(async tx => {
        await tx.credit(scene.id);
        await tx.sql(lock).catch(() => {});
        await tx.credit(scene.id).catch(() => {});
      }, impatient);
      await expect(failing).rejects.toThrow('ended the transaction of onPayment');
    });
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'ran', ONCE]);
  });

  scene.proof('own COMMIT', 'sends nothing that would end the transaction, and goes on', async () => {
    const answer = await scene.run(async tx => {
      await tx.credit(scene.id);
      for (const end of [...ENDS, `create table ${uniqueName('made')} (id int)`, `drop table ${credits}`]) {
        const told = await Promise.resolve(tx.sql(end)).catch(error => `${error.message} ${error.cause?.message}`);
        expect(told, end).toContain('BEGIN, COMMIT and ROLLBACK are refused');
      }
      expect(await scene.state()).toEqual(NOTHING);
    });
    expect([answer, await scene.state()]).toEqual(['ran', ONCE]);
  });

  const HIDDEN = ['commit', 'start transaction', `create table if not exists ${uniqueName('made')} (id int)`];
  for (const body of HIDDEN) {
    const what = body.replace(/ if.*/, '');
    scene.proof('own COMMIT', `credits nothing twice where a procedure runs ${what}`, async () => {
      const name = await procedure(scene, body);
      const failing = scene.run(async tx => {
        await tx.credit(scene.id);
        await tx.sql(`call ${name}()`);
      });
      await expect(failing).rejects.toThrow('ended the transaction of onPayment');
      expect(await scene.state()).toEqual(UNCERTAIN);
      expect(await scene.credit()).toEqual([{ status: 'COMPLETED', final: true, begun: true }]);
      await scene.inboxOf(scene.opened).resolve(scene.id, 'COMPLETED', 'done');
      expect([await scene.credit(), await scene.state()]).toEqual(['already', ONCE]);
      await scene.observer.query(`drop procedure ${name}`);
    });
  }

  scene.proof(
    'own COMMIT',
    'credits nothing twice where a procedure rolls back, and the effect writes on',
    async () => {
      const name = await procedure(scene, 'rollback');
      const failing = scene.run(async tx => {
        await tx.sql(`call ${name}()`);
        await tx.credit(scene.id);
      });
      await expect(failing).rejects.toThrow('ended the transaction of onPayment');
      expect(await scene.state()).toEqual(UNCERTAIN);
      expect(await scene.credit(scene.other)).toEqual([{ status: 'COMPLETED', final: true, begun: true }]);
      expect(await scene.state()).toEqual(UNCERTAIN);
      await scene.observer.query(`drop procedure ${name}`);
    },
  );

  if (orm.name === 'Knex') {
    it.each(['commit', 'rollback'] as const)(
      'refuses %s() in onPayment, and goes on where that was ignored',
      async end => {
        const ending = (ignores: boolean) =>
          scene.inboxOf(scene.opened).run({ ...completedEvent(), paymentId: scene.id }, async ({ tx }) => {
            await scene.opened.over(tx).credit(scene.id);
            await tx[end]().catch((error: unknown) => {
              if (!ignores) throw error;
            });
          });
        await expect(ending(false)).rejects.toThrow('leave commit() and rollback() to the inbox');
        expect([await scene.state(), await ending(true), await scene.state()]).toEqual([NOTHING, 'ran', ONCE]);
      },
    );
  }

  if (orm.name === 'TypeORM') {
    it('leaves no connection in a transaction that onPayment has begun within its own, and not ended', async () => {
      const small = await scene.open({ max: 2 });
      const failing = scene.inboxOf(small).run({ ...completedEvent(), paymentId: scene.id }, async ({ tx }) => {
        await small.over(tx).credit(scene.id);
        await tx.queryRunner.startTransaction();
      });
      await expect(failing).rejects.toThrow('The transaction has ended');
      expect(await Promise.all([1, 2, 3].map(() => small.over().times(scene.id)))).toEqual([0, 0, 0]);
      expect([await scene.state(), await scene.credit(small), await scene.state()]).toEqual([NOTHING, 'ran', ONCE]);
    });
  }

  proveSessions(scene);
});

// docs/orms.md says which combinations are proven: all of them have been played by then, in whatever order.
afterAll(() => {
  if (!missing && isCi) expectProven('proven over MySQL', mysqlOrms);
});
