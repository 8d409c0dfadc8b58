// What is different in MySQL from what a store expects of a database, each met on a real server.
import { randomUUID } from 'node:crypto';
import type { Pool, PoolConnection, PoolOptions } from 'mysql2/promise';
import { GatewayClient } from 'payment-gateway-sdk';
import { type MysqlInbox, mysqlInbox, mysqlJournal, type SqlDatabase, type SqlQuery } from 'payment-gateway-sdk/mysql';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { inboxSuite, journalSuite, type TestFunction } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PAYOUT } from '../support/fixtures.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { ROW } from '../support/orm-plans.ts';
import { hasOwnMariadb, type Mariadb, ownMariadb } from '../support/own-mariadb.ts';
import { isCi, lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const PLAN = { ...PAYOUT, paymentType: 'WITHDRAWAL' } as const;
const completed = (paymentId: string = randomUUID()) => ({ paymentId, status: 'COMPLETED', final: true });

/** A query of a `SqlDatabase` that somebody has written by himself. */
const queryOf =
  (connection: Pick<Pool, 'query'>): SqlQuery =>
  async (sql, values) => {
    const [answer] = await connection.query(sql, values as never);
    if (Array.isArray(answer)) return answer as never;
    return [{ affected: String((answer as { affectedRows: number }).affectedRows) }];
  };

/** Settings of a session, as a server or a pool may have them. */
const SESSIONS: Record<string, { settings: readonly string[]; options?: PoolOptions }> = {
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
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])))(`over ${name}`, () => {
    const [marks, journals, credits] = [uniqueName('marks'), uniqueName('journal'), uniqueName('credits')];
    let pool: Pool;
    let inbox: MysqlInbox<Pick<PoolConnection, 'query'>>;
    const journalOf = (pool: Pool) => mysqlJournal(pool, { table: journals, scope: 'scope' });

    beforeAll(async () => {
      pool = open();
      inbox = mysqlInbox(pool, { table: marks });
      await inbox.migrate();
      await journalOf(pool).migrate();
      await pool.query(`create table ${credits} (payment_id char(36) not null)`);
    });
    afterAll(async () => {
      await pool.query(`drop table ${marks}, ${journals}, ${credits}`);
      await pool.end();
    });

    /** A pool, whose sessions begin with these statements. */
    const poolWith = (settings: readonly string[], options?: PoolOptions): Pool => {
      const own = open(options);
      own.on('connection', connection => {
        for (const setting of settings) connection.query(setting);
      });
      return own;
    };
    const opened = (options?: PoolOptions, ...settings: string[]): Pool => {
      const own = poolWith(settings, options);
      onTestFinished(() => own.end());
      return own;
    };
    const times = async (id: string): Promise<unknown> => {
      const [rows] = await pool.query(`select count(*) as times from ${credits} where payment_id = ?`, [id]);
      return (rows as { times: number }[])[0]?.times;
    };

    describe('locks', () => {
      it('of one payment are not waited for by those beside it, new or known', async () => {
        const ids = Array.from({ length: 12 }, () => randomUUID()).sort();
        for (const id of ids.filter((_, index) => index % 3 === 0)) {
          await inbox.run({ paymentId: id, status: 'PENDING', final: false }, async () => {});
        }
        const wide = mysqlInbox(opened({ connectionLimit: 30 }), { table: marks });
        const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        let inside = 0;
        const effects = ids.map(id =>
          wide.run(completed(id), async () => {
            inside += 1;
            if (inside === ids.length) entered.resolve();
            await leave.promise;
          }),
        );
        await entered.promise;
        leave.resolve();
        expect(await Promise.all(effects)).toEqual(ids.map(() => 'ran'));
      });

      it('of rows that are leased are not waited for by who claims others', async () => {
        const [a, b] = [journalOf(pool), journalOf(opened())];
        const scope = uniqueName('scope');
        for (let index = 0; index < 6; index++) await a.insert({ ...ROW, scope, reference: `${index}`, dueAt: 1 });
        const holder = await pool.getConnection();
        onTestFinished(() => holder.release());
        await holder.query('begin');
        await holder.query(`select * from ${journals} where scope = ? order by reference limit 3 for update`, [scope]);
        const { rows } = await b.claim({ scope, states: ['begun'] }, 6, 60_000);
        await holder.query('rollback');
        expect(rows.map(({ reference }) => reference)).toEqual(['3', '4', '5']);
      });
    });

    describe('a snapshot that is older than the lock', () => {
      /** A library that begins at REPEATABLE READ, and reads before anybody asks for it. */
      const stale = (meanwhile: () => Promise<unknown>): SqlDatabase<unknown> => {
        return {
          dialect: 'mysql',
          query: queryOf(pool),
          queryIn: tx => queryOf(tx as never),
          async transaction(work) {
            const connection = await pool.getConnection();
            try {
              await connection.query('set transaction isolation level repeatable read');
              await connection.query('start transaction with consistent snapshot');
              await meanwhile();
              const value = await work(connection);
              await connection.query('commit');
              return value;
            } catch (error) {
              await connection.query('rollback');
              throw error;
            } finally {
              connection.release();
            }
          },
        };
      };

      it('does not hide what the worker before has marked', async () => {
        const event = completed();
        let isFirst = true;
        const late = stale(async () => {
          if (isFirst) expect(await inbox.run(event, async () => {})).toBe('ran');
          isFirst = false;
        });
        let worked = 0;
        const answer = await mysqlInbox(late, { table: marks }).run(event, async () => {
          worked += 1;
        });
        expect([answer, worked]).toEqual(['already', 0]);
      });

      it('does not hide from a plan what another one has planned', async () => {
        const journal = journalOf(pool);
        const request = { ...PLAN, reference: randomUUID(), webhookUrl: 'https://shop.example/callbacks' } as const;
        const plan = async (meanwhile: () => Promise<unknown>) => {
          const connection = await pool.getConnection();
          try {
            await connection.query('start transaction with consistent snapshot');
            await meanwhile();
            const entry = await journal.plan(connection, request);
            await connection.query('commit');
            return entry;
          } finally {
            connection.release();
          }
        };
        const entry = await plan(() => plan(async () => {}));
        expect([entry.state, entry.reference]).toEqual(['planned', request.reference]);
      });
    });

    describe('keys', () => {
      it('are compared byte by byte, to the last of the longest', async () => {
        const journal = journalOf(pool);
        const scope = uniqueName('scope');
        const long = 'ü'.repeat(509);
        const references = ['a', 'A', 'á', 'a ', ' a', 'a\t', 'ß', 'ss', 'İ', '\0', `${long}a`, `${long}b`];
        for (const reference of references) {
          expect([reference, (await journal.insert({ ...ROW, scope, reference })).isInserted]).toEqual([
            reference,
            true,
          ]);
        }
        for (const other of [scope.toUpperCase(), `${scope} `, 's'.repeat(255)]) {
          expect((await journal.insert({ ...ROW, scope: other, reference: 'a' })).isInserted).toBe(true);
        }
        const { rows } = await journal.list({ scope, states: ['begun'] });
        expect(new Set(rows.map(({ reference }) => reference))).toEqual(new Set(references));
      });

      it('that are too long are refused before anything is sent, also where the server would cut them', async () => {
        const lax = opened({}, "set session sql_mode = ''");
        const sandbox = new Sandbox();
        const create = (scope: string) => {
          const journal = { ...journalOf(lax), scope };
          const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
          const reference = 'x'.repeat(1020);
          return gateway.createWithdrawal({
            ...PAYOUT,
            reference,
            webhookUrl: 'https://shop.example/callbacks',
          } as never);
        };
        await create('s'.repeat(255));
        const error = await create('s'.repeat(256)).catch(error => error);
        expect(error.message).toContain('A scope of 256 bytes does not fit');
        expect(error).toMatchObject({ name: 'JournalError', outcome: 'not_sent' });
        expect(error.message).not.toContain('may be in the journal anyway');
        expect(sandbox.payments).toHaveLength(1);
        const tooLong = journalOf(lax).insert({ ...ROW, scope: 's', reference: 'x'.repeat(1021) });
        await expect(tooLong).rejects.toThrow('A reference of 1021 bytes does not fit');
      });
    });

    describe.each(Object.entries(SESSIONS))('sessions that are %s', (_, { settings, options }) => {
      let pools: Pool[];
      const slow = /in any order of creates|busy while another/;
      const test: TestFunction = (name, run) => (isCi || !slow.test(name) ? it : it.skip)(name, run);
      beforeAll(() => {
        pools = [poolWith(settings, options), poolWith(settings, options)];
      });
      afterAll(async () => void (await Promise.all(pools.map(own => own.end()))));

      inboxSuite({ test, make: () => pools.map(own => mysqlInbox(own, { table: marks })) as never });
      journalSuite({ test, make: () => pools.map(own => mysqlJournal(own, { table: journals })) as never });

      it('plan, and credit, as others do', async () => {
        const [own] = pools as [Pool];
        const event = completed();
        const request = {
          ...PLAN,
          reference: `Größe ${event.paymentId} \\' "`,
          webhookUrl: 'https://x.example/',
        } as const;
        const plans = mysqlJournal(own, { table: journals, scope: 'scope' });
        const run = mysqlInbox(own, { table: marks }).run(event, async ({ tx }) => {
          await tx.query(`insert into ${credits} values (?)`, [event.paymentId]);
          await plans.plan(tx, request);
        });
        expect(await run).toBe('ran');
        expect(await times(event.paymentId)).toBe(1);
        const { row } = await journalOf(pool).read({ scope: 'scope', reference: request.reference });
        expect([row?.state, row?.reference]).toEqual(['planned', request.reference]);
      });
    });

    it.each([
      [
        'migrate() was forgotten',
        () => mysqlJournal(pool, { table: 'none' }),
        /was migrate\(\) called\?\)\. Nothing was sent/,
      ],
      ['nobody knows the database', () => mysqlJournal(opened({ database: 'nowhere' })), /Unknown database 'nowhere'/],
    ])('says that nothing was written where %s', async (_, journal, message) => {
      const gateway = new GatewayClient({ ...new Sandbox().clientOptions, journal: journal() });
      const error = await gateway
        .createWithdrawal({ ...PAYOUT, reference: randomUUID(), webhookUrl: 'https://shop.example/callbacks' })
        .catch(error => error);
      expect(error).toMatchObject({
        name: 'JournalError',
        outcome: 'not_sent',
        message: expect.stringMatching(message),
      });
      expect(error.message).not.toContain('may be in the journal anyway');
    });

    it.each(['new', 'freed'])(
      'takes an attempt back that was written before the server went away: a %s one',
      async state => {
        let isWritten = false;
        const query: SqlQuery = async (sql, values) => {
          if (isWritten) {
            isWritten = false;
            throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
          }
          const answer = await queryOf(pool)(sql, values);
          isWritten = isFailing && /^(?:INSERT|UPDATE)/.test(sql);
          return answer;
        };
        let isFailing = false;
        const database: SqlDatabase<unknown> = {
          dialect: 'mysql',
          query,
          queryIn: () => query,
          transaction: () => Promise.reject(new Error()),
        };
        const journal = mysqlJournal(database, { table: journals, scope: uniqueName('scope') });
        const sandbox = new Sandbox();
        const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
        const create = () =>
          gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1', webhookUrl: 'https://shop.example/callbacks' });
        if (state === 'freed') {
          const { row } = await journal.insert({ ...ROW, scope: journal.scope ?? '', reference: 'payout-1' });
          await journal.replace({ ...row, state: 'freed' }, row.revision);
        }
        isFailing = true;
        const failing = create();
        await expect(failing).rejects.toMatchObject({ name: 'JournalError', outcome: 'not_sent' });
        isFailing = false;
        expect(await create()).toMatchObject({ replayed: false, payment: { reference: 'payout-1' } });
        expect(sandbox.payments).toHaveLength(1);
      },
    );

    it('tells times in UTC, of whatever zone and hour a session believes itself to be in', async () => {
      // 02:30 in Berlin on 2026-10-25, the second time.
      const second = Date.UTC(2026, 9, 25, 1, 30);
      for (const zone of ['+00:00', '+01:00', '-11:00']) {
        const own = opened({ connectionLimit: 1 }, `set session time_zone = '${zone}', timestamp = ${second / 1000}`);
        const { row } = await journalOf(own).insert({ ...ROW, scope: uniqueName('scope'), reference: 'a', dueAt: 1 });
        expect([row.begunAt, row.dueAt]).toEqual([second, second]);
      }
    });

    it('refuses sessions that never commit by themselves, before anything is sent', async () => {
      const own = opened({}, 'set session autocommit = 0');
      await expect(journalOf(own).insert({ ...ROW, scope: 'scope', reference: randomUUID() })).rejects.toThrow(
        'autocommit = 0',
      );
    });

    it('marks the effect also after USE', async () => {
      const own = opened();
      const event = completed();
      const answer = await mysqlInbox(own, { table: marks }).run(event, async ({ tx }) => {
        await tx.query(`insert into ${credits} values (?)`, [event.paymentId]);
        await tx.query('use mysql');
      });
      expect([answer, await times(event.paymentId)]).toEqual(['ran', 1]);
      expect(await inbox.run(event, async () => {})).toBe('already');
    });

    it('does not answer that an effect ran which its library has not committed', async () => {
      const forgetful: SqlDatabase<unknown> = {
        dialect: 'mysql',
        query: queryOf(pool),
        queryIn: tx => queryOf(tx as never),
        async transaction(work) {
          const connection = await pool.getConnection();
          await connection.query('begin');
          const value = await work(connection);
          await connection.query('rollback');
          connection.release();
          return value;
        },
      };
      const answer = mysqlInbox(forgetful, { table: marks }).run(completed(), async () => {});
      await expect(answer).rejects.toThrow('was rolled back, although the library reported a commit');
    });

    it('lets operators resolve statuses of one payment at the same time', async () => {
      const others = mysqlInbox(opened(), { table: marks });
      for (let round = 0; round < 10; round++) {
        const id = randomUUID();
        await inbox.run({ paymentId: id, status: 'PENDING', final: false }, async () => {});
        const doubts = ['A', 'B'].map(status => ({ status, final: false, begun: true }));
        await pool.query(`update ${marks} set marks = ?, in_doubt = 1 where payment_id = ?`, [
          JSON.stringify(doubts),
          id,
        ]);
        await Promise.all([inbox.resolve(id, 'A', 'done'), others.resolve(id, 'B', 'again')]);
        const [rows] = await pool.query(`select marks, in_doubt from ${marks} where payment_id = ?`, [id]);
        expect(rows).toEqual([{ marks: '[{"status":"A","final":false}]', in_doubt: 0 }]);
      }
    });
  });
}

