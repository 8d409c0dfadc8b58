// Effects and transactions for the tests of a store.
import type { Pool, PoolConnection, PoolOptions } from 'mysql2/promise';
import { mysqlStore, type SqlDatabase } from 'payment-gateway-sdk/mysql';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { LockedRows, Store, StoreRow } from '../../src/store/contract.ts';
import { uniqueName } from '../support/stores.ts';

/** A payment's row after its effect. @param before the row before */
export const paid = (id: string, before?: StoreRow): StoreRow => ({
  ...{ kind: 'payment', id, state: 'paid', revision: before?.revision ?? 0, begunAt: before?.begunAt ?? 0, data: {} },
});

/** Runs an effect, unless the payment had one. */
export const pay = <Tx>(
  store: Store<Tx>,
  id: string,
  work: (tx: Tx, locked: LockedRows<Tx>) => Promise<unknown> = async () => {},
) =>
  store.effect({ id, about: { status: 'COMPLETED' }, reads: [] }, async locked => {
    if (locked.payment) return undefined;
    await work(locked.tx, locked);
    return [paid(id)];
  });

/** Runs works in transactions of a merchant's own. */
export const inTransactionOf = (pool: Pool) => async (work: (tx: PoolConnection) => Promise<unknown>) => {
  const tx = await pool.getConnection();
  try {
    await tx.beginTransaction();
    await work(tx);
    await tx.commit();
  } finally {
    await tx.rollback();
    tx.release();
  }
};

/** Within a `describe`: a store in MySQL next to a table of credits, one row for each credit of a payment. */
export function mysqlShop(open: (options?: PoolOptions) => Pool) {
  const [tablePrefix, credits] = [uniqueName('store'), uniqueName('credits')];
  const pool = open();
  const storeOf = <Database extends Pool | SqlDatabase<unknown>>(database: Database, scope = 'scope') =>
    mysqlStore(database, { scope, tablePrefix });
  beforeAll(async () => {
    await storeOf(pool).migrate();
    await pool.query(`create table ${credits} (payment_id char(36) not null)`);
  });
  afterAll(async () => {
    await pool.query(`drop table ${tablePrefix}_rows, ${credits}`);
    await pool.end();
  });
  /** A pool whose sessions begin with these statements. */
  const poolWith = (settings: readonly string[], options?: PoolOptions): Pool => {
    const own = open(options);
    own.on('connection', connection => {
      for (const setting of settings) connection.query(setting);
    });
    return own;
  };
  return {
    ...{ tablePrefix, credits, pool, storeOf, poolWith },
    /** The same for one test. */
    opened: (options?: PoolOptions, ...settings: string[]): Pool => {
      const own = poolWith(settings, options);
      onTestFinished(() => own.end());
      return own;
    },
    credit: (tx: Pick<Pool, 'query'>, id: string) => tx.query(`insert into ${credits} values (?)`, [id]),
    times: async (id: string): Promise<unknown> => {
      const [rows] = await pool.query(`select count(*) as times from ${credits} where payment_id = ?`, [id]);
      return (rows as { times: number }[])[0]?.times;
    },
  };
}
