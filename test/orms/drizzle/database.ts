// The database, the table of orders, and that of payments which a person must look at.
import { drizzle } from 'drizzle-orm/node-postgres';
import { numeric, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { Pool } from 'pg';

export const orders = pgTable('orders', {
  reference: text().primaryKey(),
  amount: numeric().notNull(),
  currency: text().notNull(),
  paidBy: uuid('paid_by'),
});

export const toCheck = pgTable(
  'to_check',
  { paymentId: uuid('payment_id').notNull(), status: text().notNull() },
  ({ paymentId, status }) => [primaryKey({ columns: [paymentId, status] })],
);

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
// Without these two lines a connection that breaks would end the process.
pool.on('error', error => console.error(error));
pool.on('connect', client => client.on('error', error => console.error(error)));

export const db = drizzle({ client: pool });
