// The database, and the table of orders.
import knex from 'knex';

declare module 'knex/types/tables.js' {
  interface Tables {
    orders: { reference: string; amount: string; currency: string; paid_by: string | null };
  }
}

export const db = knex({ client: 'pg', connection: process.env.DATABASE_URL ?? '', pool: { max: 10 } });
