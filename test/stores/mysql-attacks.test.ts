// Attacks on the stores in MySQL: what could move money twice, or lose what was done without a sign.
import { randomUUID } from 'node:crypto';
import type { Pool, PoolConnection, PoolOptions } from 'mysql2/promise';
import { GatewayClient } from 'payment-gateway-sdk';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { completedEvent } from '../support/credits.ts';
import { PAYOUT } from '../support/fixtures.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const planOf = (reference: string) =>
  ({ ...PAYOUT, paymentType: 'WITHDRAWAL', reference, webhookUrl: 'https://shop.example/callbacks' }) as const;

for (const { name, needs, pool: open } of mysqlServers) {
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])))(`over ${name}`, () => {
    const [journals, orders] = [uniqueName('journal'), uniqueName('orders')];
    const [marks, credits, locks] = [uniqueName('marks'), uniqueName('credits'), uniqueName('locks')];
    let pool: Pool;
    const journalOf = (own: Pool) => mysqlJournal(own, { table: journals, scope: 'scope' });
    const inboxOf = (own: Pool) => mysqlInbox(own, { table: marks });

    beforeAll(async () => {
      pool = open();
      await journalOf(pool).migrate();
      await inboxOf(pool).migrate();
      await pool.query(`create table ${orders} (reference varchar(60) primary key)`);
      await pool.query(`create table ${credits} (payment_id char(36) not null)`);
      await pool.query(`create table ${locks} (id int primary key, line int)`);
      await pool.query(`insert into ${locks} values (0, 0), (1, 0)`);
    });
    afterAll(async () => {
      await pool.query(`drop table ${journals}, ${orders}, ${marks}, ${credits}, ${locks}`);
      await pool.end();
    });

    const stateOf = async (reference: string) => (await journalOf(pool).read({ scope: 'scope', reference })).row?.state;
    const within = async (work: (tx: PoolConnection) => Promise<unknown>) => {
      const tx = await pool.getConnection();
      try {
        await tx.beginTransaction();
        await work(tx);
        await tx.commit();
      } finally {
        await tx.rollback();
        tx.release();
      }
    };

    describe('a plan', () => {
      it('undoes nothing of what its transaction sends at the same time', async () => {
        const reference = randomUUID();
        const order = (tx: PoolConnection) => tx.query(`insert into ${orders} values (?)`, [reference]);
        await within(tx => Promise.all([journalOf(pool).plan(tx, planOf(reference)), order(tx)]));
        const [kept] = await pool.query(`select reference from ${orders} where reference = ?`, [reference]);
        expect([kept, await stateOf(reference)]).toEqual([[{ reference }], 'planned']);
      });

      it('is kept with others that its transaction plans at the same time, before and behind it', async () => {
        const references = [1, 2, 3, 4, 5].map(() => randomUUID());
        const journal = journalOf(pool);
        await within(async tx => {
          const plans: Promise<unknown>[] = [];
          for (const reference of references) {
            plans.push(journal.plan(tx, planOf(reference)));
            if (plans.length > 2) await tx.query('select 1');
          }
          await Promise.all(plans);
        });
        expect(await Promise.all(references.map(stateOf))).toEqual(references.map(() => 'planned'));
      });

      it('that is refused leaves those beside it as they are', async () => {
        const [taken, reference] = [randomUUID(), randomUUID()];
        const journal = journalOf(pool);
        await within(tx => journal.plan(tx, planOf(taken)));
        await within(async tx => {
          const other = journal.plan(tx, { ...planOf(taken), amount: '999.00' });
          const refused = expect(other).rejects.toMatchObject({ name: 'DuplicateReferenceError' });
          await Promise.all([refused, journal.plan(tx, planOf(reference))]);
        });
        expect(await stateOf(reference)).toBe('planned');
      });
    });

    const opened = (options?: PoolOptions, ...settings: string[]): Pool => {
      const own = open(options);
      own.on('connection', connection => {
        for (const setting of settings) connection.query(setting);
      });
      onTestFinished(() => own.end());
      return own;
    };
    const credit = (tx: Pick<Pool, 'query'>, id: string) => tx.query(`insert into ${credits} values (?)`, [id]);
    const times = async (id: string): Promise<unknown> => {
      const [rows] = await pool.query(`select count(*) as times from ${credits} where payment_id = ?`, [id]);
      return (rows as { times: number }[])[0]?.times;
    };
    const lock = (tx: Pick<Pool, 'query'>, id: number) =>
      tx.query(`update ${locks} set line = line + 1 where id = ${id}`);
    const IN_DOUBT = [{ status: 'COMPLETED', final: true, begun: true }];

    describe('an effect', () => {
      it('is not run again after a deadlock that a time-out of the driver has hidden', async () => {
        const event = completedEvent();
        const own = opened({}, 'set session innodb_lock_wait_timeout = 1');
        const effect = inboxOf(own).run(event, ({ tx }) =>
          within(async other => {
            // Of the two, the one that has written less is undone.
            for (let index = 0; index < 50; index++) await credit(other, randomUUID());
            await lock(other, 1);
            await lock(tx, 0);
            const late = tx.query({ sql: `update ${locks} set line = 2 where id = 1`, timeout: 100 });
            await expect(late).rejects.toMatchObject({ code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
            await lock(other, 0);
            await credit(tx, event.paymentId);
            await expect(lock(tx, 1)).rejects.toMatchObject({ errno: 1205 });
          }),
        );
        await expect(effect).rejects.toThrow('until you call inbox.resolve');
        expect(await inboxOf(pool).run(event, async () => {})).toEqual(IN_DOUBT);
        expect(await times(event.paymentId)).toBe(1);
      });

      it('is not run again where the mark of its doubt meets a deadlock', async () => {
        const event = completedEvent();
        const ends = uniqueName('ends');
        await pool.query(`create procedure ${ends}() rollback`);
        onTestFinished(async () => void (await pool.query(`drop procedure ${ends}`)));
        let met = 0;
        const own = opened();
        const meeting = new Proxy(own, {
          get: (_, name) => (name === 'getConnection' ? borrow : Reflect.get(own, name, own)),
        });
        /** As a member of a cluster answers a statement of its own. */
        const borrow = async () => {
          const connection = await own.getConnection();
          const query = async (asked: { sql?: string }, ...values: []) => {
            if (!asked.sql?.includes('AND marks =') || met > 0) return connection.query(asked as never, ...values);
            met += 1;
            throw Object.assign(new Error('Deadlock found'), { errno: 1213 });
          };
          return { query, release: () => connection.release(), destroy: () => connection.destroy() };
        };
        const effect = inboxOf(meeting).run(event, async ({ tx }) => {
          if (met === 0) await tx.query(`call ${ends}()`);
          await credit(tx, event.paymentId);
        });
        await expect(effect).rejects.toThrow('until you call inbox.resolve');
        expect([met, await inboxOf(pool).run(event, async () => {})]).toEqual([1, IN_DOUBT]);
        expect(await times(event.paymentId)).toBe(1);
      });
    });

    // MySQL 8 does not tell whether there is a transaction.
    it.skipIf(name !== 'MariaDB')(
      'a create is not sent on a connection that was given back within a transaction',
      async () => {
        const own = opened({ connectionLimit: 1 });
        const forgotten = await own.getConnection();
        await forgotten.beginTransaction();
        forgotten.release();
        const sandbox = new Sandbox();
        const gateway = new GatewayClient({ ...sandbox.clientOptions, journal: journalOf(own) });
        await expect(gateway.createPayment(planOf(randomUUID()))).rejects.toThrow(
          'that somebody began and did not end',
        );
        expect(sandbox.payments).toEqual([]);
        await forgotten.query('rollback');
        const { payment } = await gateway.createPayment(planOf(randomUUID()));
        expect(sandbox.payments.map(({ id }) => id)).toEqual([payment.id]);
      },
    );

    it.skipIf(name !== 'MariaDB')(
      'a create is not sent if only its second write met a transaction that was left open',
      async () => {
        const [good, bad] = [opened({ connectionLimit: 1 }), opened({ connectionLimit: 1 })];
        /** Which of the two the pool gives next; the good one after that. */
        const next: Pool[] = [];
        const pool = { config: {}, getConnection: async () => (next.shift() ?? good).getConnection() };
        const sandbox = new Sandbox({ fetch: async () => new Response() });
        const gateway = new GatewayClient({ ...sandbox.clientOptions, journal: journalOf(pool as never) });
        const request = planOf(randomUUID());
        sandbox.faults.next('reject-422');
        await expect(gateway.createPayment(request)).rejects.toMatchObject({ outcome: 'rejected' });

        const forgotten = await bad.getConnection();
        await forgotten.beginTransaction();
        forgotten.release();
        // The INSERT that finds it freed, the read, and the UPDATE that begins it.
        next.push(good, good, bad);
        await expect(gateway.createPayment(request)).rejects.toThrow('that somebody began and did not end');
        expect([next, sandbox.payments]).toEqual([[], []]);
        await forgotten.query('rollback');
        const { payment } = await gateway.createPayment(request);
        expect([sandbox.payments.length, (await gateway.createPayment(request)).payment.id]).toEqual([1, payment.id]);
      },
    );
  });
}
