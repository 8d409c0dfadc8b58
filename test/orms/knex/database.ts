// The database, the table of orders, and that of payments which a person must look at.
import knex from 'knex';

declare module 'knex/types/tables.js' {
  interface Tables {
    orders: { reference: string; amount: string; currency: string; paid_by: string | null };
    to_check: { payment_id: string; status: string };
  }
}

export const db = knex({ client: 'pg', connection: process.env.DATABASE_URL ?? '', pool: { max: 10 } });
