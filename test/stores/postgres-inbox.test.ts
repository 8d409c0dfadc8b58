import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createWebhookHandler, type Payment } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import { inboxSuite } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { record } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

describe.skipIf(lacks(hasPostgres, 'postgresInbox: no PostgreSQL at 127.0.0.1:5432'))('postgresInbox', () => {
  const table = uniqueName('inbox');
  const orders = uniqueName('orders');
  let pool: pg.Pool;
  let other: pg.Pool;

  beforeAll(async () => {
    pool = postgresPool();
    other = postgresPool();
    await postgresInbox(pool, { table }).migrate();
    await pool.query(`create table ${orders} (id text primary key, paid int not null default 0)`);
  });
  afterAll(async () => {
    await pool.query(`drop table ${table}, ${orders}`);
    await Promise.all([pool.end(), other.end()]);
  });

  inboxSuite({ test: it, make: () => [postgresInbox(pool, { table }), postgresInbox(other, { table })] });

  const completed = () => ({ paymentId: randomUUID() as string, status: 'COMPLETED', final: true });
  const pay = (tx: pg.PoolClient, id: string) =>
    tx.query(`insert into ${orders} values ($1, 1) on conflict (id) do update set paid = ${orders}.paid + 1`, [id]);
  const paidTimes = async (id: string): Promise<number> =>
    (await other.query(`select paid from ${orders} where id = $1`, [id])).rows[0]?.paid ?? 0;

  it('commits the effect and the mark together', async () => {
    const event = completed();
    const inbox = postgresInbox(pool, { table });
    await inbox.run(event, async ({ tx }) => {
      await pay(tx, event.paymentId);
      expect(await paidTimes(event.paymentId)).toBe(0);
    });
    expect([await paidTimes(event.paymentId), await inbox.run(event, async () => {})]).toEqual([1, 'already']);
  });

  it('keeps nothing of an effect that throws', async () => {
    const event = completed();
    const inbox = postgresInbox(pool, { table });
    const failing = inbox.run(event, async ({ tx }) => {
      await pay(tx, event.paymentId);
      throw new Error('shop');
    });
    await expect(failing).rejects.toThrow('shop');
    expect(await paidTimes(event.paymentId)).toBe(0);
    expect(await inbox.run(event, async ({ tx }) => pay(tx, event.paymentId))).toBe('ran');
    expect(await paidTimes(event.paymentId)).toBe(1);
  });

  it.each([
    ['swallows an SQL error', (tx: pg.PoolClient) => tx.query('select 1/0').catch(() => {})],
    ['rolls back by itself', (tx: pg.PoolClient) => tx.query('ROLLBACK')],
    ['commits by itself', (tx: pg.PoolClient) => tx.query('COMMIT')],
    ['begins another transaction', (tx: pg.PoolClient) => tx.query('COMMIT; BEGIN')],
  ])('does not mark an effect that %s, and says what to do', async (_, meddle) => {
    const event = completed();
    const inbox = postgresInbox(pool, { table });
    const meddling = inbox.run(event, async ({ tx }) => {
      await meddle(tx);
    });
    await expect(meddling).rejects.toThrow(/onPayment ignored an SQL error, or ended the transaction/);
    expect(await inbox.run(event, async () => {})).toBe('ran');
    expect(pool.waitingCount).toBe(0);
  });

  it('lets an effect keep what it saved before a savepoint of its own', async () => {
    const event = completed();
    const inbox = postgresInbox(pool, { table });
    const result = await inbox.run(event, async ({ tx }) => {
      await pay(tx, event.paymentId);
      await tx.query('SAVEPOINT mine');
      await tx.query('select 1/0').catch(() => tx.query('ROLLBACK TO SAVEPOINT mine'));
    });
    expect([result, await paidTimes(event.paymentId)]).toEqual(['ran', 1]);
  });

  it('reads committed marks, whatever isolation level the database defaults to', async () => {
    const strict = postgresPool({ options: '-c default_transaction_isolation=serializable' });
    let level: unknown;
    await postgresInbox(strict, { table }).run(completed(), async ({ tx }) => {
      level = (await tx.query('show transaction_isolation')).rows[0];
    });
    expect(level).toEqual({ transaction_isolation: 'read committed' });
    await strict.end();
  });

  it('takes a COMMIT that answers ROLLBACK for the failure it is', async () => {
    const answers: Record<string, { rows: unknown[]; command: string }> = {
      COMMIT: { rows: [], command: 'ROLLBACK' },
      'SELECT pg_try_advisory_xact_lock($1::bigint) AS locked': {
        rows: [{ locked: true }],
        command: 'SELECT',
      },
    };
    const client = {
      query: async (text: string) => answers[text] ?? { rows: [], command: '' },
      release: () => {},
      on: () => {},
      removeListener: () => {},
    };
    const inbox = postgresInbox({ connect: async () => client, query: client.query });
    await expect(inbox.run(completed(), async () => {})).rejects.toThrow('COMMIT answered ROLLBACK');
  });

  it('holds at most half of the pool, so that onPayment may take from it too', {
    timeout: 15_000,
  }, async () => {
    const small = postgresPool({ max: 4 });
    const inbox = postgresInbox(small, { table });
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        inbox.run(completed(), async () => {
          await Promise.all([small.query('select pg_sleep(0.01)'), small.query('select pg_sleep(0.01)')]);
        }),
      ),
    );
    expect(results).toEqual(Array(20).fill('ran'));
    await small.end();
  });

  it('gives up waiting for a pool that onPayment has used up, and returns what it gets too late', {
    timeout: 15_000,
  }, async () => {
    const small = postgresPool({ max: 2 });
    const inbox = postgresInbox(small, { table });
    const taken = await Promise.all([small.connect(), small.connect()]);
    await expect(inbox.run(completed(), async () => {})).rejects.toThrow(
      'The pool had no free connection within 5000 ms',
    );
    for (const client of taken) client.release();
    expect(await inbox.run(completed(), async () => {})).toBe('ran');
    expect([small.waitingCount, small.idleCount]).toEqual([0, small.totalCount]);
    await small.end();
  });

  it('refuses a pool of one client, and a table name that is none', () => {
    expect(() => postgresInbox(postgresPool({ max: 1 }))).toThrow('of 2 or more');
    for (const name of ['', 'a b', 'inbox; drop table x', 'a.b.c', '"x"', '1a']) {
      expect(() => postgresInbox(pool, { table: name })).toThrow('table must be a plain name');
    }
  });

  it('survives a connection that is cut under the effect, and lets it run again', async () => {
    const event = completed();
    const inbox = postgresInbox(pool, { table });
    const cut = inbox.run(event, async ({ tx }) => {
      await pay(tx, event.paymentId);
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      await other.query('select pg_terminate_backend($1)', [rows[0].pid]);
      await new Promise(resolve => setTimeout(resolve, 50));
    });
    await expect(cut).rejects.toThrow();
    expect(await paidTimes(event.paymentId)).toBe(0);
    expect(await inbox.run(event, async ({ tx }) => pay(tx, event.paymentId))).toBe('ran');
    expect(await paidTimes(event.paymentId)).toBe(1);
  });

  it('migrates at every start, in every replica at once, in a schema of its own', async () => {
    const schema = uniqueName('schema');
    await pool.query(`create schema ${schema}`);
    const inboxes = Array.from({ length: 8 }, () => postgresInbox(pool, { table: `${schema}.inbox` }));
    await Promise.all(inboxes.map(inbox => inbox.migrate()));
    await inboxes[0]?.migrate();
    const columns = await pool.query(
      'select column_name, data_type, is_nullable from information_schema.columns where table_schema = $1 order by ordinal_position',
      [schema],
    );
    expect(
      columns.rows.map(({ column_name, data_type, is_nullable }) => `${column_name} ${data_type} ${is_nullable}`),
    ).toEqual(['payment_id uuid NO', 'status text NO', 'final boolean NO', 'handled_at timestamp with time zone NO']);
    await pool.query(`drop schema ${schema} cascade`);
  });

  it('makes the very table that the README shows', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, sql = ''] = /```sql\n(CREATE TABLE payment_gateway_inbox[\s\S]*?)```/.exec(readme) ?? [];
    const [shown, made] = [uniqueName('shown'), uniqueName('made')];
    await pool.query(`create schema ${shown}; create schema ${made}`);
    await pool.query(sql.replace('payment_gateway_inbox', `${shown}.inbox`));
    await postgresInbox(pool, { table: `${made}.inbox` }).migrate();
    const columnsOf = async (schema: string) => {
      const { rows } = await pool.query(
        `select column_name, data_type, is_nullable, column_default from information_schema.columns where table_schema = $1 order by ordinal_position`,
        [schema],
      );
      const keys = await pool.query(
        `select pg_get_constraintdef(oid) as key from pg_constraint where conrelid = $1::regclass`,
        [`${schema}.inbox`],
      );
      return [rows, keys.rows];
    };
    expect(await columnsOf(shown)).toEqual(await columnsOf(made));
    await pool.query(`drop schema ${shown} cascade; drop schema ${made} cascade`);
  });

  it('passes its transaction through the handler, typed', async () => {
    const payment: Payment = { ...JSON.parse(record('completed CARD callback')), id: randomUUID() };
    const handler = createWebhookHandler({
      gateway: { getPayment: async () => payment },
      inbox: postgresInbox(pool, { table }),
      onPayment: (payment, { tx }) => pay(tx, payment.id),
    });
    const post = () => handler(new Request('https://shop.example', { method: 'POST', body: JSON.stringify(payment) }));
    expect([(await post()).status, (await post()).status, await paidTimes(payment.id)]).toEqual([200, 200, 1]);
  });
});
