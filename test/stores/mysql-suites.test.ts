// The suites that every store passes, over the stores in MySQL.
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { inboxSuite, journalSuite } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

for (const { name, needs, pool: open } of mysqlServers) {
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])))(`over ${name}`, () => {
    const [marks, journals] = [uniqueName('marks'), uniqueName('journal')];
    const pools = [open(), open()];
    const inboxes = pools.map(pool => mysqlInbox(pool, { table: marks }));
    const stores = pools.map(pool => mysqlJournal(pool, { table: journals }));
    beforeAll(() => Promise.all([...inboxes, ...stores].map(store => store.migrate())).then(() => {}));
    afterAll(async () => {
      await pools[0]?.query(`drop table ${marks}, ${journals}`);
      await Promise.all(pools.map(pool => pool.end()));
    });

    inboxSuite({ test: it, make: () => inboxes as never });
    journalSuite({ test: it, make: () => stores as never });
  });
}
