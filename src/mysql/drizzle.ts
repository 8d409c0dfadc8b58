// Drizzle over MySQL, as a database for our stores: its handles over a transaction of our own.
import { checkTransaction, type DrizzleDatabase, open, overClients, send } from '../adapters/drizzle.ts';
import { misfit } from '../adapters/misfit.ts';
import { mysqlRows } from '../adapters/mysql2.ts';
import type { SqlDatabase, SqlQuery } from '../sql/database.ts';
import { fromPool, type MysqlConnection, type MysqlPool } from './pool.ts';

/**
 * Lets `mysqlInbox` and `mysqlJournal` use the merchant's Drizzle, over a pool of `mysql2`. `onPayment` gets Drizzle's own
 * transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, for a database over a single connection, and for one over another driver
 * @example
 * const inbox = mysqlInbox(fromDrizzle(db)); // onPayment gets Drizzle's own transaction as its tx
 * const journal = mysqlJournal(fromDrizzle(db), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/drizzle.md
 */
export function fromDrizzle<Tx>(db: DrizzleDatabase<Tx>): SqlDatabase<Tx> {
  const { client, sessionOver } = open(db, 'MySqlDialect', 'MySQL');
  const refused = (takes: string) => misfit('fromDrizzle', takes, db);
  if ('beginTransaction' in client) {
    throw refused(
      'a database over a pool, as of drizzle({ client: mysql.createPool() }): over one connection, what runs at the same time would be one transaction',
    );
  }
  if (!('getConnection' in client)) throw refused('a database over a pool of mysql2');
  return overClients<Tx, MysqlConnection>(fromPool(client as MysqlPool), sessionOver, queryIn, [[]]);
}

function queryIn(tx: unknown): SqlQuery {
  checkTransaction(tx);
  return async (sql, values) => {
    const [answer] = (await send(tx as DrizzleDatabase<unknown>, sql, values)) as [unknown];
    return mysqlRows(answer);
  };
}
