// The database, and the table of orders.
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';

interface Tables {
  orders: { reference: string; amount: string; currency: string; paid_by: string | null };
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
// Without this line, a connection that breaks within a transaction would end the process.
pool.on('connect', client => client.on('error', error => console.error(error)));

export const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
