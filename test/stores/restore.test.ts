// A database restored from a backup has forgotten later payments: the steps of docs/databases.md.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, inTransaction, postgresPool, uniqueName } from '../support/stores.ts';

describe.skipIf(lacks(hasPostgres, 'restores: no PostgreSQL at 127.0.0.1:5432'))('a restored database', () => {
  const schema = uniqueName('restored');
  const tables = ['payment_gateway_rows', 'payouts'];
  let pool: pg.Pool;
  let sandbox: Sandbox;

  beforeEach(async () => {
    // Every callback gets lost.
    sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    pool = postgresPool({ options: `-c search_path=${schema}` });
    await pool.query(`create schema ${schema}`);
    await pool.query('create table payouts (reference text primary key, status text)');
    await postgresStore(pool, { scope: 'eu-terminal' }).migrate();
  });
  afterEach(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  });

  /** A process that knows only the database. */
  function openShop() {
    const store = postgresStore(pool, { scope: 'eu-terminal' });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, store, retries: 0 });
    const handler = createWebhookHandler({
      gateway,
      onPaidOut: ({ reference }, { tx }) => tx.query(PAID, [reference]),
    });
    const upkeep = () => gateway.upkeep({ handler, once: true, olderThan: 0 });
    return { gateway, upkeep };
  }
  const PAID = "update payouts set status = 'COMPLETED' where reference = $1";

  const plan = (reference: string) =>
    inTransaction(pool, async client => {
      await client.query('insert into payouts values ($1)', [reference]);
      await openShop().gateway.payOut(client, { ...PAYOUT, reference });
    });
  async function backUp(): Promise<void> {
    for (const table of tables) await pool.query(`create table copy_of_${table} as table ${table}`);
  }
  async function restore(): Promise<void> {
    for (const table of tables) {
      await pool.query(`truncate ${table}`);
      await pool.query(`insert into ${table} table copy_of_${table}`);
    }
  }
  const send = async () => (await openShop().upkeep()).sent.created;
  const sent = () => sandbox.payments.map(({ reference }) => reference).toSorted();

  it('pays nothing again after these steps', async () => {
    await plan('payout-1');
    sandbox.faults.next('commit-then-drop');
    await errorOf(openShop().gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-doubt' }));
    await backUp();
    expect(await send()).toBe(1);
    for (const { id } of sandbox.payments) await sandbox.complete(id);
    await restore();
    await plan('payout-new');

    const listed = sandbox.payments; // The gateway's list.
    for (const { reference } of listed) {
      const planned = await pool.query(
        "delete from payment_gateway_rows where kind = 'create' and id = $1 and state = 'planned'",
        [reference],
      );
      if (planned.rowCount) await pool.query(PAID, [reference]);
    }
    const { gateway } = openShop();
    for (const { reference } of await gateway.doubts()) {
      await gateway.settle(reference, listed.find(payment => payment.reference === reference)?.id ?? 'not_created');
    }
    expect(await send()).toBe(1);
    expect(sent()).toEqual(['payout-1', 'payout-doubt', 'payout-new']);
    expect(await gateway.doubts()).toEqual([]);
    expect((await pool.query('select * from payouts order by 1')).rows).toEqual([
      { reference: 'payout-1', status: 'COMPLETED' },
      { reference: 'payout-new', status: null },
    ]);
  });
});
