// Drizzle over `pg`, as docs/databases.md has it.
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { boolean, pgTable, text } from 'drizzle-orm/pg-core';
import { fromDrizzle, postgresStore } from 'payment-gateway-sdk/postgres';
import { Pool } from 'pg';
import { proveShop } from '../shop.ts';

const orders = pgTable('orders', { id: text().primaryKey(), paid: boolean().notNull().default(false) });
const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const db = drizzle({ client: pool });

proveShop('Drizzle', {
  store: postgresStore(fromDrizzle(db), { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx.update(orders).set({ paid: true }).where(eq(orders.id, order)),
  transaction: work => db.transaction(work),
  place: (tx, id) => tx.insert(orders).values({ id }),
  orders: () => db.select().from(orders),
  close: () => pool.end(),
});
