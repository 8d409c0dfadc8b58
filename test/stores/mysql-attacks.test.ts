// Attacks on a store in MySQL that could move money twice, or lose a write silently.
import { randomUUID } from 'node:crypto';
import type { Pool, PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PaymentTaken, type StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';
import { inTransactionOf, mysqlShop, paid, pay } from './store-rows.ts';
import { watchedMysql } from './watched-pool.ts';

for (const { name, needs, pool: open } of mysqlServers) {
  // Without the server, skip one test instead of all of them.
  const over: (title: string, tests: () => void) => void = lacks(...(needs as [boolean, string, boolean]))
    ? it.skip
    : describe;
  over(`over ${name}`, () => {
    const [orders, locks] = [uniqueName('orders'), uniqueName('locks')];
    const { pool, tablePrefix, storeOf, opened, credit, times } = mysqlShop(open);

    beforeAll(async () => {
      await pool.query(`create table ${orders} (reference varchar(60) primary key)`);
      await pool.query(`create table ${locks} (id int primary key, line int)`);
      await pool.query(`insert into ${locks} values (0, 0), (1, 0)`);
    });
    afterAll(() => pool.query(`drop table ${orders}, ${locks}`).then(() => {}));

    const find = async (kind: StoreRow['kind'], id: string) => (await storeOf(pool).read({ kind, id })).row;
    const within = (work: (tx: PoolConnection) => Promise<unknown>) => inTransactionOf(pool)(work);
    const lock = (tx: Pick<Pool, 'query'>, id: number) =>
      tx.query(`update ${locks} set line = line + 1 where id = ${id}`);

    describe('a plan', () => {
      const plan = (tx: PoolConnection, id: string, data = {}) =>
        storeOf(pool).write(newRow({ id, state: 'planned', data }), tx);
      const stateOf = async (id: string) => (await find('create', id))?.state;

      it('undoes no other statement that its transaction sends concurrently', async () => {
        const id = randomUUID();
        await within(tx => Promise.all([plan(tx, id), tx.query(`insert into ${orders} values (?)`, [id])]));
        const [kept] = await pool.query(`select reference from ${orders} where reference = ?`, [id]);
        expect([kept, await stateOf(id)]).toEqual([[{ reference: id }], 'planned']);
      });

      it('is kept with others that its transaction plans concurrently, before and after it', async () => {
        const ids = [1, 2, 3, 4, 5].map(() => randomUUID());
        await within(async tx => {
          const plans: Promise<unknown>[] = [];
          for (const id of ids) {
            plans.push(plan(tx, id));
            if (plans.length > 2) await tx.query('select 1');
          }
          await Promise.all(plans);
        });
        expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map(() => 'planned'));
      });

      it('of a taken reference leaves the others unchanged', async () => {
        const [taken, id] = [randomUUID(), randomUUID()];
        await within(tx => plan(tx, taken, { by: 'first' }));
        await within(async tx => {
          const [refused] = await Promise.all([plan(tx, taken, { by: 'second' }), plan(tx, id)]);
          expect(refused).toMatchObject({ isWritten: false, row: { data: { by: 'first' }, revision: 1 } });
        });
        expect(await stateOf(id)).toBe('planned');
      });

      it('with the payment of another row is refused', async () => {
        const paymentId = randomUUID();
        await storeOf(pool).write(newRow({ state: 'created', paymentId }));
        await within(async tx => {
          await expect(storeOf(pool).write(newRow({ paymentId }), tx)).rejects.toThrow(PaymentTaken);
          const { row } = await storeOf(pool).write(newRow(), tx);
          const taking = storeOf(pool).write({ ...(row as StoreRow), paymentId }, tx);
          await expect(taking).rejects.toThrow(PaymentTaken);
        });
      });
    });

    describe('an effect', () => {
      /** The effect failed, and never runs again until an operator decides. */
      const expectUncertain = async (effect: Promise<unknown>, id: string, credited: number) => {
        await expect(effect).rejects.toThrow('It does not run again until you call gateway.resolveReview');
        expect(await pay(storeOf(pool), id)).toBe('uncertain');
        expect(await find('payment', id)).toMatchObject({ state: 'begun', about: { status: 'COMPLETED' } });
        expect(await times(id)).toBe(credited);
      };
      const procedure = uniqueName('ends');
      beforeAll(() => pool.query(`create procedure ${procedure}() rollback`).then(() => {}));
      afterAll(() => pool.query(`drop procedure ${procedure}`).then(() => {}));

      it('is not run again after a deadlock that a timeout of the driver has hidden', async () => {
        const id = randomUUID();
        const own = opened({}, 'set session innodb_lock_wait_timeout = 1');
        const effect = pay(storeOf(own), id, tx =>
          within(async other => {
            // Of the two, the one that has written less is undone.
            for (let index = 0; index < 50; index++) await credit(other, randomUUID());
            await lock(other, 1);
            await lock(tx, 0);
            const late = tx.query({ sql: `update ${locks} set line = 2 where id = 1`, timeout: 100 });
            await expect(late).rejects.toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
            await lock(other, 0);
            await credit(tx, id);
            await expect(lock(tx, 1)).rejects.toMatchObject({ errno: 1205 });
          }),
        );
        await expectUncertain(effect, id, 1);
      });

      it('is not run again if the mark of its doubt meets a deadlock', async () => {
        const id = randomUUID();
        let met = 0;
        /** As a member of a cluster answers its own statement. */
        const watched = watchedMysql(opened(), (sql, send) => {
          if (!/UPDATE.*session.autocommit/s.test(sql) || met > 0) return send();
          met += 1;
          throw Object.assign(new Error('Deadlock found'), { errno: 1213 });
        });
        const effect = pay(storeOf(watched), id, async tx => {
          await tx.query(`call ${procedure}()`);
          await credit(tx, id);
        });
        await expectUncertain(effect, id, 1);
        expect(met).toBe(1);
      });

      it('runs again after its own rows met a lock', async () => {
        const id = randomUUID();
        const own = storeOf(opened({}, 'set session innodb_lock_wait_timeout = 1'));
        const order = newRow({ kind: 'order' });
        const run = () =>
          own.effect({ id, about: {}, reads: [] }, async ({ tx }) => {
            await credit(tx, id);
            return [paid(id), order];
          });
        await within(async other => {
          await storeOf(pool).write(order, other);
          await expect(run()).rejects.toMatchObject({ errno: 1205 });
        });
        expect([await times(id), await find('payment', id)]).toEqual([0, undefined]);
        await pool.query(`delete from ${tablePrefix}_rows where kind = 'order'`);
        expect([await run(), await times(id)]).toEqual(['done', 1]);
      });

      it('runs again if a row has changed that it did not lock', async () => {
        const store = storeOf(pool);
        const { row: order } = await store.write(newRow({ kind: 'order' }));
        const [id, late] = [randomUUID(), newRow({ kind: 'order' })];
        let runs = 0;
        const result = await store.effect({ id, about: {}, reads: [] }, async ({ tx }) => {
          runs += 1;
          const now = (await store.read(order as StoreRow)).row as StoreRow;
          const other = (await store.read(late)).row ?? late;
          if (runs === 1) await store.write(now);
          if (runs === 2) await store.write(late);
          await credit(tx, id);
          return [paid(id), now, other];
        });
        expect([result, runs, await times(id)]).toEqual(['done', 3, 1]);
        expect((await find('order', late.id))?.revision).toBe(2);
      });

      it('that gives two rows one payment is rolled back', async () => {
        const [id, paymentId] = [randomUUID(), randomUUID()];
        const store = storeOf(pool);
        await store.write(newRow({ paymentId }));
        const { row } = await store.write(newRow());
        for (const taker of [newRow({ paymentId }), { ...(row as StoreRow), paymentId }]) {
          const effect = store.effect({ id, about: {}, reads: [] }, async () => [paid(id), taker]);
          await expect(effect).rejects.toThrow(PaymentTaken);
        }
        expect(await find('payment', id)).toBeUndefined();
      });

      it('is found to be done though a later one has replaced its mark', async () => {
        const id = randomUUID();
        let isCommitted = false;
        /** Runs the next effect between the COMMIT and the check of it. */
        const next = async () => {
          if (!isCommitted) return;
          isCommitted = false;
          const following = storeOf(pool).effect({ id, about: {}, reads: [] }, async ({ payment }) => [
            paid(id, payment),
          ]);
          expect(await following).toBe('done');
        };
        const around = (sql: string, send: () => Promise<unknown>) => {
          isCommitted ||= sql === 'COMMIT';
          return send();
        };
        const watched = watchedMysql(opened(), around, next);
        expect(await pay(storeOf(watched), id)).toBe('done');
        expect(await find('payment', id)).toMatchObject({ state: 'paid', revision: 2 });
      });
    });

    // MySQL 8 does not report an open transaction.
    it.skipIf(name !== 'MariaDB')(
      'a write is refused on a connection that was released within a transaction',
      async () => {
        const own = opened({ connectionLimit: 1 });
        const store = storeOf(own);
        const { row } = await store.write(newRow());
        const forgotten = await own.getConnection();
        await forgotten.beginTransaction();
        forgotten.release();
        const id = randomUUID();
        for (const refused of [
          () => store.write(newRow()),
          () => store.write({ ...(row as StoreRow), state: 'freed' }),
          () => store.read(row as StoreRow),
          () => pay(store, id),
        ]) {
          await expect(refused()).rejects.toThrow('released to the pool inside an open transaction');
        }
        const mixed = { config: {}, getConnection: () => (next.shift() ?? pool).getConnection() };
        const moving = storeOf(mixed as never);
        // The first statement names the database.
        const next = [pool, own];
        await expect(moving.write({ ...(row as StoreRow), state: 'freed' })).rejects.toThrow(
          'inside an open transaction',
        );
        await forgotten.query('rollback');
        expect([await find('create', row?.id ?? ''), await find('payment', id)]).toEqual([row, undefined]);
        expect((await store.write({ ...(row as StoreRow), state: 'freed' })).isWritten).toBe(true);
      },
    );
  });
}
