// The rights in docs/databases.md are enough for a store in MySQL and MariaDB, and each of them is necessary.
import { randomUUID } from 'node:crypto';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { sectionOf } from '../docs/pages.ts';
import { errorOf } from '../support/fixtures.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';
import { inTransactionOf, paid, pay } from '../support/store-rows.ts';
import { uniqueName } from '../support/stores.ts';

const section = sectionOf('docs/databases.md', 'Rights in the database');
const [, GRANTS = ''] = /```sql\n(GRANT[^`]+'shop_app'@[^`]+)```/.exec(section) ?? [];
const lines = GRANTS.trim().split('\n');

for (const { name, needs, pool: open } of mysqlServers) {
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])))(`a user of the app in ${name}`, () => {
    const database = uniqueName('rights');
    const user = uniqueName('shop_app').slice(0, 32);
    const owner = open();
    const shop = open({ user, database, password: 'a test' });
    const named = (sql: string) => sql.replaceAll('shop_app', user).replaceAll(' shop.', ` ${database}.`);
    const newStore = () => mysqlStore(shop, { scope: 'eu-terminal' });

    beforeAll(async () => {
      await owner.query(`CREATE DATABASE ${database}`);
      await owner.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'a test'`);
      const migrating = named("ON shop.* TO 'shop_app'@'%'");
      await owner.query(`GRANT CREATE, ALTER ${migrating}`);
      await newStore().migrate();
      await owner.query(`REVOKE CREATE, ALTER ${migrating.replace(' TO ', ' FROM ')}`);
      for (const line of lines) await owner.query(named(line));
    });
    afterAll(async () => {
      await shop.end();
      await owner.query(`DROP DATABASE ${database}`);
      await owner.query(`DROP USER '${user}'@'%'`);
      await owner.end();
    });

    /** Every use of a store. @throws the first error */
    async function everything(): Promise<void> {
      const store = newStore();
      await store.migrate();
      const { row } = await store.write(newRow({ dueAt: 1 }));
      await store.write({ ...(row as StoreRow), state: 'created', paymentId: randomUUID() });
      await inTransactionOf(shop)(tx => store.write(newRow({ state: 'planned', dueAt: 1 }), tx));
      expect((await store.due({ kind: 'create', states: ['planned'] }, 9, 1)).rows).not.toEqual([]);
      const [id, order] = [randomUUID(), newRow({ kind: 'order' })];
      const effect = store.effect({ id, about: {}, reads: [order] }, async () => [paid(id), order]);
      expect(await effect).toBe('done');
      const cut = randomUUID();
      await expect(pay(store, cut, tx => tx.query('rollback'))).rejects.toThrow('resolveReview');
      expect((await store.list({ kind: 'payment', states: ['begun'] })).rows).not.toEqual([]);
    }

    it('can do everything', async () => {
      await everything();
    });

    it.each(lines.flatMap(rightsOf))('cannot without %s %s', async (right, on) => {
      await owner.query(named(`REVOKE ${right} ON ${on} FROM 'shop_app'@'%'`));
      const error = await errorOf(everything());
      await owner.query(named(`GRANT ${right} ON ${on} TO 'shop_app'@'%'`));
      const causes = [error, (error as Error).cause].map(String).join();
      expect(causes).toMatch(new RegExp(`${right} command denied`));
    });

    it('is tried without each of the three rights of the page', () => {
      expect(lines.flatMap(rightsOf)).toHaveLength(3);
    });
  });
}

/** Each right of a line alone, and its table. */
function rightsOf(line: string): [string, string][] {
  const [, rights = '', on = ''] = /^GRANT (.+) ON (.+) TO /.exec(line) ?? [];
  return rights.split(', ').map(right => [right, on]);
}
