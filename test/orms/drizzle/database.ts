// The database, and the table of orders.
import { drizzle } from 'drizzle-orm/node-postgres';
import { numeric, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { Pool } from 'pg';

export const orders = pgTable('orders', {
  reference: text().primaryKey(),
  amount: numeric().notNull(),
  currency: text().notNull(),
  paidBy: uuid('paid_by'),
});

export const db = drizzle({ client: new Pool({ connectionString: process.env.DATABASE_URL }) });
