// Creates that are planned in a transaction of a real Postgres: what is committed is sent, once, whoever dies.
import { fileURLToPath } from 'node:url';
import { GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import { type PostgresJournalOptions, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCredits } from '../support/credits.ts';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { Replicas } from '../support/processes.ts';
import { isCi, lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const planner = fileURLToPath(new URL('planner.ts', import.meta.url));
const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };

describe.skipIf(lacks(hasPostgres, 'plans: no PostgreSQL at 127.0.0.1:5432'))('a plan in Postgres', () => {
  const table = uniqueName('journal');
  const orders = uniqueName('orders');
  let pool: pg.Pool;
  let client: pg.PoolClient;
  let sandbox: Sandbox;

  beforeEach(async () => {
    pool = postgresPool();
    client = await pool.connect();
    client.on('error', () => {});
    await journalOf().migrate();
    await pool.query(`create table ${orders} (reference text primary key)`);
    sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
  });
  afterEach(async () => {
    client.release(true);
    await pool.query(`drop table ${table}, ${orders}`);
    await pool.end();
  });

  const journalOf = (options: PostgresJournalOptions = {}) =>
    postgresJournal(pool, { table, scope: 'plan', ...options });
  const gatewayOf = (journal = journalOf(), events: GatewayEvent[] = []) =>
    new GatewayClient({ ...sandbox.clientOptions, journal, retries: 0, onEvent: event => events.push(event) });
  const wanted = (reference = 'payout-1', amount = '75.00') =>
    ({ ...PAYOUT, paymentType: 'WITHDRAWAL', amount, reference }) as const;
  const stateOf = async (reference = 'payout-1') => (await gatewayOf().find(reference))?.state;
  const detailsOf = async (reference = 'payout-1') => {
    const { rows } = await pool.query(`select details::text from ${table} where reference = $1`, [reference]);
    return rows[0]?.details as string;
  };

  describe('is written', () => {
    it('by the transaction, which keeps or undoes it with the order', async () => {
      for (const end of ['rollback', 'commit']) {
        await client.query('begin');
        await client.query(`insert into ${orders} values ('order')`);
        await journalOf().plan(client, wanted());
        expect([await stateOf(), await gatewayOf().drain()]).toEqual([undefined, NONE]);
        await client.query(end);
      }
      expect([await stateOf(), await gatewayOf().drain()]).toEqual(['planned', { ...NONE, created: 1 }]);
    });

    it('within a savepoint, which undoes it alone', async () => {
      await client.query('begin');
      await client.query('savepoint part');
      await journalOf().plan(client, wanted());
      await client.query('rollback to savepoint part');
      await journalOf().plan(client, wanted('payout-2'));
      await client.query('commit');
      expect([await stateOf(), await stateOf('payout-2')]).toEqual([undefined, 'planned']);
    });

    it('nowhere else: not by a client without BEGIN, a pool, or nothing', async () => {
      for (const tx of [client, pool, undefined, null]) {
        const error = await errorOf(journalOf().plan(tx as never, wanted()));
        expect((error as Error).name).toBe('ConfigurationError');
      }
      await expect(journalOf().plan(pool as never, wanted())).rejects.toThrow('pool.connect()');
      await expect(journalOf().plan(wanted() as never, client as never)).rejects.toThrow('journal.plan(tx, request)');
      const { totalCount, ...poolOfSomebody } = pool as never as { totalCount: number };
      await expect(
        journalOf().plan({ ...poolOfSomebody, query: pool.query.bind(pool) } as never, wanted()),
      ).rejects.toThrow('Nothing was planned: tx is no open transaction');
      expect(await stateOf()).toBeUndefined();
    });

    it.each(['commit', 'rollback'])('not where nobody awaits it, and %s comes first', async end => {
      await client.query('begin');
      const planning = errorOf(journalOf().plan(client, wanted()));
      await client.query(end);
      expect(await planning).toMatchObject({ name: 'ConfigurationError' });
      expect(await stateOf()).toBeUndefined();
    });

    it.each(['commit', 'rollback'])('not where %s comes between its own statements', async end => {
      await client.query('begin');
      let queries = 0;
      const racing = new Proxy(client, {
        get(target, name) {
          if (name !== 'query') return Reflect.get(target, name);
          return async (...asked: [string]) => {
            const answer = await target.query(...asked);
            queries += 1;
            if (queries === 1) await target.query(end);
            return answer;
          };
        },
      });
      await expect(journalOf().plan(racing, wanted())).rejects.toThrow('no open transaction');
      expect(await stateOf()).toBeUndefined();
    });

    it('not by the next transaction of a connection, whoever forgot to await it', async () => {
      const seen = { refused: 0, planned: 0 };
      for (let round = 0; round < 60; round++) {
        const reference = `payout-${round}`;
        await client.query('begin');
        await journalOf().plan(client, wanted(reference));
        await client.query('commit');
        await gatewayOf().settle(reference, 'not_created');
        await client.query('begin');
        const planning = journalOf()
          .plan(client, wanted(reference))
          .catch(() => {
            seen.refused += 1;
          });
        if (round % 3) await new Promise(resolve => setTimeout(resolve, round % 4));
        await client.query('rollback');
        await client.query('begin');
        await new Promise(resolve => setTimeout(resolve, 2));
        await client.query('commit');
        await planning;
        if ((await stateOf(reference)) === 'planned') seen.planned += 1;
      }
      expect(seen.planned).toBe(0);
      expect(seen.refused).toBeGreaterThan(5);
    });

    it('over a freed reference likewise', async () => {
      await client.query('begin');
      await journalOf().plan(client, wanted());
      await client.query('commit');
      await gatewayOf().settle('payout-1', 'not_created');
      await expect(journalOf().plan(client, wanted())).rejects.toThrow('no open transaction');
      expect(await stateOf()).toBe('freed');
      for (const [end, state] of [
        ['rollback', 'freed'],
        ['commit', 'planned'],
      ] as const) {
        await client.query('begin');
        await journalOf().plan(client, wanted('payout-1', '80.00'));
        await client.query(end);
        expect(await stateOf()).toBe(state);
      }
    });

    it('once by two transactions at the same time, and the second one waits for the first', async () => {
      const second = await pool.connect();
      for (const [reference, isFreed] of [
        ['payout-1', false],
        ['payout-2', true],
      ] as const) {
        if (isFreed) {
          await client.query('begin');
          await journalOf().plan(client, wanted(reference));
          await client.query('commit');
          await gatewayOf().settle(reference, 'not_created');
        }
        await client.query('begin');
        await second.query('begin');
        await journalOf().plan(client, wanted(reference));
        const same = journalOf().plan(second, wanted(reference));
        await client.query('commit');
        expect((await same).state).toBe('planned');
        await expect(journalOf().plan(second, wanted(reference, '80.00'))).rejects.toThrow(
          'belongs to another request',
        );
        await second.query('commit');
      }
      second.release();
      expect(await gatewayOf().drain()).toEqual({ ...NONE, created: 2 });
    });

    it('durably, also in a session that commits before it is on disk', async () => {
      await client.query(`set synchronous_commit = off`);
      await client.query('begin');
      await journalOf().plan(client, wanted());
      const { rows } = await client.query('show synchronous_commit');
      await client.query('rollback');
      expect(rows).toEqual([{ synchronous_commit: 'on' }]);
    });

    it('encrypted, if there is a key, and read with it alone', async () => {
      const encryptionKey = Buffer.alloc(32, 7).toString('base64');
      const journal = journalOf({ encryptionKey });
      await client.query('begin');
      await journal.plan(client, { ...wanted(), customer: { email: 'zoe@customer.example' } });
      await client.query('commit');
      expect(await detailsOf()).toContain('aes-256-gcm:');
      expect(await detailsOf()).not.toContain('zoe');
      const events: GatewayEvent[] = [];
      expect(await gatewayOf(journalOf(), events).drain()).toEqual({ ...NONE, postponed: 1 });
      expect(events).toContainEqual(
        expect.objectContaining({
          code: 'plan_not_sent',
          message: expect.stringContaining('give the journal its encryptionKey'),
        }),
      );
      await pool.query(`update ${table} set due_at = now()`);
      const rotated = journalOf({ encryptionKey: Buffer.alloc(32, 8), formerEncryptionKeys: [encryptionKey] });
      expect(await gatewayOf(rotated).drain()).toEqual({ ...NONE, created: 1 });
      expect(await detailsOf()).not.toContain('aes');
      expect(sandbox.payments[0]?.customer).toMatchObject({ email: 'zoe@customer.example' });
    });
  });

  it('refuses a key that is none', () => {
    for (const encryptionKey of ['short', Buffer.alloc(16), 7]) {
      expect(() => journalOf({ encryptionKey } as never)).toThrow('encryptionKey must be 32 random bytes');
    }
    expect(() => journalOf({ formerEncryptionKeys: [Buffer.alloc(32)] })).toThrow(
      'are for a journal with an encryptionKey',
    );
  });

  it('is found by an index of its own, however many payments are open, and doubts by theirs', async () => {
    const details = `'{"attemptId":"a","timeoutMs":1,"conflictingIds":[],"looks":0,"paymentType":"DEPOSIT"}'`;
    const insert = (state: string, count: number, dueAt: string) =>
      pool.query(`insert into ${table} select 'plan', '${state}-' || n, '${state}', 1, now(), ${dueAt}, null, ${details}
        from generate_series(1, ${count}) n`);
    await insert('created', 30_000, "now() - interval '1 hour'");
    await insert('planned', 300, "now() - interval '1 minute'");
    await insert('begun', 30, 'null');
    await pool.query(`analyze ${table}`);
    const asked: [string, unknown[]][] = [];
    const query = (text: string, values: unknown[] = []) => {
      asked.push([text, values]);
      return pool.query(text, values);
    };
    const spied = postgresJournal({ connect: () => pool.connect(), query }, { table });
    expect((await spied.claim({ scope: 'plan', states: ['planned'] }, 8, 1_000)).rows).toHaveLength(8);
    await spied.claim({ scope: 'plan', states: ['begun', 'created'], olderThan: 0 }, 8, 1_000);
    await spied.list({ scope: 'plan', states: ['begun'] });
    const plans = [];
    for (const [text, values] of asked) {
      const { rows } = await pool.query(`explain ${text}`, values);
      plans.push(rows.map(row => row['QUERY PLAN']).join('\n'));
    }
    const used = plans.map(plan => ['planned', 'due', 'open'].filter(name => plan.includes(`${table}_${name}`)));
    expect(used).toEqual([['planned'], ['due'], ['open']]);
    expect(plans.join('\n')).not.toMatch(new RegExp(`Seq Scan on ${table}`));
  });

  describe('wakes a drain that follows', () => {
    /** Milliseconds from the commit until the gateway has it. */
    const waitFor = async (reference: string) => {
      const committed = performance.now();
      await expect
        .poll(() => sandbox.payments.some(made => made.reference === reference), { timeout: 5_000, interval: 5 })
        .toBe(true);
      return performance.now() - committed;
    };
    const plan = async (reference: string, journal = journalOf()) => {
      await client.query('begin');
      await journal.plan(client, wanted(reference));
      await client.query('commit');
      return waitFor(reference);
    };
    const listeners = async () => {
      const { rows } = await pool.query(`select pid from pg_stat_activity where query = 'LISTEN "${table}"'`);
      return rows.map(({ pid }) => pid as number);
    };

    it('at its commit, and again after the connection that listens was killed', async () => {
      const stop = new AbortController();
      const following = gatewayOf().drain({ follow: true, signal: stop.signal });
      await expect.poll(listeners).toHaveLength(1);
      const times = [];
      for (let index = 0; index < 5; index++) times.push(await plan(`first-${index}`));
      // One look a second would take half a second as a rule.
      expect(Math.min(...times)).toBeLessThan(300);
      const [killed] = await listeners();
      await pool.query('select pg_terminate_backend($1)', [killed]);
      expect(await plan('meanwhile')).toBeLessThan(3_000);
      await expect.poll(listeners, { timeout: 5_000 }).toHaveLength(1);
      stop.abort();
      expect(await following).toEqual({ ...NONE, created: 6 });
      await expect.poll(listeners).toEqual([]);
    });

    it('on one connection for all of a pool, and on none of a small pool', async () => {
      const stop = new AbortController();
      const scopes = ['plan', 'other', 'third'];
      const follow = (of: pg.Pool) =>
        scopes.map(scope => {
          const journal = postgresJournal(of, { table, scope });
          return gatewayOf(journal).drain({ follow: true, signal: stop.signal });
        });
      const following = follow(pool);
      await expect.poll(listeners).toHaveLength(1);
      expect(await plan('payout-1')).toBeLessThan(3_000);
      const small = postgresPool({ max: 2 });
      following.push(...follow(small));
      expect(await plan('payout-2')).toBeLessThan(3_000);
      expect(await listeners()).toHaveLength(1);
      stop.abort();
      const drained = await Promise.all(following);
      expect(drained.reduce((sum, { created }) => sum + created, 0)).toBe(2);
      await expect.poll(listeners).toEqual([]);
      await small.end();
    });

    it('no more after its signal, also while every connection is in use', async () => {
      const busy = postgresPool({ max: 4 });
      const held = await Promise.all(Array.from({ length: 4 }, () => busy.connect()));
      const stop = new AbortController();
      const following = gatewayOf(postgresJournal(busy, { table, scope: 'plan' })).drain({
        follow: true,
        signal: stop.signal,
      });
      setTimeout(() => stop.abort(), 100);
      expect(await following).toEqual(NONE);
      for (const each of held) each.release();
      await expect.poll(() => busy.idleCount).toBeGreaterThan(2);
      await busy.end();
    });

    it('by looking, where plans are to notify nobody', async () => {
      const stop = new AbortController();
      const quiet = journalOf({ notify: false });
      const following = gatewayOf(quiet).drain({ follow: true, signal: stop.signal });
      expect(await plan('payout-1', quiet)).toBeLessThan(3_000);
      await expect.poll(listeners).toEqual([]);
      stop.abort();
      expect(await following).toEqual({ ...NONE, created: 1 });
    });
  });

  const count = isCi ? 150 : 30;
  it(`is made once, or in honest doubt, though three replicas that plan, drain and sweep are killed at every step: ${count} orders`, async () => {
    const credits = await openCredits(pool);
    const server = await sandbox.listen();
    const replicas = new Replicas(planner, 3, {
      GATEWAY_URL: server.url,
      MARKS: credits.marks,
      EFFECTS: credits.table,
      JOURNAL: table,
      ORDERS: orders,
      COUNT: String(count),
      KILL: '0.015',
    });
    const left = async () => {
      // Payments are completed, and their callbacks are lost.
      for (const { id, paymentStatus } of sandbox.payments) if (paymentStatus === 'PENDING') await sandbox.complete(id);
      // What the dead have leased, and what was not final yet, is looked at at once, where minutes would pass.
      await pool.query(
        `update ${table} set leased_until = null, due_at = least(due_at, now()) where due_at is not null`,
      );
      const { rows } = await pool.query(`select (select count(*) from ${orders})::int as orders,
        (select count(*) from ${table} where due_at is not null)::int as due`);
      return rows[0].orders < count ? 'orders are missing' : rows[0].due;
    };
    try {
      await expect.poll(left, { timeout: 200_000, interval: 300 }).toBe(0);
    } finally {
      replicas.stop();
      await server.close();
    }
    const gateway = gatewayOf(journalOf({ settleMargin: 0 }));
    const known = (await pool.query(`select reference from ${orders}`)).rows.map(
      ({ reference }) => reference as string,
    );
    const doubts = new Set((await gateway.inDoubt()).map(({ reference }) => reference));
    expect(replicas.deaths).toBeGreaterThan(3);
    // Nothing was sent of what was rolled back.
    expect(sandbox.payments.filter(({ reference }) => !known.includes(reference ?? ''))).toEqual([]);
    for (const reference of known) {
      const made = sandbox.payments.filter(payment => payment.reference === reference);
      const state = await stateOf(reference);
      if (doubts.has(reference)) expect([reference, made.length <= 1]).toEqual([reference, true]);
      else expect([reference, made.length, state]).toEqual([reference, 1, 'created']);
      // A doubt ends by its callback, or by an operator.
      const [payment] = made;
      if (payment) await gateway.reconcile(await gateway.getPayment(payment.id));
    }
    await pool.query(`update ${table} set begun_at = now() - interval '1 day' where state = 'begun'`);
    for (const { reference } of await gateway.inDoubt()) await gateway.settle(reference, 'not_created');
    expect(await gateway.inDoubt()).toEqual([]);
    const credited = await credits.all();
    const settled = sandbox.payments.filter(({ reference }) => !doubts.has(reference ?? ''));
    expect(settled.map(({ id }) => credited.get(id))).toEqual(settled.map(() => 1));
    await credits.close();
  }, 240_000);
});
