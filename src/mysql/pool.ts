// A pool of `mysql2`, as a database for our stores.
import { ENDED } from '../adapters/ended.ts';
import { guard, lendGuarded } from '../adapters/gate.ts';
import { noTransactionOf } from '../adapters/misfit.ts';
import { gateOf, mysqlPoolOf, mysqlRows, type RawConnection } from '../adapters/mysql2.ts';
import { type Borrowed, inTransaction } from '../adapters/own-transaction.ts';
import type { SqlDatabase, SqlQuery } from '../sql/database.ts';

/** A connection of a pool, as of `mysql2/promise`. */
export interface MysqlConnection {
  // biome-ignore lint/suspicious/noExplicitAny: overloads, which differ from one version of mysql2 to the next
  query(...args: any[]): Promise<[any, any]>;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  execute(...args: any[]): Promise<[any, any]>;
  release(): void;
  destroy(): void;
}

/** A pool, as of `mysql2/promise`. */
export interface MysqlPromisePool<Connection extends MysqlConnection = MysqlConnection> {
  getConnection(): Promise<Connection>;
}

/** A pool of `mysql2`, with promises or with callbacks. */
export type MysqlPool<Connection extends MysqlConnection = MysqlConnection> =
  | MysqlPromisePool<Connection>
  | { promise(): MysqlPromisePool<Connection> };

/** The connections of a pool: with promises, also where the pool has callbacks. */
export type ConnectionOf<Pool> = Pool extends { promise(): { getConnection(): Promise<infer Connection> } }
  ? Connection
  : Pool extends { getConnection(): Promise<infer Connection> }
    ? Connection
    : MysqlConnection;

/** What a connection is made over. */
type Connected = MysqlConnection & { connection: RawConnection & Borrowed<unknown>['events'] };

/** The pool as a database, whose transactions lend their connection to `onPayment`. */
export function fromPool<Connection extends MysqlConnection>(given: MysqlPool<Connection>): SqlDatabase<Connection> {
  const pool = ('promise' in given ? given.promise() : given) as MysqlPromisePool<Connection>;
  return {
    dialect: 'mysql',
    pool: mysqlPoolOf(pool),
    async query(sql, values) {
      const connection = await pool.getConnection();
      try {
        return await queryOf(connection)(sql, values);
      } finally {
        connection.release();
      }
    },
    queryIn(tx) {
      const { query, getConnection, promise } = (tx ?? {}) as unknown as Partial<Record<string, unknown>>;
      // Of a pool each statement would be a transaction of its own; and one with callbacks answers in another way.
      if (typeof query !== 'function' || getConnection !== undefined || promise !== undefined) {
        throw noTransactionOf(
          'a connection with promises, as of await pool.promise().getConnection(), after its START TRANSACTION',
          tx,
        );
      }
      return queryOf(tx);
    },
    transaction: work => transact(pool, work),
    async lend(tx, work) {
      const lent = lentConnection(tx);
      try {
        await lendGuarded(tx, () => work(lent.tx));
      } finally {
        lent.end();
      }
    },
    checksCommit: true,
  };
}

/** Prepared, so that neither a mode nor a character set of the session has a say; some statements cannot be. */
const queryOf =
  (connection: MysqlConnection): SqlQuery =>
  async (sql, values) => {
    const plain = { sql, rowsAsArray: false, nestTables: false, namedPlaceholders: false, typeCast: true };
    const [answer] = values ? await connection.execute({ ...plain, values }) : await connection.query(plain);
    return mysqlRows(answer);
  };

/** Two, because MySQL takes the level before the transaction. */
const BEGIN = ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION READ WRITE'];

async function transact<Connection extends MysqlConnection, T>(
  pool: MysqlPromisePool<Connection>,
  work: (tx: Connection, query: SqlQuery) => Promise<T>,
): Promise<T> {
  const tx = await pool.getConnection();
  const { connection } = tx as unknown as Connected;
  const borrowed = {
    events: connection,
    query: queryOf(tx),
    control: (sql: string) => tx.query(sql),
    release: (broken?: Error) => (broken ? tx.destroy() : tx.release()),
  };
  return inTransaction(borrowed, BEGIN, query => {
    guard(tx, gateOf(connection));
    return work(tx, query);
  });
}

const KEPT =
  'tx is lent to onPayment, and the inbox ends its transaction and releases it itself: leave out beginTransaction, commit, rollback, release and their like.';
const NO_PREPARE = 'tx takes query() and execute(), which prepares by itself: leave out prepare().';

/** What takes a connection out of the inbox's hands. */
const OWNERS: ReadonlySet<unknown> = new Set([
  Symbol.asyncDispose,
  'beginTransaction',
  'changeUser',
  'commit',
  'destroy',
  'end',
  'release',
  'reset',
  'rollback',
]);

/** A connection that works no longer than `onPayment` does: after that, somebody else has it. */
function lentConnection<Connection extends MysqlConnection>(connection: Connection) {
  let isEnded = false;
  const refuse = (message: string) => async () => {
    throw new Error(message);
  };
  const tx = new Proxy(connection, {
    get(target, name) {
      if (OWNERS.has(name)) return refuse(KEPT);
      if (name === 'prepare') return refuse(NO_PREPARE);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'query' && name !== 'execute') return value.bind(target);
      return (...args: unknown[]) => (isEnded ? refuse(ENDED)() : value.apply(target, args));
    },
  });
  return {
    tx,
    end: () => {
      isEnded = true;
    },
  };
}