describe.skipIf(lacks(hasOwnMariadb, 'servers with settings of their own: no mariadbd'))('a server', () => {
  let mariadb: Mariadb;
  beforeAll(async () => {
    mariadb = await ownMariadb('--innodb-flush-log-at-trx-commit=2', '--innodb-default-row-format=compact');
  });
  afterAll(() => mariadb?.remove());

  it('that may forget commits in a crash is warned of, once', async () => {
    const pool = mariadb.pool();
    onTestFinished(() => pool.end());
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const journal = mysqlJournal(pool, { scope: 'scope' });
    await journal.migrate();
    for (const reference of ['a', 'b']) await journal.insert({ ...ROW, scope: 'scope', reference });
    const told = warn.mock.calls.map(([message]) => String(message));
    expect(told).toEqual([expect.stringContaining('innodb_flush_log_at_trx_commit is not 1')]);
  });

  it('with narrow rows by default has room for the longest key', async () => {
    const pool = mariadb.pool();
    onTestFinished(() => pool.end());
    const journal = mysqlJournal(pool, { scope: 's'.repeat(255), table: 'wide' });
    await journal.migrate();
    const row = { ...ROW, scope: 's'.repeat(255), reference: 'r'.repeat(1020) };
    expect((await journal.insert(row)).isInserted).toBe(true);
  });

  it('that is a replica is not read', async () => {
    const pool = mariadb.pool();
    onTestFinished(() => pool.end());
    const journal = mysqlJournal(pool, { scope: 'scope', table: 'of_replica' });
    await journal.migrate();
    await pool.query('set global read_only = 1');
    onTestFinished(() => pool.query('set global read_only = 0').then(() => {}));
    await expect(journal.read({ scope: 'scope', reference: 'a' })).rejects.toThrow('it needs the primary');
    await pool.query("create user if not exists shop@'%'");
    await pool.query("grant all on test.* to shop@'%'");
    const shop = mariadb.pool({ user: 'shop' });
    onTestFinished(() => shop.end());
    await expect(mysqlInbox(shop).migrate()).rejects.toThrow('The store needs the primary');
  });
});
