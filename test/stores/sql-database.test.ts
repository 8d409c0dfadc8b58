// Custom databases that break their promise: each payment is credited at most once, and the error names the mistake.
import type { SqlDatabase, SqlQuery, SqlRow } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool } from '../support/stores.ts';
import { type Credits, NOTHING, newId, ONCE, openCredits } from './credits.ts';
import { overPostgres } from './database.ts';

describe.skipIf(lacks(hasPostgres, 'databases of your own: no PostgreSQL at 127.0.0.1:5432'))('a SqlDatabase', () => {
  let pool: pg.Pool;
  let credits: Credits;
  beforeAll(async () => {
    pool = postgresPool();
    credits = await openCredits(overPostgres(pool));
  });
  afterAll(async () => {
    await credits.close();
    await pool.end();
  });

  type Client = Pick<pg.PoolClient, 'query'>;
  const queryOf =
    (client: Client): SqlQuery =>
    async (sql, values = []) =>
      (await client.query(sql, [...values])).rows as SqlRow[];

  /** As somebody would write it. */
  function database(
    begin = 'begin isolation level read committed',
    changes: Partial<SqlDatabase<Client>> = {},
  ): SqlDatabase<Client> {
    return {
      dialect: 'postgres',
      query: queryOf(pool),
      queryIn: queryOf,
      async transaction(work) {
        const client = await pool.connect();
        try {
          await client.query(begin);
          const value = await work(client);
          await client.query('commit');
          return value;
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
      ...changes,
    };
  }

  const storeOf = (of: unknown) => credits.storeOf(overPostgres(of as pg.Pool));

  /** Runs a payment's credit, and returns its error. */
  async function failureOf(of: SqlDatabase<Client>, id = newId()) {
    const error = await errorOf(credits.pay(storeOf(of), id));
    expect(await credits.stateOf(id)).toEqual(NOTHING);
    return error;
  }

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'that keeps its promise credits each payment once, also at %s',
    async level => {
      const store = storeOf(database(`begin isolation level ${level}`));
      const ids = [newId(), newId()];
      const pay = async (id: string): Promise<void> => {
        if ((await credits.pay(store, id)) === 'busy') await pay(id);
      };
      await Promise.all([...ids, ...ids, ...ids].map(pay));
      for (const id of ids)
        expect([await credits.pay(store, id), await credits.stateOf(id)]).toEqual(['skipped', ONCE]);
    },
  );

  it('that begins no transaction runs an effect once, and leaves it to a person', async () => {
    const id = newId();
    const store = storeOf(database('select 1'));
    expect(await errorOf(credits.pay(store, id))).toMatchObject({
      message: expect.stringContaining('ended before your function returned'),
    });
    expect([await credits.pay(store, id), (await credits.stateOf(id)).credited]).toEqual(['uncertain', 1]);
  });

  it('that answers { rows } is told that the rows are wanted', async () => {
    const queryIn = (client: Client) =>
      (async (sql: string, values: string[]) => client.query(sql, values)) as unknown as SqlQuery;
    const failure = await failureOf(database(undefined, { query: queryIn(pool), queryIn }));
    expect(String(failure)).toMatch(/^ConfigurationError: .* must return an array of rows/);
    const rows = (async () => ({ rows: [] })) as unknown as SqlQuery;
    const store = storeOf(database(undefined, { query: rows }));
    await expect(store.read({ kind: 'create', id: 'b' })).rejects.toThrow('must return an array of rows');
  });

  it('whose session is read-only asks for the primary', async () => {
    const begin = 'begin isolation level read committed read only';
    expect(await failureOf(database(begin))).toMatchObject({
      message: expect.stringMatching(/read-only transaction: this is a read replica, or a read-only session/),
      code: '25006',
    });
  });

  it('that rolls back and resolves anyway does not answer that the effect ran', async () => {
    const transaction: SqlDatabase<Client>['transaction'] = async work => {
      let value: unknown;
      const undone = database().transaction(async client => {
        value = await work(client);
        throw new Error('undone');
      });
      await undone.catch(() => {});
      return value as never;
    };
    const failure = await failureOf(database(undefined, { transaction }));
    expect(String(failure)).toContain('was rolled back, although the library reported a commit');
  });

  it('that takes part in a transaction which other code began does not answer that the effect ran', async () => {
    const client = await pool.connect();
    const query = queryOf(client);
    await client.query('begin');
    const shared = database(undefined, { query, transaction: work => work(client) });
    const id = newId();
    const error = await errorOf(credits.pay(storeOf(shared), id));
    await client.query('rollback');
    client.release();
    expect(String(error)).toMatch(/^ConfigurationError: .* inside an open transaction/);
    expect(await credits.times(id)).toBe(0);
  });
});
