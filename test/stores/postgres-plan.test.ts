// Each commit of a planned payout wakes a drain that follows, by NOTIFY.
import { GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import { type PostgresJournalOptions, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, until } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

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
