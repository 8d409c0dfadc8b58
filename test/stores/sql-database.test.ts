// Custom databases that break their promise: each payment is credited at most once, and the error names the mistake.
import type { SqlDatabase, SqlQuery, SqlRow } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Credits, NOTHING, newId, ONCE, openCredits } from '../support/credits.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool } from '../support/stores.ts';

describe.skipIf(lacks(hasPostgres, 'databases of your own: no PostgreSQL at 127.0.0.1:5432'))('a SqlDatabase', () => {
  let pool: pg.Pool;
  let credits: Credits;
  beforeAll(async () => {
    pool = postgresPool();
    credits = await openCredits(pool);
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
  function database(begin = 'begin isolation level read committed', changes: Partial<SqlDatabase<Client>> = {}) {
    const own: SqlDatabase<Client> = {
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
    return own;
  }

  /** Runs a payment's credit, and returns its error. */
  async function failureOf(of: SqlDatabase<Client>, id = newId()) {
    const error = await errorOf(credits.pay(credits.storeOf(of), id));
    expect(await credits.stateOf(id)).toEqual(NOTHING);
    return error;
  }

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'that keeps its promise credits each payment once, also at %s',
    async level => {
      const store = credits.storeOf(database(`begin isolation level ${level}`));
      const ids = [newId(), newId()];
      const pay = async (id: string): Promise<void> => {
        if ((await credits.pay(store, id)) === 'busy') await pay(id);
      };
      await Promise.all([...ids, ...ids, ...ids].map(pay));
      for (const id of ids)
        expect([await credits.pay(store, id), await credits.stateOf(id)]).toEqual(['skipped', ONCE]);
    },
  );

  it.each([
    ['the driver', { code: '40P01' }],
    ['the driver, of a serialisation failure', { code: '40001' }],
    ['Drizzle', { cause: { code: '40P01' } }],
    ['TypeORM', { driverError: { code: '40P01' } }],
    ['Prisma 7', { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '40P01' } } } }],
    ['Prisma 6, of its own SQL', { code: 'P2010', meta: { code: '40P01', message: 'deadlock' } }],
    ['Prisma 6, of a model', { code: 'P2034', meta: {} }],
  ])('repeats an effect that met another one, as %s reports it', async (_, shape) => {
    const id = newId();
    let tries = 0;
    const result = await credits.pay(credits.storeOf(database()), id, async tx => {
      await credits.credit(tx, id);
      tries += 1;
      if (tries < 3) throw Object.assign(new Error('met another'), shape);
    });
    expect([result, tries, await credits.stateOf(id)]).toEqual(['done', 3, ONCE]);
  });

  it('does not repeat an effect that failed in another way', async () => {
    let tries = 0;
    const failing = credits.pay(credits.storeOf(database()), newId(), async () => {
      tries += 1;
      throw Object.assign(new Error('shop'), { code: '23505', cause: { code: 'P2002' } });
    });
    await expect(failing).rejects.toThrow('shop');
    expect(tries).toBe(1);
  });

  it('that begins no transaction is refused before the effect', async () => {
    const id = newId();
    const store = credits.storeOf(database('select 1'));
    expect(await errorOf(credits.pay(store, id))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(
        'ran its query outside a transaction: each statement would be committed by itself',
      ),
    });
    // Its mark is committed, so nothing can run by mistake.
    expect([await credits.stateOf(id), await credits.pay(store, id)]).toEqual([
      { credited: 0, mark: 'begun' },
      'uncertain',
    ]);
  });

  it('that answers { rows } is told that the rows are wanted', async () => {
    const queryIn = (client: Client) =>
      (async (sql: string, values: string[]) => client.query(sql, values)) as unknown as SqlQuery;
    expect(await failureOf(database(undefined, { query: queryIn(pool), queryIn }))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('must answer an array of rows'),
    });
    const rows = (async () => ({ rows: [] })) as unknown as SqlQuery;
    const store = credits.storeOf(database(undefined, { query: rows }));
    await expect(store.read({ kind: 'create', id: 'b' })).rejects.toThrow('must answer an array of rows');
  });

  it('whose transaction resolves without having run its work takes no effect', async () => {
    const transaction = (async () => 'fine') as unknown as SqlDatabase<Client>['transaction'];
    expect(await failureOf(database(undefined, { transaction }))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('resolved without having run its work'),
    });
  });

  it('whose transaction swallows the error of its work rejects all the same', async () => {
    const transaction = (async work => {
      await database()
        .transaction(work)
        .catch(() => {});
    }) as SqlDatabase<Client>['transaction'];
    const failing = credits.pay(credits.storeOf(database(undefined, { transaction })), newId(), async () => {
      throw new Error('shop');
    });
    await expect(failing).rejects.toThrow('shop');
  });

  it('whose session is read-only asks for the primary', async () => {
    const begin = 'begin isolation level read committed read only';
    expect(await failureOf(database(begin))).toMatchObject({
      message: expect.stringMatching(/read-only transaction: this is a read replica, or a read-only session/),
      cause: { code: '25006' },
    });
  });

  it('that cannot begin on a replica asks for the primary', async () => {
    const recovery = Object.assign(new Error('cannot set transaction read-write mode during recovery'), {
      code: '0A000',
    });
    const transaction = () => Promise.reject(recovery);
    expect(await failureOf(database(undefined, { transaction }))).toMatchObject({
      message: expect.stringContaining('The store needs the primary.'),
      cause: recovery,
    });
  });

  it('whose COMMIT is not answered is not waited for', async () => {
    fakeTimers();
    const committed = Promise.withResolvers<void>();
    const transaction: SqlDatabase<Client>['transaction'] = async work => {
      await database().transaction(work);
      committed.resolve();
      return new Promise(() => {});
    };
    const id = newId();
    const running = errorOf(credits.pay(credits.storeOf(database(undefined, { transaction })), id));
    await committed.promise;
    const error = await whileTimePasses(running, 100);
    expect(error).toHaveProperty('message', 'The database did not answer within 5000 ms.');
    // It was committed anyway, and its mark with it.
    expect([await credits.pay(credits.storeOf(pool), id), await credits.stateOf(id)]).toEqual(['skipped', ONCE]);
  });

  it('whose library waits for a connection for ever is not waited for, and what begins too late does nothing', async () => {
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const late: unknown[] = [];
    const transaction: SqlDatabase<Client>['transaction'] = async work => {
      await isFree;
      return database().transaction(work);
    };
    const observed: SqlDatabase<Client>['transaction'] = work => {
      const running = transaction(work);
      running.catch(error => late.push(error));
      return running;
    };
    const id = newId();
    const store = credits.storeOf(database(undefined, { transaction: observed }));
    await store.read({ kind: 'payment', id });
    fakeTimers();
    const running = errorOf(credits.pay(store, id));
    const { message } = (await whileTimePasses(running, 100)) as Error;
    expect(message).toContain('No transaction began within 5000 ms');
    vi.useRealTimers();
    free();
    await expect.poll(() => late).toHaveLength(1);
    expect(await credits.times(id)).toBe(0);
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
    expect(await failureOf(database(undefined, { transaction }))).toMatchObject({
      message: expect.stringContaining('was rolled back, although the library reported a commit'),
    });
  });

  it('that takes part in a transaction which other code began does not answer that the effect ran', async () => {
    const client = await pool.connect();
    const query = queryOf(client);
    await client.query('begin');
    const shared = database(undefined, { query, transaction: work => work(client) });
    const id = newId();
    const error = await errorOf(credits.pay(credits.storeOf(shared), id));
    await client.query('rollback');
    client.release();
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining('in a transaction') });
    expect(await credits.times(id)).toBe(0);
  });
});
