// The database: its connection, its tables, and their creation at start. The SDK keeps attempts, doubts and reviews.
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { boolean, numeric, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import pg from 'pg';
import type { Currency, Method, Product } from './catalogue.ts';

const amount = () => numeric({ precision: 12, scale: 2 }).notNull();
const currency = () => text().$type<Currency>().notNull();
const createdAt = () => timestamp('created_at', { withTimezone: true }).notNull().defaultNow();

/** Orders: the product, its price, and whether it is paid. */
export const orders = pgTable('orders', {
  /** The order's id in the SDK too, such as `tea-7`. */
  id: text().primaryKey().default(sql`'tea-' || nextval('order_number')`),
  /** The key in the order's address, impossible to guess. */
  key: uuid().notNull().unique().defaultRandom(),
  product: text().$type<Product>().notNull(),
  amount: amount(),
  currency: currency(),
  /** The method that the customer has chosen last. */
  method: text().$type<Method>().notNull(),
  isPaid: boolean('is_paid').notNull().default(false),
  createdAt: createdAt(),
});

/** Payouts to growers: the share of each paid order. A failed one is replaced by a new one. */
export const payouts = pgTable('payouts', {
  /** The payout's reference at the gateway, such as `grower-7`. */
  reference: text().primaryKey().default(sql`'grower-' || nextval('payout_number')`),
  orderId: text('order_id').notNull(),
  amount: amount(),
  currency: currency(),
  state: text().$type<'owed' | 'paid' | 'failed' | 'replaced'>().notNull().default('owed'),
  createdAt: createdAt(),
});

export type Order = typeof orders.$inferSelect;

/** The same tables in SQL. In your app, generate them as migrations with drizzle-kit. */
const TABLES = `
  create sequence if not exists order_number;
  create sequence if not exists payout_number;
  create table if not exists orders (id text primary key default 'tea-' || nextval('order_number'),
    key uuid not null unique default gen_random_uuid(), product text not null, amount numeric(12, 2) not null,
    currency text not null, method text not null, is_paid boolean not null default false,
    created_at timestamptz not null default now());
  create table if not exists payouts (reference text primary key default 'grower-' || nextval('payout_number'),
    order_id text not null references orders, amount numeric(12, 2) not null, currency text not null,
    state text not null default 'owed', created_at timestamptz not null default now())`;

const ADVICE = `Set DATABASE_URL, or start a PostgreSQL:
  docker run --rm --publish 127.0.0.1:5432:5432 --env POSTGRES_HOST_AUTH_METHOD=trust --env POSTGRES_DB=test postgres:17`;

/** @param schema of the tables of the shop and of the SDK */
export async function openDatabase(connectionString: string, schema: string) {
  const pool = new pg.Pool({ connectionString, options: `-c search_path=${schema}` });
  // A broken connection must not end the process: its user gets an error.
  pool.on('error', error => console.error(error.message));
  pool.on('connect', client => client.on('error', error => console.error(error.message)));
  try {
    await pool.query(`create schema if not exists ${pg.escapeIdentifier(schema)}; ${TABLES}`);
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors : [error];
    throw new Error(`No database: ${reasons.join(', ')}. ${ADVICE}`);
  }
  return drizzle({ client: pool });
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;
export type Tx = Parameters<Parameters<Database['transaction']>[0]>[0];
