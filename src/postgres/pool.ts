// A pool of `pg` as a database for the stores.
import { createHash } from 'node:crypto';
import { markCommitted } from '../sql/committed.ts';
import { type SqlDatabase, type SqlQuery, type SqlRow, sizeOf } from '../sql/database.ts';
import { hasLostStatement, leftOpen } from '../sql/errors.ts';
import { transact } from '../sql/transaction.ts';
import { listenOver } from './listen.ts';
import { isOpen, lend, type PgPool, type PgTx } from './pg.ts';

/** Clients also have `connect` and `query`. */
export function isPool(given: unknown) {
  const { connect, query, release, escapeIdentifier } = Object(given);
  return typeof connect === 'function' && typeof query === 'function' && !release && !escapeIdentifier;
}

export function fromPool(pool: PgPool, prepare = false): SqlDatabase<PgTx> {
  let isPreparing = prepare;
  const queryOf =
    (client: PgTx, mayPrepare = true): SqlQuery =>
    async (sql, values) => {
      const statement = isPreparing && mayPrepare && values ? { name: nameOf(sql), text: sql } : sql;
      try {
        return (await client.query(statement as string, values as unknown[])).rows as SqlRow[];
      } catch (error) {
        if (hasLostStatement(error)) isPreparing = false;
        throw error;
      }
    };
  return {
    dialect: 'postgres',
    pool: { identity: pool, max: sizeOf(pool.options?.max) },
    async query(sql, values) {
      const { client, release } = await lend(pool);
      let isBroken = true;
      try {
        const rows = await queryOf(client)(sql, values);
        const status = client.getTransactionStatus?.();
        // Other code uses the client after its release.
        if (isOpen(status)) throw leftOpen();
        isBroken = false;
        return status === 'I' ? markCommitted(rows) : rows;
      } finally {
        release(isBroken);
      }
    },
    transaction: async work => transact(await lend(pool), ['BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'], work),
    // A client is in the merchant's own transaction, which a lost prepared statement would fail.
    queryIn: tx => queryOf(tx, !('on' in Object(tx))),
    listen: listenOver(pool),
  };
}

/** By its text, because two copies of the SDK may share a connection. */
const nameOf = (sql: string) => `payment_gateway_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`;
