// A database that is restored from a backup has forgotten what was sent since: the danger, and the steps of docs/deployment.md.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };

describe.skipIf(lacks(hasPostgres, 'restores: no PostgreSQL at 127.0.0.1:5432'))('a restored journal', () => {
  const schema = uniqueName('restored');
  const tables = ['payment_gateway_journal', 'payment_gateway_inbox', 'payouts'];
  let pool: pg.Pool;
  let sandbox: Sandbox;

  beforeEach(async () => {
    // Callbacks are lost.
    sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    pool = postgresPool({ options: `-c search_path=${schema}` });
    await pool.query(`create schema ${schema}`);
    await pool.query('create table payouts (reference text primary key, status text)');
    await postgresInbox(pool).migrate();
    await shop().journal.migrate();
  });
  afterEach(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  });

  /** A process that knows nothing but the database. */
  function shop() {
    const journal = postgresJournal(pool, { scope: 'eu-terminal' });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal, retries: 0 });
    const handler = createWebhookHandler({
      gateway,
      inbox: postgresInbox(pool),
      onPayment: async ({ reference, paymentStatus }, { tx }) => {
        await tx.query('update payouts set status = $2 where reference = $1', [reference, paymentStatus]);
      },
    });
    return { journal, gateway, handler };
  }

  const payoutOf = (reference: string) => ({ ...PAYOUT, paymentType: 'WITHDRAWAL', reference }) as const;
  async function plan(reference: string) {
    const client = await pool.connect();
    await client.query('begin');
    await client.query('insert into payouts values ($1)', [reference]);
    await shop().journal.plan(client, payoutOf(reference));
    await client.query('commit');
    client.release();
  }
  async function backUp() {
    for (const table of tables) await pool.query(`create table copy_of_${table} as table ${table}`);
  }
  async function restore() {
    for (const table of tables) {
      await pool.query(`truncate ${table}`);
      await pool.query(`insert into ${table} table copy_of_${table}`);
    }
  }
  const statesOf = async () => {
    const { rows } = await pool.query('select reference, state from payment_gateway_journal order by reference');
    return Object.fromEntries(rows.map(({ reference, state }) => [reference, state]));
  };
  const statusOf = async (reference: string) => {
    const { rows } = await pool.query('select status from payouts where reference = $1', [reference]);
    return rows[0]?.status;
  };
  const sent = () => sandbox.payments.map(({ reference }) => reference).toSorted();

  it('pays out again what was planned before the backup and sent after it, if nothing is done', async () => {
    await plan('payout-1');
    await backUp();
    expect(await shop().gateway.drain()).toEqual({ ...NONE, created: 1 });
    await restore();
    expect(await shop().gateway.drain()).toEqual({ ...NONE, created: 1 });
    expect(sent()).toEqual(['payout-1', 'payout-1']);
  });

  it('pays again what was created after the backup, if nothing is done', async () => {
    await backUp();
    await shop().gateway.createWithdrawal(payoutOf('payout-2'));
    await restore();
    await shop().gateway.createWithdrawal(payoutOf('payout-2'));
    expect(sent()).toEqual(['payout-2', 'payout-2']);
  });

  it('pays nothing again once a sweep was given the ids of what the gateway has made since', async () => {
    await plan('payout-1');
    await plan('payout-open');
    sandbox.faults.next('commit-then-drop');
    await errorOf(shop().gateway.createWithdrawal(payoutOf('payout-doubt')));
    await backUp();
    expect(await shop().gateway.drain()).toEqual({ ...NONE, created: 2 });
    await shop().gateway.createWithdrawal(payoutOf('payout-2'));
    const idOf = (reference: string) => sandbox.payments.find(payment => payment.reference === reference)?.id ?? '';
    await sandbox.complete(idOf('payout-1'));
    await restore();

    const { gateway, handler } = shop();
    const ids = sandbox.payments.map(({ id }) => id); // what the gateway's support tells
    expect(await gateway.sweep({ handler, ids })).toMatchObject({
      processed: 1,
      open: 3,
      failed: 0,
    });
    const created = {
      'payout-1': 'created',
      'payout-2': 'created',
      'payout-doubt': 'created',
      'payout-open': 'created',
    };
    expect(await statesOf()).toEqual(created);
    expect(await statusOf('payout-1')).toBe('COMPLETED');
    expect(await gateway.inDoubt()).toEqual([]);

    const later = shop().gateway;
    expect(await later.drain()).toEqual(NONE);
    for (const reference of ['payout-1', 'payout-2', 'payout-doubt', 'payout-open']) {
      expect((await later.createWithdrawal(payoutOf(reference))).payment.id).toBe(idOf(reference));
    }
    expect(sent()).toEqual(['payout-1', 'payout-2', 'payout-doubt', 'payout-open']);
  });

  it.each([
    ['has failed', 'payout-1', (id: string) => sandbox.fail(id, { reason: 'Payment not funded' })],
    ['has the reference in other letters', 'Payout-1', () => undefined],
  ])('keeps a plan whose payment %s, until an operator withdraws it', async (_what, reference, move) => {
    await plan(reference);
    await backUp();
    sandbox.faults.next('reference-fold');
    await shop().gateway.drain();
    const [{ id } = { id: '' }] = sandbox.payments;
    await move(id);
    await restore();

    const { gateway, handler } = shop();
    await gateway.sweep({ handler, ids: [id] });
    expect(await statesOf()).toMatchObject({ [reference]: 'planned' });
    await expect(gateway.settle(reference, id, { despite: ['reference'] })).rejects.toThrow('was not sent yet');
    await gateway.settle(reference, 'not_created');
    expect(await shop().gateway.drain()).toEqual(NONE);
    expect(sent()).toEqual(['payout-1']);
  });
});
