// A pool of `mysql2`, as docs/databases.md has it.
import mysql, { type PoolConnection, type RowDataPacket } from 'mysql2/promise';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { proveShop } from '../shop.ts';

const pool = mysql.createPool({ uri: process.env.DATABASE_URL ?? '', connectionLimit: 10 });

async function transaction(work: (tx: PoolConnection) => Promise<unknown>): Promise<void> {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    await work(connection);
    await connection.commit();
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
}

proveShop('`mysql2`', {
  store: mysqlStore(pool, { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx.query('UPDATE orders SET paid = TRUE WHERE id = ?', [order]),
  transaction,
  place: (tx, id) => tx.query('INSERT INTO orders (id) VALUES (?)', [id]),
  orders: async () => (await pool.query<RowDataPacket[]>('SELECT * FROM orders'))[0],
  close: () => pool.end(),
});
