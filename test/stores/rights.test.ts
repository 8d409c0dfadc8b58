// The rights of docs/databases.md are enough for a store in Postgres, and each of them is necessary.
import { randomUUID } from 'node:crypto';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { sectionOf } from '../docs/pages.ts';
import { errorOf } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const [, GRANTS = ''] = /```sql\n([\s\S]*?)```/.exec(sectionOf('docs/databases.md', 'Rights in the database')) ?? [];

describe.skipIf(lacks(hasPostgres, 'rights: no PostgreSQL at 127.0.0.1:5432'))('a role of the app', () => {
  const schema = uniqueName('rights');
  const role = uniqueName('shop_app');
  const owner = postgresPool({ options: `-c search_path=${schema}` });
  let pool: pg.Pool;

  const named = (sql: string) => sql.replaceAll('shop_app', role).replaceAll('SCHEMA public', `SCHEMA ${schema}`);

  beforeAll(async () => {
    await owner.query(`create schema ${schema}; create role ${role}`);
    await postgresStore(owner, { scope: 'eu-terminal' }).migrate();
    await owner.query(named(GRANTS));
    pool = postgresPool({ options: `-c search_path=${schema} -c role=${role}` });
  });
  afterAll(async () => {
    await pool.end();
    await owner.query(`drop schema ${schema} cascade; drop owned by ${role}; drop role ${role}`);
    await owner.end();
  });

  /** Everything that an app does with its store. @throws the first error */
  async function everything(): Promise<void> {
    const store = postgresStore(pool, { scope: 'eu-terminal' });
    await store.migrate();
    const { row } = await store.write(newRow({ dueAt: 1 }));
    await store.write({ ...(row as StoreRow), state: 'created', paymentId: randomUUID() });
    await store.due({ kind: 'create', states: ['created'] }, 1, 1_000);
    await store.list({ kind: 'create', states: ['begun'] });
    await store.owner('none');
    const client = await pool.connect();
    try {
      await client.query('begin');
      await store.write(newRow({ state: 'planned' }), client);
      await client.query('commit');
    } finally {
      client.release(true);
    }
    const payment = newRow({ kind: 'payment', state: 'done' });
    const order = newRow({ kind: 'order' });
    const effect = { id: payment.id, about: {}, reads: [row as StoreRow, order] };
    expect(await store.effect(effect, async () => [payment, order])).toBe('done');
    expect(await store.effect(effect, async ({ payment: found }) => found && [found])).toBe('done');
  }

  it('can do everything', async () => {
    await everything();
  });

  it.each(GRANTS.trim().split('\n').flatMap(rightsOf))('cannot without %s %s', async (right, on) => {
    await owner.query(named(`REVOKE ${right} ON ${on} FROM shop_app`));
    const error = await errorOf(everything());
    await owner.query(named(`GRANT ${right} ON ${on} TO shop_app`));
    expect(String(error)).toMatch(/permission denied|no schema/);
    await owner.query('delete from payment_gateway_rows');
  });
});

/** Each right of a line alone, and what it is for. */
function rightsOf(line: string): [string, string][] {
  const [, rights = '', on = ''] = /^GRANT (.+) ON (.+) TO shop_app;$/.exec(line) ?? [];
  return rights.split(', ').map(right => [right, on]);
}
