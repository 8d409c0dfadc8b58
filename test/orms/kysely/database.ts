// The database, the table of orders, and that of payments which a person must look at.
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';

interface Tables {
  orders: { reference: string; amount: string; currency: string; paid_by: string | null };
  to_check: { payment_id: string; status: string };
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
// Without these two lines a connection that breaks would end the process.
pool.on('error', error => console.error(error));
pool.on('connect', client => client.on('error', error => console.error(error)));

export const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
