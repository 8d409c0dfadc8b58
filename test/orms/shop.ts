// The proofs over a shop as a merchant writes it with one library: an order is paid once, and a payout is sent once.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createWebhookHandler, GatewayClient, type Store, type WebhookHandlerOptions } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresPool, uniqueName } from '../support/stores.ts';

/** A shop over a library, with a table of orders in a schema that no other test has. */
export interface OrmShop<Tx> {
  store: Store<Tx>;
  onPaid: NonNullable<WebhookHandlerOptions<Tx>['onPaid']>;
  /** The library's own transaction. */
  transaction(work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
  /** Inserts an order. */
  place(tx: Tx, id: string): PromiseLike<unknown>;
  orders(): PromiseLike<readonly object[]>;
  close(): Promise<unknown>;
}

const name = uniqueName('orm');
const ORDERS = `create table ${name}.orders (id varchar(200) primary key, paid boolean not null default false)`;

async function inPostgres() {
  const pool = postgresPool({ max: 1 });
  await pool.query(`create schema ${name}`);
  await pool.query(ORDERS);
  process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:5432/test?options=-c%20search_path%3D${name}`;
  process.env.DATABASE_SCHEMA = name;
  return async () => {
    await pool.query(`drop schema ${name} cascade`);
    await pool.end();
  };
}

async function inMysql() {
  const { MYSQL, mysqlPool } = await import('../support/mysql-stores.ts');
  const pool = mysqlPool({ connectionLimit: 1 });
  await pool.query(`create database ${name}`);
  await pool.query(ORDERS);
  process.env.DATABASE_URL = `mysql://${MYSQL.user}@${MYSQL.host}:${MYSQL.port}/${name}`;
  return async () => {
    await pool.query(`drop database ${name}`);
    await pool.end();
  };
}

// The shop opens its pool after this import.
const isMysql = /[\\/]mysql2[\\/]/.test(expect.getState().testPath ?? '');
afterAll(await (isMysql ? inMysql : inPostgres)());

const ID = 'order-1042';
const CARD = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;
const PAYOUT = { paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77' } as const;
const BROKEN = new Error('The shop is broken.');
const webhookUrl = 'https://shop.example/callbacks';

/** @param library names its row in docs/databases.md */
export function proveShop<Tx>(library: string, shop: OrmShop<Tx>): void {
  const sandbox: Sandbox = new Sandbox({ fetch: async (url, init) => handler(new Request(url, init as RequestInit)) });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store: shop.store, webhookUrl });
  let isBroken = false;
  let runs = 0;
  const handler = createWebhookHandler<Tx>({
    gateway,
    onPaid: async (outcome, context) => {
      await shop.onPaid(outcome, context);
      runs += 1;
      if (isBroken) throw BROKEN;
    },
    onError: () => {},
  });
  const upkeep = () => gateway.upkeep({ handler, once: true, olderThan: 0 });
  const isPaid = async () => {
    const orders = (await shop.orders()) as { id: string; paid: boolean | number }[];
    return Boolean(orders.find(({ id }) => id === ID)?.paid);
  };

  beforeAll(() => shop.store.migrate());
  afterAll(async () => void (await shop.close()));

  it('an order is paid once, in the transaction of the library', async () => {
    await shop.transaction(async tx => void (await shop.place(tx, ID)));
    const { payment } = await gateway.checkout(ID, CARD);
    const id = payment?.id ?? '';
    isBroken = true;
    await sandbox.complete(id);
    await sandbox.idle();
    expect([await isPaid(), (await gateway.order(ID))?.state, runs]).toEqual([false, 'checking', 1]);
    isBroken = false;
    expect((await upkeep()).swept.processed).toBe(1);
    const post = () => handler(new Request(webhookUrl, { method: 'POST', body: JSON.stringify({ id }) }));
    const answers = await Promise.all([post(), post()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([await isPaid(), (await gateway.order(ID))?.state, runs]).toEqual([true, 'paid', 2]);
  });

  it('a payout is sent once if its transaction commits, and only then', async () => {
    const owe = (fails: boolean) =>
      shop.transaction(async tx => {
        await shop.place(tx, 'refund-77');
        await gateway.payOut(tx, PAYOUT);
        if (fails) throw BROKEN;
      });
    await expect(owe(true)).rejects.toBe(BROKEN);
    expect([(await upkeep()).sent.created, await gateway.find(PAYOUT.reference)]).toEqual([0, undefined]);
    await owe(false);
    // In MySQL, the check for a missing upkeep may hold the row for a moment, and upkeep skips it.
    await expect.poll(async () => (await upkeep()).sent.created, { interval: 10 }).toBe(1);
    expect((await upkeep()).sent.created).toBe(0);
    expect(sandbox.payments.filter(({ reference }) => reference === PAYOUT.reference)).toHaveLength(1);
  });

  it('a payout is refused after the end of its transaction', async () => {
    const reference = 'payout-late';
    let ended: Tx | undefined;
    await shop.transaction(async tx => {
      ended = tx;
    });
    const late = gateway.payOut(ended as Tx, { ...PAYOUT, reference }).then(
      () => 'planned',
      () => 'refused',
    );
    // postgres.js never answers a query of an ended transaction whose connection is in use.
    expect(['refused', 'waits']).toContain(await Promise.race([late, delay(1_000, 'waits')]));
    expect(await gateway.find(reference)).toBeUndefined();
  });

  it('docs/databases.md shows this code', () => {
    const page = readFileSync(new URL('../../docs/databases.md', import.meta.url), 'utf8');
    const row = page.split('\n').find(line => line.startsWith(`| ${library} | `)) ?? '';
    const [, passed, work] = row.split(' | ').map(cell => cell.replace(/^`+ ?| ?`+( \|)?$/g, ''));
    const code = readFileSync(expect.getState().testPath ?? '', 'utf8').replace(/\s+/g, ' ');
    expect(code).toContain(`Store(${passed}, {`);
    expect(code).toContain(`onPaid: ({ order = '' }, { tx }) => ${work},`);
  });
}
