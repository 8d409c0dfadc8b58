// The rights of docs/databases.md are enough for a store, and each of them is necessary.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { sectionOf } from '../docs/pages.ts';
import { errorOf } from '../support/fixtures.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { type Database, overMysql, overPostgres } from './database.ts';

const section = sectionOf('docs/databases.md', 'Rights in the database');
const [POSTGRES_GRANTS = '', MYSQL_GRANTS = ''] = [...section.matchAll(/```sql\n([^`]+)```/g)].map(([, sql]) => sql);

type Needs = [available: boolean, what: string, isOptional?: boolean];

const place = uniqueName('rights');
const app = uniqueName('shop_app').slice(0, 32);
const OWNED = `-c search_path=${place}`;
const databases = [
  {
    name: 'Postgres',
    needs: [hasPostgres, 'no PostgreSQL at 127.0.0.1:5432'] as Needs,
    grants: POSTGRES_GRANTS,
    named: (sql: string) => sql.replaceAll('shop_app', app).replaceAll('SCHEMA public', `SCHEMA ${place}`),
    to: 'shop_app',
    owner: () => overPostgres(postgresPool({ options: OWNED })),
    shop: () => overPostgres(postgresPool({ options: `${OWNED} -c role=${app}` })),
    prepare: [`create schema ${place}`, `create role ${app}`],
    clear: [`drop schema ${place} cascade`, `drop owned by ${app}`, `drop role ${app}`],
    denied: () => /permission denied|no schema/,
  },
  ...mysqlServers.map(({ name, needs, pool }) => ({
    name,
    needs: needs as unknown as Needs,
    grants: MYSQL_GRANTS,
    named: (sql: string) => sql.replaceAll('shop_app', app).replaceAll(' shop.', ` ${place}.`),
    to: "'shop_app'@'%'",
    owner: () => overMysql(pool({ database: place })),
    shop: () => overMysql(pool({ user: app, database: place, password: 'a test' })),
    prepare: [`create user '${app}'@'%' identified by 'a test'`],
    clear: [`drop database ${place}`, `drop user '${app}'@'%'`],
    denied: (right: string) => new RegExp(`${right} command denied`),
    pool,
  })),
];

describe.each(databases)('a user of the app in $name', database => {
  const { grants, named, to, denied } = database;
  const lines = grants.trim().split('\n');
  /** Each right of a line alone, and what it is for. */
  const rights = lines.flatMap(line => {
    const [, names = '', on = ''] = /^GRANT (.+) ON (.+) TO /.exec(line) ?? [];
    return names.split(', ').map((right): [string, string] => [right, on]);
  });
  const isMissing = lacks(...database.needs);
  let owner: Database;
  let shop: Database;
  const storeOf = (db: Database) => db.store({ scope: 'eu-terminal' });

  beforeAll(async () => {
    if (isMissing) return;
    if ('pool' in database) {
      const root = database.pool();
      await root.query(`create database ${place}`);
      await root.end();
    }
    owner = database.owner();
    for (const sql of database.prepare) await owner.query(sql);
    await storeOf(owner).migrate();
    for (const line of lines) await owner.query(named(line));
    shop = database.shop();
  });
  afterAll(async () => {
    if (isMissing) return;
    await shop.end();
    for (const sql of database.clear) await owner.query(sql);
    await owner.end();
  });

  /** Every use of a store. @throws the first error */
  async function everything(): Promise<void> {
    const store = storeOf(shop);
    await store.migrate();
    const { row } = await store.write(newRow({ dueAt: 1 }));
    await store.write({ ...(row as StoreRow), state: 'created', paymentId: randomUUID() });
    const { tx, end } = await shop.begin();
    await store.write(newRow({ state: 'planned', dueAt: 1 }), tx).finally(() => end('commit'));
    expect((await store.due({ kind: 'create', states: ['planned'] }, 9, 1)).rows).not.toEqual([]);
    const [payment, order] = [newRow({ kind: 'payment', state: 'done' }), newRow({ kind: 'order' })];
    const effect = { id: payment.id, about: {}, reads: [row as StoreRow, order] };
    expect(await store.effect(effect, async () => [payment, order])).toBe('done');
    expect(await store.effect(effect, async ({ payment: found }) => found && [found])).toBe('done');
    const cut = store.effect({ ...effect, id: randomUUID() }, async ({ tx }) => {
      await shop.queryIn(tx)('rollback');
      return [];
    });
    await expect(cut).rejects.toThrow('resolveReview');
    expect((await store.list({ kind: 'payment', states: ['begun'] })).rows).not.toEqual([]);
  }

  it.skipIf(isMissing)('can do everything, by the rights of the page', async () => {
    await everything();
    expect(rights.length).toBeGreaterThan(2);
  });

  it.skipIf(isMissing).each(rights)('cannot without %s %s', async (right, on) => {
    await owner.query(named(`REVOKE ${right} ON ${on} FROM ${to}`));
    const error = await errorOf(everything());
    await owner.query(named(`GRANT ${right} ON ${on} TO ${to}`));
    expect([error, (error as Error).cause].map(String).join()).toMatch(denied(right));
  });
});
