// postgres.js, as docs/databases.md has it.
import { fromPostgresJs, postgresStore } from 'payment-gateway-sdk/postgres';
import postgres from 'postgres';
import { proveShop } from '../shop.ts';

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 });

proveShop('postgres.js', {
  store: postgresStore(fromPostgresJs(sql), { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx`update orders set paid = true where id = ${order}`,
  transaction: work => sql.begin(work),
  place: (tx, id) => tx`insert into orders values (${id})`,
  orders: () => sql<{ id: string; paid: boolean }[]>`select * from orders`,
  close: () => sql.end(),
});
