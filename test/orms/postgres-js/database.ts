// The database. Its table of orders: reference text primary key, amount numeric, currency text, paid_by uuid.
import postgres from 'postgres';

export const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 });
