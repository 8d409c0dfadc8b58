// A merchant's credits in a database, one row each, next to a store: a payment that took effect twice would have two.
import { randomUUID } from 'node:crypto';
import type { Store } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { uniqueName } from '../support/stores.ts';
import type { Database, Query } from './database.ts';

/** @param observer of the same database, and not the pool under test: it sees what is committed */
export async function openCredits(observer: Database) {
  const tablePrefix = uniqueName('shop');
  const [rows, table] = [`${tablePrefix}_rows`, uniqueName('credits')];
  const storeOf = (database: Database): Store => database.store({ scope: 'shop', tablePrefix });
  const store = storeOf(observer);
  await store.migrate();
  await observer.query(`create table ${table} (payment_id char(36) not null)`);
  const credit = (tx: unknown, paymentId: string) =>
    observer.queryIn(tx)(`insert into ${table} values (?)`, [paymentId]);
  const times = async (paymentId: string, query: Query = observer.query): Promise<number> => {
    const [row] = await query(`select count(*) as times from ${table} where payment_id = ?`, [paymentId]);
    return Number(row?.times);
  };
  return {
    tablePrefix,
    table,
    store,
    storeOf,
    credit,
    /** How often a payment was credited. */
    times,
    /** Runs a payment's credit as an effect, unless it is done already. */
    pay: (over: Store, paymentId: string, effect = (tx: unknown): Promise<unknown> => credit(tx, paymentId)) =>
      over.effect({ id: paymentId, about: { status: 'COMPLETED' }, reads: [] }, async ({ tx, payment }) => {
        if (payment) return undefined;
        await effect(tx);
        return [newRow({ kind: 'payment', id: paymentId, state: 'done' })];
      }),
    /** How often it was credited, and its mark. */
    stateOf: async (paymentId: string) => ({
      credited: await times(paymentId),
      mark: (await store.read({ kind: 'payment', id: paymentId })).row?.state,
    }),
    /** How often each of the payments was credited that was. */
    all: async (query: Query = observer.query): Promise<Map<string, number>> => {
      const found = await query(`select payment_id, count(*) as times from ${table} group by payment_id`);
      return new Map(found.map(row => [String(row.payment_id), Number(row.times)]));
    },
    /** How many effects were cut off. */
    uncertain: async (query: Query = observer.query): Promise<number> =>
      (await query(`select id from ${rows} where scope = 'shop' and kind = 'payment' and state = 'begun'`)).length,
    close: () => observer.query(`drop table ${rows}, ${table}`),
  };
}

export type Credits = Awaited<ReturnType<typeof openCredits>>;

/** Nothing of an effect, and all of it once. */
export const NOTHING = { credited: 0, mark: undefined };
export const ONCE = { credited: 1, mark: 'done' };

export const newId = (): string => randomUUID();
