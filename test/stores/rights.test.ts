// The rights that docs/deployment.md names are enough for the stores in Postgres, and none of them is too many.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sectionOf } from '../docs/pages.ts';
import { CARD, errorOf, PAYOUT } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const [, GRANTS = ''] = /```sql\n([\s\S]*?)```/.exec(sectionOf('docs/deployment.md', 'Rights in the database')) ?? [];

describe.skipIf(lacks(hasPostgres, 'rights: no PostgreSQL at 127.0.0.1:5432'))('a role of the app', () => {
  const schema = uniqueName('rights');
  const role = uniqueName('shop_app');
  const owner = postgresPool({ options: `-c search_path=${schema}` });
  let pool: pg.Pool;

  const named = (sql: string) => sql.replaceAll('shop_app', role).replaceAll('SCHEMA public', `SCHEMA ${schema}`);

  beforeAll(async () => {
    await owner.query(`create schema ${schema}; create role ${role}`);
    await postgresJournal(owner).migrate();
    await postgresInbox(owner).migrate();
    await owner.query(named(GRANTS));
    pool = postgresPool({ options: `-c search_path=${schema} -c role=${role}` });
  });
  afterAll(async () => {
    await pool.end();
    await owner.query(`drop schema ${schema} cascade; drop owned by ${role}; drop role ${role}`);
    await owner.end();
  });

  let count = 0;
  /** All that an app does with the stores. @throws what the first thing fails with that fails */
  async function everything(): Promise<void> {
    count += 1;
    const reference = (name: string) => `${name}-${count}`;
    const journal = postgresJournal(pool, { scope: 'eu-terminal', settleMargin: 0 });
    const inbox = postgresInbox(pool);
    await journal.migrate();
    await inbox.migrate();
    const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal, retries: 0 });
    const failures: unknown[] = [];
    const handler = createWebhookHandler({
      gateway,
      inbox,
      onPayment: () => {},
      onError: error => failures.push(error),
    });

    const { payment } = await gateway.createDeposit({ ...CARD, reference: reference('order') });
    await sandbox.complete(payment.id);
    await handler(new Request('https://shop.example', { method: 'POST', body: JSON.stringify({ id: payment.id }) }));
    if (failures.length > 0) throw failures[0];

    const client = await pool.connect();
    try {
      await client.query('begin');
      await journal.plan(client, { ...PAYOUT, paymentType: 'WITHDRAWAL', reference: reference('plan') });
      await client.query('commit');
    } finally {
      client.release(true);
    }
    expect((await gateway.drain()).created).toBe(1);
    expect((await gateway.sweep({ handler, olderThan: 0 })).failed).toBe(0);

    sandbox.faults.next('drop');
    // `not_created` is taken after its time-out.
    await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference: reference('doubt') }, { timeout: 1_000 }));
    expect(await gateway.inDoubt()).toHaveLength(1);
    await expect
      .poll(() => gateway.settle(reference('doubt'), 'not_created').then(() => 'settled', String))
      .toBe('settled');
    expect(await gateway.find(reference('doubt'))).toMatchObject({ state: 'freed' });
  }

  it('can do everything', async () => {
    await everything();
  });

  it.each(GRANTS.trim().split('\n').flatMap(rightsOf))('cannot without %s %s', async (right, on) => {
    await owner.query(named(`REVOKE ${right} ON ${on} FROM shop_app`));
    const error = await errorOf(everything());
    await owner.query(named(`GRANT ${right} ON ${on} TO shop_app`));
    expect(String(error)).toMatch(/permission denied|no schema/);
    await owner.query('delete from payment_gateway_journal');
  });

  it('can decide what nobody knows with DELETE on the inbox, to let it run again', async () => {
    const inbox = postgresInbox(pool);
    const id = crypto.randomUUID();
    await owner.query(`insert into payment_gateway_inbox values ($1, 'COMPLETED', true)`, [id]);
    await expect(inbox.resolve(id, 'COMPLETED', 'again')).rejects.toThrow('permission denied');
    await owner.query(named('GRANT DELETE ON payment_gateway_inbox TO shop_app'));
    await inbox.resolve(id, 'COMPLETED', 'again');
  });
});

/** Each right of a line alone, and what it is for. */
function rightsOf(line: string): [string, string][] {
  const [, rights = '', on = ''] = /^GRANT (.+) ON (.+) TO shop_app;$/.exec(line) ?? [];
  return rights.split(', ').map(right => [right, on]);
}
