// A pool of `pg`, as a database for our stores.

import { noTransactionOf } from '../adapters/misfit.ts';
import { inTransaction } from '../adapters/own-transaction.ts';
import { markCommitted } from '../sql/committed.ts';
import { leftOpen, poolOf, type SqlDatabase, type SqlQuery, type SqlRow, type SqlValue } from '../sql/database.ts';
import { lend } from './lent-client.ts';
import { listenOn } from './listen.ts';
import { connect, isOpen, type PgClient, type PgPool } from './pg.ts';

/** The pool as a database, whose transactions lend their client to `onPayment`. */
export const fromPool = <Client extends PgClient>(pool: PgPool): SqlDatabase<Client> => ({
  dialect: 'postgres',
  pool: poolOf(pool),
  query: (sql, values) => runAlone(pool, sql, values),
  queryIn(tx) {
    const { query, totalCount } = (tx ?? {}) as Partial<Record<'query' | 'totalCount', unknown>>;
    // Of a pool each statement would be a transaction of its own.
    if (typeof query !== 'function' || totalCount !== undefined) {
      throw noTransactionOf('a client of the pool, as of await pool.connect(), after its BEGIN', tx);
    }
    return queryOf(tx);
  },
  transaction: work => transact(pool, work as Work<never>),
  listen: (channel, onNotice, signal) => listenOn(pool, channel, onNotice, signal),
  lend,
  checksCommit: true,
});

const queryOf =
  (client: Pick<PgPool, 'query'>): SqlQuery =>
  async (sql, values) =>
    (await client.query(sql, values as unknown[])).rows as SqlRow[];

/** Runs one statement, which is committed by itself. */
async function runAlone(
  pool: PgPool,
  sql: string,
  values: readonly SqlValue[] | undefined,
): Promise<readonly SqlRow[]> {
  const client = await connect(pool);
  // The statement fails, too.
  const onError = () => {};
  client.on('error', onError);
  let isDone = false;
  try {
    const rows = await queryOf(client)(sql, values);
    const status = client.getTransactionStatus?.();
    // Somebody goes on with a client that they have given back.
    if (isOpen(status)) throw leftOpen();
    isDone = true;
    return status === 'I' ? markCommitted(rows) : rows;
  } finally {
    client.removeListener('error', onError);
    client.release(!isDone);
  }
}

type Work<T> = (client: PgClient, query: SqlQuery) => Promise<T>;

async function transact<T>(pool: PgPool, work: Work<T>): Promise<T> {
  const client = await connect(pool);
  const borrowed = {
    events: client,
    query: queryOf(client),
    control: (sql: string) => client.query(sql),
    release: (broken?: Error) => client.release(broken),
  };
  const begin = ['BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'];
  return inTransaction(
    borrowed,
    begin,
    query => work(client, query),
    ({ command }) => {
      // It answers so, without an error.
      if (command !== 'COMMIT') throw new Error(`COMMIT answered ${command}: the transaction was rolled back.`);
    },
  );
}
