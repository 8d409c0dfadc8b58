// Effects and transactions for the tests of a store.
import type { Pool, PoolConnection } from 'mysql2/promise';
import type { LockedRows, Store, StoreRow } from '../../src/store/contract.ts';

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
