// A pool of `mysql2` as a database for the stores.
import { driverRows, type SqlDatabase, type SqlQuery, sizeOf } from '../sql/database.ts';
import { transact } from '../sql/transaction.ts';

/** A connection of a `mysql2/promise` pool, by shape. */
export interface MysqlConnection {
  // biome-ignore lint/suspicious/noExplicitAny: overloads that differ between versions
  query(...args: any[]): Promise<[any, any]>;
  release(): void;
  destroy(): void;
}

/** A `mysql2/promise` pool, by shape. */
export interface MysqlPromisePool<Connection extends MysqlConnection = MysqlConnection> {
  getConnection(): Promise<Connection>;
}

/** A pool of `mysql2`, with promises or with callbacks. */
export type MysqlPool<Connection extends MysqlConnection = MysqlConnection> =
  | MysqlPromisePool<Connection>
  | { promise(): MysqlPromisePool<Connection> };

/** A transaction over a pool of `mysql2`. It has only `query`, until the effect ends. */
export type MysqlTx = Pick<MysqlConnection, 'query'>;

/** `MysqlTx` with the types of the pool's connections: with promises, also if the pool has callbacks. */
export type TxOfPool<Pool> = Pool extends { promise(): { getConnection(): Promise<infer Connection> } }
  ? Pick<Connection, 'query' & keyof Connection>
  : Pool extends { getConnection(): Promise<infer Connection> }
    ? Pick<Connection, 'query' & keyof Connection>
    : MysqlTx;

export function fromPool(given: MysqlPool): SqlDatabase<MysqlTx> {
  const pool = 'promise' in given ? given.promise() : given;
  // The pool of callbacks, which a pool of promises contains.
  const core: { config?: { connectionLimit?: unknown } } = (pool as { pool?: object }).pool ?? pool;
  return {
    dialect: 'mysql',
    pool: { identity: core, max: sizeOf(core.config?.connectionLimit) },
    async query(sql, values) {
      const connection = await pool.getConnection();
      return queryOf(connection)(sql, values).finally(() => connection.release());
    },
    async transaction(work) {
      const client = await pool.getConnection();
      const release = (isBroken: boolean) => (isBroken ? client.destroy() : client.release());
      return transact({ client, release }, BEGIN, work);
    },
    queryIn: queryOf,
  };
}

/** MySQL takes the level before the transaction. */
const BEGIN = ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION READ WRITE'];

/** A merchant's pool may have changed them. */
const OPTIONS = { rowsAsArray: false, nestTables: false, namedPlaceholders: false, typeCast: true };

const queryOf =
  (connection: MysqlTx): SqlQuery =>
  async (sql, values = []) =>
    driverRows('mysql', await connection.query({ sql, values, ...OPTIONS }));
