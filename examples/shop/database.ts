// The database: its connection, its tables, and their creation at start.
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, numeric, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import pg from 'pg';
import type { Currency, Method, Product } from './catalogue.ts';

const amount = () => numeric({ precision: 12, scale: 2 }).notNull();
const currency = () => text().$type<Currency>().notNull();
const createdAt = () => timestamp('created_at', { withTimezone: true }).notNull().defaultNow();

/** Orders. An order may have several attempts, and is paid by one payment. */
export const orders = pgTable('orders', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  /** The key in the order's address, impossible to guess. */
  key: uuid().notNull().unique().defaultRandom(),
  product: text().$type<Product>().notNull(),
  amount: amount(),
  currency: currency(),
  /** The method of the current attempt. It does not change while that may be paid. */
  method: text().$type<Method>().notNull(),
  attempt: integer().notNull().default(1),
  paidBy: uuid('paid_by'),
  createdAt: createdAt(),
});

/** Payments for an operator to check: they paid no order, or failed after they had paid one. */
export const toCheck = pgTable(
  'to_check',
  {
    paymentId: uuid('payment_id').notNull(),
    status: text().notNull(),
    reference: text(),
    amount: numeric().notNull(),
    currency: text().notNull(),
    createdAt: createdAt(),
  },
  ({ paymentId, status }) => [primaryKey({ columns: [paymentId, status] })],
);

/** Payouts to growers: one paid payout per order, after as many attempts as needed. */
export const payouts = pgTable(
  'payouts',
  {
    orderId: integer('order_id').notNull(),
    attempt: integer().notNull(),
    amount: amount(),
    currency: currency(),
    /** `OWED` until the gateway reports the end. */
    status: text().notNull().default('OWED'),
    createdAt: createdAt(),
  },
  ({ orderId, attempt }) => [primaryKey({ columns: [orderId, attempt] })],
);

/** The same tables in SQL. In your app, generate them as migrations with drizzle-kit. */
const TABLES = `
  create table if not exists orders (id integer primary key generated always as identity,
    key uuid not null unique default gen_random_uuid(), product text not null, amount numeric(12, 2) not null,
    currency text not null, method text not null, attempt integer not null default 1, paid_by uuid,
    created_at timestamptz not null default now());
  create table if not exists to_check (payment_id uuid not null, status text not null, reference text,
    amount numeric not null, currency text not null, created_at timestamptz not null default now(),
    primary key (payment_id, status));
  create table if not exists payouts (order_id integer not null references orders, attempt integer not null,
    amount numeric(12, 2) not null, currency text not null, status text not null default 'OWED',
    created_at timestamptz not null default now(), primary key (order_id, attempt))`;

const ADVICE = `Set DATABASE_URL, or start a PostgreSQL:
  docker run --rm --publish 127.0.0.1:5432:5432 --env POSTGRES_HOST_AUTH_METHOD=trust --env POSTGRES_DB=test postgres:17`;

/** @param schema of the tables of the shop, the journal and the inbox */
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
