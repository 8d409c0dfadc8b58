import { postgresStore } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, until, whileTimePasses } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { type Credits, NOTHING, newId, ONCE, openCredits } from './credits.ts';
import { overPostgres } from './database.ts';
import { openProxy } from './proxy.ts';
import { watchedPool } from './watched-pool.ts';

describe.skipIf(lacks(hasPostgres, 'effects: no PostgreSQL at 127.0.0.1:5432'))('an effect in Postgres', () => {
  let pool: pg.Pool;
  let other: pg.Pool;
  let credits: Credits;

  beforeAll(async () => {
    pool = postgresPool();
    other = postgresPool();
    credits = await openCredits(overPostgres(other));
  });
  afterAll(async () => {
    await credits.close();
    await Promise.all([pool.end(), other.end()]);
  });

  /** Runs a payment's credit, and what else its effect does. */
  const pay = (over: pg.Pool, id: string, more?: (tx: pg.PoolClient) => unknown) =>
    credits.pay(storeOf(over), id, async tx => {
      await credits.credit(tx, id);
      await more?.(tx as pg.PoolClient);
    });
  const stateOf = (id: string) => credits.stateOf(id);
  const storeOf = (over: pg.Pool) => credits.storeOf(overPostgres(over));

  it('takes four statements in addition to those of its work', async () => {
    const statements: string[] = [];
    const watched = watchedPool(pool, (text, _values, send) => {
      statements.push(/^\w+/.exec(text.trim())?.[0] ?? text);
      return send();
    });
    const store = storeOf(watched);
    const payOnce = () => credits.pay(store, newId(), async () => {});
    await payOnce();
    statements.length = 0;
    expect(await payOnce()).toBe('done');
    expect(statements).toEqual(['BEGIN', 'INSERT', 'INSERT', 'COMMIT']);
  });

  it.each([
    ['default_transaction_isolation=serializable', 'transaction_isolation', 'read committed, then serializable'],
    ['default_transaction_read_only=on', 'transaction_read_only', 'off, then on'],
    ['synchronous_commit=off', 'synchronous_commit', 'on, then off'],
    ['synchronous_commit=local', 'synchronous_commit', 'on, then local'],
    ['synchronous_commit=remote_write', 'synchronous_commit', 'on, then remote_write'],
    ['synchronous_commit=remote_apply', 'synchronous_commit', 'remote_apply, then remote_apply'],
  ])('in a session with other defaults runs safely: %s', async (option, setting, expected) => {
    const strict = postgresPool({ options: `-c ${option}` });
    const seen: unknown[] = [];
    const id = newId();
    const look = async (db: Pick<pg.Pool, 'query'>) => {
      const { rows } = await db.query(`select current_setting($1) as setting`, [setting]);
      seen.push((rows[0] as { setting: unknown }).setting);
    };
    await pay(strict, id, look);
    await look(strict);
    await strict.end();
    expect([await stateOf(id), seen.join(', then ')]).toEqual([ONCE, expected]);
  });

  it('happens once through two spellings of the table, and after a change of the search path', async () => {
    const tenant = uniqueName('tenant');
    await pool.query(`create schema ${tenant}`);
    const one = postgresPool({ max: 2 });
    const store = storeOf(one);
    await store.read({ kind: 'payment', id: 'none' });
    const spelled = postgresStore(pool, { scope: 'shop', tablePrefix: `public.${credits.tablePrefix}` });
    const id = newId();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const running = credits.pay(store, id, async tx => {
      entered.resolve();
      await leave.promise;
      await credits.credit(tx, id);
    });
    await entered.promise;
    // The lock is the table's, not the spelling's.
    expect(await credits.pay(spelled as never, id)).toBe('busy');
    leave.resolve();
    expect([await running, await credits.pay(spelled as never, id)]).toEqual(['done', 'skipped']);
    // A shop sets the path of its connections. A table of the same name is there, too.
    await postgresStore(pool, { scope: 'shop', tablePrefix: `${tenant}.${credits.tablePrefix}` }).migrate();
    for (const client of await Promise.all([one.connect(), one.connect()])) {
      await client.query(`set search_path to ${tenant}`);
      client.release();
    }
    expect(await credits.pay(store, id)).toBe('skipped');
    await one.end();
    await pool.query(`drop schema ${tenant} cascade`);
    expect(await stateOf(id)).toEqual(ONCE);
  });

  it('is busy at once while another worker has its payment, although that also has its create', async () => {
    const create = newRow({ id: uniqueName('create') });
    await credits.store.write(create);
    const id = newId();
    const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const effect = { id, about: {}, reads: [create] };
    const running = credits.store.effect(effect, async () => {
      entered.resolve();
      await leave.promise;
      return undefined;
    });
    await entered.promise;
    expect(await credits.store.effect(effect, async () => undefined)).toBe('busy');
    leave.resolve();
    expect(await running).toBe('skipped');
  });

  /** A pool with other code on its clients. */
  const shared = (queryOf: (client: pg.PoolClient) => (text: string, values?: unknown[]) => Promise<unknown>) =>
    ({
      connect: async () => {
        const client = await pool.connect();
        return Object.assign(Object.create(client), { query: queryOf(client), release: () => client.release(true) });
      },
      query() {},
    }) as never;

  it('fails, and runs again, if a query that nobody awaits fails before the COMMIT', async () => {
    const id = newId();
    const careless = shared(client => async (text, values) => {
      if (text === 'COMMIT') await client.query('select 1/0').catch(() => {});
      return client.query(text, values);
    });
    await expect(pay(careless, id)).rejects.toThrow('rolled back, although the library reported a commit');
    expect([await stateOf(id), await pay(pool, id)]).toEqual([NOTHING, 'done']);
  });

  it('is refused on a connection that other code left in a transaction', async () => {
    const id = newId();
    // After the pool has looked at it.
    const left = shared(client => async (text, values) => {
      const answer = await client.query(text, values);
      if (text.startsWith('BEGIN')) await client.query('select txid_current()');
      return answer;
    });
    await expect(pay(left, id)).rejects.toThrow('released to the pool inside an open transaction');
    expect([await stateOf(id), await pay(pool, id)]).toEqual([NOTHING, 'done']);
  });

  describe('has an end for every wait:', () => {
    /** The error of what waits for nothing but its limits, which pass now. Time is real again after that. */
    async function lateError(running: Promise<unknown>): Promise<Error> {
      const error = await whileTimePasses(errorOf(running), 100);
      vi.useRealTimers();
      return error as Error;
    }

    /** A pool behind a proxy that can lose every byte. */
    async function openFar(options?: pg.PoolConfig) {
      const proxy = await openProxy(5432);
      const far = postgresPool({ port: proxy.port, max: 2, ...options });
      onTestFinished(async () => {
        await far.end();
        proxy.close();
      });
      return { proxy, far, isLost: () => until(() => proxy.lost() > 0) };
    }

    it('for a second connection of a pool that has only one, when the handler gives up', async () => {
      const one = postgresPool({ max: 1 });
      const id = newId();
      const { promise: late, reject } = Promise.withResolvers<never>();
      const stuck = errorOf(pay(one, id, () => Promise.race([one.query('select 1'), late])));
      await until(() => one.waitingCount === 1);
      reject(new Error('too long'));
      expect(await stuck).toMatchObject({ message: 'too long' });
      expect([await pay(one, id), await stateOf(id)]).toEqual(['done', ONCE]);
      await one.end();
    });

    it('for a database that stopped after the effect, which is lost with its mark', async () => {
      const { proxy, far, isLost } = await openFar();
      const id = newId();
      fakeTimers();
      const running = pay(far, id, () => proxy.swallow());
      await isLost();
      const { message } = await lateError(running);
      expect(message).toBe('The database did not answer within 5000 ms.');
      expect(await stateOf(id)).toEqual(NOTHING);
      proxy.pass();
      expect([await pay(far, id), await stateOf(id)]).toEqual(['done', ONCE]);
      expect([far.totalCount, far.idleCount, far.waitingCount]).toEqual([1, 1, 0]);
    });
  });
});
