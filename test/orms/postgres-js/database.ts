// The database. Its tables: orders (reference text primary key, amount numeric, currency text, paid_by uuid), and to_check
// (payment_id uuid, status text), of payments which a person must look at.
import postgres from 'postgres';

export const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 });
