// What only Postgres has of plans: durable commits for a transaction, an index of their own, and NOTIFY.
import { GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import { type PostgresJournalOptions, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, until } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { watchedPool } from '../support/watched-pool.ts';

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

  describe('is written', () => {
    it('nowhere else: not by a client without BEGIN, a pool, or nothing', async () => {
      for (const tx of [client, pool, undefined, null]) {
        const error = await errorOf(journalOf().plan(tx as never, wanted()));
        expect((error as Error).name).toBe('ConfigurationError');
      }
      await expect(journalOf().plan(wanted() as never, client as never)).rejects.toThrow('journal.plan(tx, request)');
      expect(await stateOf()).toBeUndefined();
    });

    it('durably, also in a session that commits before it is on disk', async () => {
      await client.query(`set synchronous_commit = off`);
      await client.query('begin');
      await journalOf().plan(client, wanted());
      const { rows } = await client.query('show synchronous_commit');
      await client.query('rollback');
      expect(rows).toEqual([{ synchronous_commit: 'on' }]);
    });
  });

  it('that is planned again locks nothing, in whatever order', async () => {
    const references = ['payout-1', 'payout-2'];
    await client.query('begin');
    for (const each of references) await journalOf().plan(client, wanted(each));
    await client.query('commit');
    const other = await pool.connect();
    try {
      await Promise.all([client, other].map(each => each.query("begin; set local lock_timeout = '2s'")));
      for (const step of [0, 1]) {
        await journalOf().plan(client, wanted(references[step]));
        await journalOf().plan(other, wanted(references[1 - step]));
      }
      await Promise.all([client, other].map(each => each.query('commit')));
    } finally {
      other.release(true);
    }
    expect((await gatewayOf().drain()).created).toBe(2);
  });

  it('is written in its order with others that are planned at the same time, and over freed references', async () => {
    const plans = (amount: string) => ['a', 'b', 'c'].map(each => journalOf().plan(client, wanted(each, amount)));
    for (const amount of ['75.00', '76.00']) {
      await client.query('begin');
      for (const { state } of [...(await Promise.all(plans(amount))), ...(await Promise.all(plans(amount)))])
        expect(state).toBe('planned');
      await client.query('commit');
      for (const each of ['a', 'b', 'c']) await gatewayOf().settle(each, 'not_created');
    }
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
    const watched = watchedPool(pool, (text, values, send) => {
      asked.push([text, values]);
      return send();
    });
    const spied = postgresJournal(watched, { table });
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
    /** Plans, and waits until it is sent. */
    const plan = async (reference: string, journal = journalOf()) => {
      await client.query('begin');
      await journal.plan(client, wanted(reference));
      await client.query('commit');
      await until(() => sandbox.payments.some(made => made.reference === reference));
    };
    const listeners = async () => {
      const { rows } = await pool.query(`select pid from pg_stat_activity where query = 'LISTEN "${table}"'`);
      return rows.map(({ pid }) => pid as number);
    };

    it('at its commit', async () => {
      // No pause ends: a drain that only looks now and then sends nothing.
      fakeTimers();
      const stop = new AbortController();
      const following = gatewayOf().drain({ follow: true, signal: stop.signal });
      await until(async () => (await listeners()).length === 1);
      for (let index = 0; index < 5; index++) await plan(`payout-${index}`);
      stop.abort();
      expect(await following).toEqual({ ...NONE, created: 5 });
      await expect.poll(listeners).toEqual([]);
    });

    it('which listens again after its connection was killed, and looks meanwhile', async () => {
      const stop = new AbortController();
      const following = gatewayOf().drain({ follow: true, signal: stop.signal });
      await expect.poll(listeners).toHaveLength(1);
      const [killed] = await listeners();
      await pool.query('select pg_terminate_backend($1)', [killed]);
      await plan('payout-1');
      await expect.poll(async () => (await listeners()).filter(pid => pid !== killed)).toHaveLength(1);
      stop.abort();
      expect(await following).toEqual({ ...NONE, created: 1 });
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
      await plan('payout-1');
      const small = postgresPool({ max: 2 });
      following.push(...follow(small));
      await plan('payout-2');
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
      fakeTimers();
      const stop = new AbortController();
      const following = gatewayOf(postgresJournal(busy, { table, scope: 'plan' })).drain({
        follow: true,
        signal: stop.signal,
      });
      // To listen, and to look for plans: that it has leased none is known when its statement is given up.
      await until(() => busy.waitingCount === 2);
      stop.abort();
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await following).toEqual(NONE);
      for (const each of held) each.release();
      await expect.poll(() => busy.idleCount).toBeGreaterThan(2);
      await busy.end();
    });

    it('by looking, where plans are to notify nobody', async () => {
      const stop = new AbortController();
      const quiet = journalOf({ notify: false });
      const following = gatewayOf(quiet).drain({ follow: true, signal: stop.signal });
      await plan('payout-1', quiet);
      await expect.poll(listeners).toEqual([]);
      stop.abort();
      expect(await following).toEqual({ ...NONE, created: 1 });
    });
  });
});
