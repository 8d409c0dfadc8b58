// The rights that docs/deployment.md names are enough for the stores in MySQL and MariaDB, and none of them is too many.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sectionOf } from '../docs/pages.ts';
import { CARD, errorOf, PAYOUT } from '../support/fixtures.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { isCi, lacks } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const section = sectionOf('docs/deployment.md', 'Rights in the database');
const [, GRANTS = ''] = /```sql\n(GRANT[^`]+'shop_app'@[^`]+)```/.exec(section) ?? [];
const lines = GRANTS.trim().split('\n');

for (const { name, needs, pool: open } of mysqlServers) {
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])) || lacks(isCi, `rights in ${name}, which CI tries`))(
    `a user of the app in ${name}`,
    () => {
      const database = uniqueName('rights');
      const user = uniqueName('shop_app').slice(0, 32);
      const owner = open();
      const shop = open({ user, database, password: 'a test' });
      const named = (sql: string) => sql.replaceAll('shop_app', user).replaceAll(' shop.', ` ${database}.`);

      beforeAll(async () => {
        await owner.query(`CREATE DATABASE ${database}`);
        await owner.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'a test'`);
        const migrating = named("ON shop.* TO 'shop_app'@'%'");
        await owner.query(`GRANT CREATE, ALTER ${migrating}`);
        await mysqlJournal(shop).migrate();
        await mysqlInbox(shop).migrate();
        await owner.query(`REVOKE CREATE, ALTER ${migrating.replace(' TO ', ' FROM ')}`);
        for (const line of lines) await owner.query(named(line));
      });
      afterAll(async () => {
        await shop.end();
        await owner.query(`DROP DATABASE ${database}`);
        await owner.query(`DROP USER '${user}'@'%'`);
        await owner.end();
      });

      let count = 0;
      /** What an app does with the stores. @throws what the first thing fails with that fails */
      async function everything(): Promise<void> {
        count += 1;
        const reference = (name: string) => `${name}-${count}`;
        const journal = mysqlJournal(shop, { scope: 'eu-terminal' });
        const inbox = mysqlInbox(shop);
        await journal.migrate();
        await inbox.migrate();
        const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
        const gateway = new GatewayClient({ ...sandbox.clientOptions, journal, retries: 0 });
        const handler = createWebhookHandler({ gateway, inbox, onPayment: () => {} });

        const { payment } = await gateway.createDeposit({ ...CARD, reference: reference('order') });
        await sandbox.complete(payment.id);
        expect((await handler.process(payment.id)).result).toBe('ran');

        const connection = await shop.getConnection();
        try {
          await connection.beginTransaction();
          await journal.plan(connection, { ...PAYOUT, paymentType: 'WITHDRAWAL', reference: reference('plan') });
          await connection.commit();
        } finally {
          connection.destroy();
        }
        expect((await gateway.drain()).created).toBe(1);
        expect((await gateway.sweep({ handler, olderThan: 0 })).failed).toBe(0);

        const id = crypto.randomUUID();
        const marks = '[{"status":"COMPLETED","final":true,"begun":true}]';
        await owner.query(`INSERT INTO ${database}.payment_gateway_inbox VALUES (?, ?, TRUE, UTC_TIMESTAMP(3))`, [
          id,
          marks,
        ]);
        await inbox.resolve(id, 'COMPLETED', 'again');
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
        await owner.query(`DELETE FROM ${database}.payment_gateway_journal`);
      });

      it('is tried without each of the six rights of the page', () => {
        expect(lines.flatMap(rightsOf)).toHaveLength(6);
      });
    },
  );
}

/** Each right of a line alone, and what it is for. */
function rightsOf(line: string): [string, string][] {
  const [, rights = '', on = ''] = /^GRANT (.+) ON (.+) TO /.exec(line) ?? [];
  return rights.split(', ').map(right => [right, on]);
}
