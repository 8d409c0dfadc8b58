// Where MySQL differs from a store's expectations of a database, each met on a real server.
import { randomUUID } from 'node:crypto';
import type { Pool, PoolConnection, PoolOptions } from 'mysql2/promise';
import { mysqlStore, type SqlDatabase, type SqlQuery } from 'payment-gateway-sdk/mysql';
import { storeSuite } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { hasOwnMariadb, type Mariadb, ownMariadb } from '../support/own-mariadb.ts';
import { lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';
import { suiteTest } from '../support/suite-test.ts';
import { inTransactionOf, mysqlShop, paid, pay } from './store-rows.ts';
import { watchedMysql } from './watched-pool.ts';

/** The query of a custom `SqlDatabase`. */
const queryOf =
  (connection: Pick<Pool, 'query'>): SqlQuery =>
  async (sql, values) => {
    const [answer] = await connection.query(sql, values as never);
    if (Array.isArray(answer)) return answer as never;
    return [{ affected: String((answer as { affectedRows: number }).affectedRows) }];
  };

type Connection = Pick<PoolConnection, 'query'>;
type Work<T> = (connection: Connection) => Promise<T>;

/** A library of its own over a pool. @param begin what it does before the work, and how the work ends */
const library = (
  pool: Pool,
  begin: Work<unknown>,
  end = 'commit',
  after = async () => {},
): SqlDatabase<Connection> => ({
  dialect: 'mysql',
  query: queryOf(pool),
  queryIn: queryOf,
  async transaction(work) {
    const connection = await pool.getConnection();
    try {
      await begin(connection);
      const value = await work(connection);
      await connection.query(end);
      return value;
    } catch (error) {
      await connection.query('rollback');
      throw error;
    } finally {
      connection.release();
      await after();
    }
  },
});

/** Settings of a session, as a server or a pool may have them. */
const SESSIONS: Record<string, { settings: readonly string[]; options?: PoolOptions }> = {
  'as by default': { settings: [] },
  'ANSI, SERIALIZABLE, far in the east, in Latin': {
    settings: [
      "set session sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES', time_zone = '+13:00'",
      'set session transaction isolation level serializable',
    ],
    options: { charset: 'latin1_swedish_ci' },
  },
  'not strict, REPEATABLE READ, with rows as arrays': {
    settings: [
      "set session sql_mode = '', time_zone = '-11:00'",
      'set session transaction isolation level repeatable read',
    ],
    options: { rowsAsArray: true, namedPlaceholders: true, typeCast: false, dateStrings: true },
  },
};

for (const { name, needs, pool: open } of mysqlServers) {
  // Without the server, skip one test instead of all of them.
  const over: (title: string, tests: () => void) => void = lacks(...(needs as [boolean, string, boolean]))
    ? it.skip
    : describe;
  over(`over ${name}`, () => {
    const { pool, tablePrefix, storeOf, poolWith, opened, credit, times } = mysqlShop(open);

    describe('locks', () => {
      it('of a payment and its rows hold up no other payment, new or known', async () => {
        const ids = Array.from({ length: 12 }, () => randomUUID()).sort();
        const scope = uniqueName('scope');
        const wide = storeOf(opened({ connectionLimit: 30 }), scope);
        const known = ids.filter((_, index) => index % 3 === 0);
        for (const id of known) await wide.effect({ id, about: {}, reads: [] }, async () => [paid(id)]);
        for (const id of known) await wide.write(newRow({ kind: 'order', id }));
        const entered = Promise.withResolvers<void>();
        let inside = 0;
        const effects = ids.map(id => {
          const reads = [`${id}.1`, id].map(own => ({ kind: 'order', id: own }) as const);
          return wide.effect({ id, about: {}, reads }, async ({ payment, rows: [, order] }) => {
            inside += 1;
            if (inside === ids.length) entered.resolve();
            await entered.promise;
            return [paid(id, payment), order ? { ...order, state: 'paid' } : newRow({ kind: 'order', id })];
          });
        });
        expect(await Promise.all(effects)).toEqual(ids.map(() => 'done'));
      });

      it('of the same rows are taken in one order, in any order of the reads', async () => {
        const scope = uniqueName('scope');
        const store = storeOf(opened(), scope);
        const orders = ['a', 'b', 'c'].map(id => ({ kind: 'order', id }) as const);
        for (const key of orders) await store.write(newRow(key));
        const holder = await pool.getConnection();
        onTestFinished(() => holder.release());
        await holder.query('begin');
        await holder.query(
          `select * from ${tablePrefix}_rows where scope = ? and kind = 'order' and id = 'b' for update`,
          [scope],
        );
        let runs = 0;
        const effects = [orders, orders.toReversed()].map(reads => {
          const id = randomUUID();
          return store.effect({ id, about: {}, reads }, async ({ rows }) => {
            runs += 1;
            expect(rows.map(row => row?.id)).toEqual(reads.map(key => key.id));
            return [paid(id)];
          });
        });
        const waiting = async () => {
          const [rows] = await pool.query(`select count(*) as waits from information_schema.processlist
            where info like '%${tablePrefix}%UNION ALL%' and id <> connection_id()`);
          return (rows as { waits: number }[])[0]?.waits;
        };
        await expect.poll(waiting).toBe(2);
        await holder.query('rollback');
        expect(await Promise.all(effects)).toEqual(['done', 'done']);
        // A deadlock would have repeated one of them.
        const [[engine]] = (await pool.query('show engine innodb status')) as unknown as [[{ Status: string }]];
        const [untilDeadlock = ''] = engine.Status.split('\nTRANSACTIONS\n');
        expect([runs, untilDeadlock.includes(tablePrefix)]).toEqual([2, false]);
      });

      it('of leased rows do not hold up a caller that takes others, in a small table', async () => {
        const small = uniqueName('small');
        const [a, b] = [pool, opened()].map(own => mysqlStore(own, { scope: 'scope', tablePrefix: small }));
        await a?.migrate();
        onTestFinished(() => pool.query(`drop table ${small}_rows`).then(() => {}));
        for (let index = 0; index < 6; index++) await a?.write(newRow({ id: `${index}`, dueAt: 1 }));
        const holder = await pool.getConnection();
        onTestFinished(() => holder.release());
        await holder.query('set transaction isolation level read committed');
        await holder.query('begin');
        await holder.query(`select * from ${small}_rows force index (primary)
          where scope = 'scope' and kind = 'create' and id in ('0', '1', '2') for update`);
        const due = await b?.due({ kind: 'create', states: ['begun'] }, 6, 60_000);
        await holder.query('rollback');
        expect(due?.rows.map(({ id }) => id)).toEqual(['3', '4', '5']);
      });
    });

    describe('a snapshot that is older than the lock', () => {
      /** Begins at REPEATABLE READ, and reads before the store does. */
      const stale = (meanwhile: () => Promise<unknown>) =>
        library(pool, async connection => {
          await connection.query('set transaction isolation level repeatable read');
          await connection.query('start transaction with consistent snapshot');
          await meanwhile();
        });

      it('does not hide the mark or the rows of the worker before', async () => {
        const [id, store] = [randomUUID(), storeOf(pool)];
        const order = { kind: 'order', id } as const;
        let isFirst = true;
        const late = stale(async () => {
          if (!isFirst) return;
          isFirst = false;
          expect(await pay(store, id)).toBe('done');
          await store.write(newRow(order));
        });
        const seen: unknown[] = [];
        const result = await storeOf(late).effect({ id, about: {}, reads: [order] }, async ({ payment, rows }) => {
          seen.push(payment?.state, rows[0]?.state);
          return undefined;
        });
        expect([result, seen]).toEqual(['skipped', ['paid', 'begun']]);
      });

      it('does not hide a planned row from another plan', async () => {
        const store = storeOf(pool);
        const row = newRow({ state: 'planned' });
        const plan = (meanwhile: () => Promise<unknown>) =>
          stale(meanwhile).transaction(connection => store.write(row, connection as PoolConnection));
        const { isWritten, row: found } = await plan(() => plan(async () => {}));
        expect([isWritten, found?.state, found?.revision]).toEqual([false, 'planned', 1]);
      });
    });

    it('keys are compared byte by byte, to the last of the longest', async () => {
      const scope = uniqueName('scope');
      const store = storeOf(pool, scope);
      const long = 'ü'.repeat(509);
      const ids = ['a', 'A', 'á', 'a ', ' a', 'a\t', 'ß', 'ss', 'İ', '\0', `${long}a`, `${long}b`];
      for (const id of ids) expect([id, (await store.write(newRow({ id }))).isWritten]).toEqual([id, true]);
      for (const other of [scope.toUpperCase(), `${scope} `, 's'.repeat(255)]) {
        expect((await storeOf(pool, other).write(newRow({ id: 'a' }))).isWritten).toBe(true);
      }
      const { rows } = await store.list({ kind: 'create', states: ['begun'] });
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
    });

    describe.each(Object.entries(SESSIONS))('sessions that are %s', (_, { settings, options }) => {
      let pools: Pool[];
      beforeAll(() => {
        pools = [poolWith(settings, options), poolWith(settings, options)];
      });
      afterAll(async () => void (await Promise.all(pools.map(own => own.end()))));

      storeSuite({
        test: suiteTest,
        open: scope => pools.map(own => storeOf(own, scope)) as never,
        transaction: work => inTransactionOf(pools[0] as Pool)(work),
      });

      it('plan and credit as others do', async () => {
        const store = storeOf(pools[0] as Pool);
        const id = randomUUID();
        const planned = newRow({ id: `Größe ${id} \\' "`, state: 'planned' });
        const result = await pay(store, id, async tx => {
          await credit(tx, id);
          await store.write(planned, tx);
        });
        expect([result, await times(id)]).toEqual(['done', 1]);
        expect((await storeOf(pool).read(planned)).row).toMatchObject({ id: planned.id, state: 'planned' });
      });
    });

    it('takes four statements for a create, and thirteen for an effect on three rows', async () => {
      let sent: string[] = [];
      const watched = watchedMysql(pool, (sql, send) => {
        sent.push(String(sql.split(' ')[0]));
        return send();
      });
      const store = storeOf(watched, uniqueName('scope'));
      await store.read(newRow());
      sent = [];
      const { row } = await store.write(newRow());
      await store.write({ ...(row as StoreRow), state: 'created' });
      expect(sent).toEqual(['INSERT', 'SELECT', 'UPDATE', 'SELECT']);

      const id = randomUUID();
      const order = newRow({ kind: 'order', id });
      const effect = () =>
        store.effect({ id, about: {}, reads: [order, row as StoreRow] }, async ({ payment, rows }) => [
          paid(id, payment),
          { ...order, ...rows[0] },
          rows[1] as StoreRow,
        ]);
      await effect();
      sent = [];
      await effect();
      const [begin, mark, end] = [
        ['SET', 'START'],
        ['SELECT', 'SAVEPOINT', 'UPDATE'],
        ['COMMIT', 'SELECT'],
      ];
      const rows = ['(SELECT', 'RELEASE', 'UPDATE', 'UPDATE', 'UPDATE'];
      expect(sent).toEqual(['SELECT', ...begin, ...mark, ...rows, ...end]);
    });

    it('names the cause if migrate() was forgotten', async () => {
      const none = mysqlStore(pool, { scope: 'scope', tablePrefix: 'none' });
      for (const failing of [() => none.write(newRow()), () => pay(none, randomUUID())]) {
        await expect(failing()).rejects.toMatchObject({
          code: 'ER_NO_SUCH_TABLE',
          message: expect.stringContaining('call migrate(), or correct tablePrefix'),
        });
      }
    });

    it('writes times in UTC, in any zone and hour of a session', async () => {
      // 02:30 in Berlin on 2026-10-25, the second time.
      const second = Date.UTC(2026, 9, 25, 1, 30);
      for (const zone of ['+00:00', '+01:00', '-11:00']) {
        const own = opened({ connectionLimit: 1 }, `set session time_zone = '${zone}', timestamp = ${second / 1000}`);
        const { row } = await storeOf(own).write(newRow({ dueAt: 1 }));
        expect([row?.begunAt, row?.dueAt]).toEqual([second, second]);
      }
    });

    it('refuses sessions that never commit by themselves', async () => {
      const own = storeOf(opened({}, 'set session autocommit = 0'));
      await expect(own.write(newRow())).rejects.toThrow('autocommit = 0');
      await expect(pay(own, randomUUID())).rejects.toThrow('autocommit = 0');
    });

    it('marks the effect also after USE', async () => {
      const own = opened({ connectionLimit: 1 });
      const id = randomUUID();
      const store = storeOf(own);
      const result = await pay(store, id, async tx => {
        await credit(tx, id);
        await tx.query('use mysql');
      });
      expect([result, await times(id)]).toEqual(['done', 1]);
      expect([await pay(store, id), await pay(storeOf(pool), id)]).toEqual(['skipped', 'skipped']);
    });

    it('does not report an effect that its library has not committed, also if another worker had one', async () => {
      const id = randomUUID();
      const anotherPays = async () => expect(await pay(storeOf(pool), id)).toBe('done');
      for (const meanwhile of [async () => {}, anotherPays]) {
        const forgetful = library(pool, connection => connection.query('begin'), 'rollback', meanwhile);
        const message = 'was rolled back, although the library reported a commit';
        await expect(pay(storeOf(forgetful), id)).rejects.toThrow(message);
      }
    });
  });
}

describe.skipIf(lacks(hasOwnMariadb, 'servers with other settings: no mariadbd'))('a server', () => {
  let mariadb: Mariadb;
  /** A pool, and a store in its own table. */
  const open = async (tablePrefix: string, scope = 'scope') => {
    const pool = mariadb.pool();
    onTestFinished(() => pool.end());
    const store = mysqlStore(pool, { scope, tablePrefix });
    await store.migrate();
    return { pool, store };
  };
  beforeAll(async () => {
    mariadb = await ownMariadb('--innodb-flush-log-at-trx-commit=2', '--innodb-default-row-format=compact');
  });
  afterAll(() => mariadb?.remove());

  it('that may forget commits in a crash causes one warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const { store } = await open('forgetful');
    for (const id of ['a', 'b']) await store.write(newRow({ id }));
    const messages = warn.mock.calls.map(([message]) => String(message));
    expect(messages).toEqual([expect.stringContaining('innodb_flush_log_at_trx_commit is not 1')]);
  });

  it('with narrow rows by default has room for the longest key', async () => {
    const { store } = await open('wide', 's'.repeat(255));
    const row = newRow({ id: 'r'.repeat(1020), paymentId: 'p'.repeat(64) });
    expect((await store.write(row)).isWritten).toBe(true);
  });

  it('that is a replica is not read', async () => {
    const { pool, store } = await open('of_replica');
    await pool.query('set global read_only = 1');
    onTestFinished(() => pool.query('set global read_only = 0').then(() => {}));
    await expect(store.read({ kind: 'create', id: 'a' })).rejects.toThrow('it needs the primary');
    await pool.query("create user if not exists shop@'%'");
    await pool.query("grant all on test.* to shop@'%'");
    const shop = mariadb.pool({ user: 'shop' });
    onTestFinished(() => shop.end());
    await expect(mysqlStore(shop, { scope: 'scope' }).migrate()).rejects.toThrow('The store needs the primary');
  });
});
