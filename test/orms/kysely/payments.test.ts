// Kysely over `pg`, as docs/databases.md has it.
import { type Generated, Kysely, PostgresDialect } from 'kysely';
import { fromKysely, postgresStore } from 'payment-gateway-sdk/postgres';
import { Pool } from 'pg';
import { proveShop } from '../shop.ts';

interface Tables {
  orders: { id: string; paid: Generated<boolean> };
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });

proveShop('Kysely', {
  store: postgresStore(fromKysely(db), { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx.updateTable('orders').set({ paid: true }).where('id', '=', order).execute(),
  transaction: work => db.transaction().execute(work),
  place: (tx, id) => tx.insertInto('orders').values({ id }).execute(),
  orders: () => db.selectFrom('orders').selectAll().execute(),
  close: () => db.destroy(),
});
