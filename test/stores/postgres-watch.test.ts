// Each commit of a planned payout wakes an upkeep that is running, by NOTIFY.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, until } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, inTransaction, postgresPool, uniqueName } from '../support/stores.ts';

const CALLBACKS = 'https://shop.example/callbacks';

describe.skipIf(lacks(hasPostgres, 'payouts: no PostgreSQL at 127.0.0.1:5432'))('a payout planned in Postgres', () => {
  const tablePrefix = uniqueName('watch');
  const table = `${tablePrefix}_rows`;
  let pool: pg.Pool;
  let sandbox: Sandbox;
  let stop: AbortController;

  beforeEach(async () => {
    pool = postgresPool();
    stop = new AbortController();
    await storeOf(pool).migrate();
    sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
  });
  afterEach(async () => {
    stop.abort();
    await pool.query(`drop table ${table}`);
    await pool.end();
  });

  const storeOf = (of: pg.Pool, scope = 'plan') => postgresStore(of, { tablePrefix, scope });
  const gatewayOf = (of: pg.Pool, scope?: string) =>
    new GatewayClient({ ...sandbox.clientOptions, store: storeOf(of, scope), webhookUrl: CALLBACKS, retries: 0 });
  /** Upkeep until the signal. Resolves to the number of sent payouts. */
  const keepUp = async (of: pg.Pool, scope?: string) => {
    const gateway = gatewayOf(of, scope);
    const handler = createWebhookHandler({ gateway, onPaidOut() {} });
    return (await gateway.upkeep({ handler, signal: stop.signal })).sent.created;
  };
  /** Commits a payout, and waits until it is sent. */
  const payOut = async (reference: string) => {
    await inTransaction(pool, client => gatewayOf(pool).payOut(client, { ...PAYOUT, reference }));
    await until(() => sandbox.payments.some(made => made.reference === reference));
  };
  const listeners = async () => {
    const { rows } = await pool.query(`select pid from pg_stat_activity where query = 'LISTEN "${table}"'`);
    return rows.map(({ pid }) => pid as number);
  };

  it('is sent at its commit', async () => {
    // No pause ends: an upkeep that only looks now and then sends nothing.
    fakeTimers();
    const running = keepUp(pool);
    await until(async () => (await listeners()).length === 1);
    for (let index = 0; index < 5; index++) await payOut(`payout-${index}`);
    stop.abort();
    expect(await running).toBe(5);
    await expect.poll(listeners).toEqual([]);
  });

  it('is sent while the connection that listens is lost, and wakes the next one', async () => {
    const running = keepUp(pool);
    await expect.poll(listeners).toHaveLength(1);
    const [killed] = await listeners();
    await pool.query('select pg_terminate_backend($1)', [killed]);
    await payOut('payout-1');
    await expect.poll(async () => (await listeners()).filter(pid => pid !== killed)).toHaveLength(1);
    stop.abort();
    expect(await running).toBe(1);
  });

  it('wakes each upkeep over its own connection, and takes none from a small pool', async () => {
    const small = postgresPool({ max: 2 });
    const running = [keepUp(pool), keepUp(pool, 'other'), keepUp(small), keepUp(small, 'other')];
    await expect.poll(listeners).toHaveLength(2);
    await payOut('payout-1');
    expect(await listeners()).toHaveLength(2);
    stop.abort();
    const sent = await Promise.all(running);
    expect(sent.reduce((sum, created) => sum + created, 0)).toBe(1);
    await expect.poll(listeners).toEqual([]);
    await small.end();
  });

  it('wakes nothing after the signal, also while every connection is in use', async () => {
    const busy = postgresPool({ max: 4 });
    const held = await Promise.all(Array.from({ length: 4 }, () => busy.connect()));
    fakeTimers();
    const running = keepUp(busy);
    await until(() => busy.waitingCount >= 2);
    stop.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await running).toBe(0);
    for (const each of held) each.release();
    await expect.poll(() => busy.idleCount).toBeGreaterThan(2);
    await busy.end();
  });
});
