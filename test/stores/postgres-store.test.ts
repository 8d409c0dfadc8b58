// The rows of a store in Postgres: durable, committed before a create is sent, and found by their indexes.
import { randomUUID } from 'node:crypto';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store, StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { DUE } from '../../src/upkeep/send-plans.ts';
import { errorOf } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, inTransaction, openPostgresStore, postgresPool, uniqueName } from '../support/stores.ts';
import { watchedPool } from './watched-pool.ts';

describe.skipIf(lacks(hasPostgres, 'postgresStore: no PostgreSQL at 127.0.0.1:5432'))('postgresStore', () => {
  let opened: Awaited<ReturnType<typeof openPostgresStore>>;
  let pool: pg.Pool;
  let table: string;

  beforeAll(async () => {
    opened = await openPostgresStore();
    ({ pool, table } = opened);
  });
  afterAll(() => opened.close());

  /** Collects the statements of a store, after it has resolved its table. */
  async function watch(over = pool, first = /^\w+/) {
    const statements: string[] = [];
    const sent: [string, unknown[]][] = [];
    const watched = watchedPool(over, (text, values, send) => {
      sent.push([text, values]);
      statements.push(first.exec(text)?.[0] ?? text);
      return send();
    });
    const store = opened.storeOf(watched);
    await store.read(newRow());
    for (const list of [statements, sent]) list.length = 0;
    return { watched, store, statements, sent };
  }
  const explained = async ([text, values]: [string, unknown[]]) => {
    const { rows } = await pool.query(`explain ${text}`, values);
    return rows.map(line => line['QUERY PLAN']).join('\n');
  };
  const created = (row: StoreRow | undefined) => ({ ...(row as StoreRow), state: 'created', paymentId: randomUUID() });

  it.each([
    ['two statements', true, ['INSERT', 'UPDATE']],
    ['three, if pg does not report the commit,', false, ['INSERT', 'SELECT txid_status', 'UPDATE']],
  ])('takes %s for a create, and two for one that is created already', async (_, reports, expected) => {
    const first = /^(?:INSERT|UPDATE|SELECT(?: txid_status)?)/;
    const { store, watched, statements } = await watch(pool, first);
    const silent = async () =>
      Object.assign(Object.create(await watched.connect()), { getTransactionStatus: undefined });
    const used = reports ? store : opened.storeOf({ ...watched, connect: silent } as never);
    await used.read(newRow());
    statements.length = 0;
    const row = newRow();
    const begun = await used.write(row);
    expect((await used.write(created(begun.row))).isWritten).toBe(true);
    expect(statements.splice(0)).toEqual(expected);
    expect(await used.write(row)).toMatchObject({ isWritten: false, row: { state: 'created' } });
    expect(statements).toEqual(['INSERT', 'SELECT']);
  });

  it.each([
    ['reports it', {}],
    ['does not report it', { getTransactionStatus: undefined }],
  ])('writes no create in a transaction that other code began meanwhile, if pg %s', async (_, older) => {
    /** Each INSERT meets a BEGIN that no one commits. */
    const racing = {
      async connect() {
        const client = await pool.connect();
        const query = async (text: string, values: unknown[]) => {
          if (text.startsWith('INSERT')) await client.query('BEGIN');
          return client.query(text, values);
        };
        return Object.assign(Object.create(client), { query, release: () => client.release(true) }, older);
      },
      query() {},
    };
    const row = newRow();
    await expect(opened.storeOf(racing as never).write(row)).rejects.toThrow(
      'released to the pool inside an open transaction',
    );
    expect((await opened.store.read(row)).row).toBeUndefined();
  });

  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('waits for a synchronous standby: synchronous_commit = %s', async (level, expected) => {
    const name = uniqueName('seen');
    await pool.query(`
      create table ${name} (level text);
      create function ${name}() returns trigger language plpgsql as
        $$ begin insert into ${name} values (current_setting('synchronous_commit')); return null; end $$;
      create trigger ${name} after insert or update on ${table} for each row execute function ${name}()`);
    const weak = postgresPool({ max: 1, options: `-c synchronous_commit=${level}` });
    const store = opened.storeOf(weak);
    const { row } = await store.write(newRow());
    await store.write(created(row));
    const { rows } = await pool.query(`select level from ${name}`);
    expect(rows).toEqual([{ level: expected }, { level: expected }]);
    await weak.end();
    await pool.query(`drop trigger ${name} on ${table}; drop function ${name}; drop table ${name}`);
  });

  it('reads its rows if the driver was taught to leave dates and JSON as text', async () => {
    const asText = { getTypeParser: () => (text: string) => text };
    const taught = postgresPool({ types: asText as never });
    const { row } = await opened.storeOf(taught).write(newRow({ data: { a: [1, null] }, dueAt: 1 }));
    expect((await opened.storeOf(taught).read(row as StoreRow)).row).toEqual(row);
    await taught.end();
  });

  it('keeps a time after the year 9999 as the last one before', async () => {
    const { row } = await opened.store.write(newRow({ revision: 0, leasedUntil: 1e16 }));
    expect(row?.leasedUntil).toBe(Date.parse('9999-12-31T23:59:59.999Z'));
    const far = { ...(row as StoreRow), dueAt: Number.MAX_SAFE_INTEGER };
    const payment = newRow({ kind: 'payment', id: randomUUID() });
    const effect = { id: payment.id, about: {}, reads: [far] };
    expect(await opened.store.effect(effect, async () => [payment, far])).toBe('done');
    expect((await opened.store.read(far)).row?.dueAt).toBe(row?.leasedUntil);
  });

  it('sets the times of new rows in an effect, also of one whose id has half a character', async () => {
    const payment = newRow({ kind: 'payment', id: `half \ud83d ${randomUUID()}`, dueAt: 1 });
    const effect = { id: payment.id, about: {}, reads: [] };
    expect(await opened.store.effect(effect, async () => [payment])).toBe('done');
    const { row, now } = await opened.store.read(payment);
    for (const time of [row?.begunAt, row?.dueAt]) expect(Math.abs(Number(time) - now)).toBeLessThan(60_000);
  });

  it('keeps every letter in a database with a smaller character set', async () => {
    const database = uniqueName('latin');
    await pool.query(`create database ${database} encoding 'LATIN1' locale 'C' template template0`);
    const latin = postgresPool({ database });
    try {
      const store = postgresStore(latin, { scope: 'shop' });
      await store.migrate();
      const row = newRow({ data: { name: 'Łukasz Żółć 注文 😀' } });
      await store.write(row);
      expect((await store.read(row)).row?.data).toEqual(row.data);
    } finally {
      await latin.end();
      await pool.query(`drop database ${database}`);
    }
  });

  it('finds due rows, planned payouts, open rows and owners by an index each', async () => {
    const large = await openPostgresStore();
    const insert = (kind: string, state: string, count: number, rest: string) =>
      large.pool.query(`insert into ${large.table} select 'shop', '${kind}', '${state}-' || n, '${state}', 1, now(),
        ${rest}, '{}', null, null, null from generate_series(1, ${count}) n`);
    await insert('create', 'created', 30_000, `now() - interval '1 hour', null, 'p' || n`);
    await insert('create', 'planned', 300, `now() - interval '1 minute', null, null`);
    await insert('create', 'begun', 30, 'null, null, null');
    await insert('payment', 'done', 30_000, 'null, null, null');
    await insert('payment', 'review', 30, 'null, null, null');
    await large.pool.query(`analyze ${large.table}`);
    const sent: [string, unknown[]][] = [];
    const store = large.storeOf(
      watchedPool(large.pool, (text, values, send) => {
        if (text.includes(large.table)) sent.push([text, values]);
        return send();
      }),
    );
    await store.read(newRow());
    sent.length = 0;
    expect((await store.due({ kind: 'create', ...DUE }, 8, 1_000)).rows).toHaveLength(8);
    await store.due({ kind: 'create', states: ['begun', 'created'], olderThan: 0 }, 8, 1_000);
    await store.list({ kind: 'create', states: ['begun'] });
    expect((await store.list({ kind: 'payment', states: ['begun', 'review'] })).rows).toHaveLength(30);
    expect((await store.owner('p77')).row?.id).toBe('created-77');
    const plans = [];
    for (const each of sent) plans.push(await explained(each));
    const used = plans.map(plan =>
      ['planned', 'due', 'open', 'payment'].filter(name => plan.includes(`${large.table}_${name} `)),
    );
    // Each lease reads the time and writes by the primary key.
    const [planned, due, open, lease] = [['planned'], ['due'], ['open'], [[], []]];
    expect(used).toEqual([planned, planned, ...lease, open, due, ...lease, open, open, ['payment']]);
    expect(plans.join('\n')).not.toMatch(new RegExp(`Seq Scan on ${large.table}`));
    await large.close();
  });

  describe('in your transaction', () => {
    const planned = () => newRow({ state: 'planned', dueAt: 1 });
    const within = (work: (client: pg.PoolClient) => Promise<void>, end?: string) => inTransaction(pool, work, end);

    it('writes nothing outside an open one: on a client, after COMMIT, on a pool', async () => {
      const row = planned();
      const client = await pool.connect();
      for (const tx of [client, pool, {}, 'tx']) {
        expect(await errorOf(opened.store.write(row, tx as never))).toMatchObject({
          name: 'ConfigurationError',
          outcome: 'not_sent',
        });
      }
      await client.query('begin');
      await client.query('commit');
      await expect(opened.store.write(row, client)).rejects.toThrow(
        'Nothing was planned: tx is not an open transaction',
      );
      client.release();
      expect((await opened.store.read(row)).row).toBeUndefined();
    });

    it('writes within a savepoint, which undoes it alone, and durably', async () => {
      const [undone, kept] = [planned(), planned()];
      await within(async client => {
        await client.query('set local synchronous_commit = off; savepoint part');
        await opened.store.write(undone, client);
        await client.query('rollback to savepoint part');
        await opened.store.write(kept, client);
        expect((await client.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
      });
      expect((await opened.store.read(undone)).row).toBeUndefined();
      expect((await opened.store.read(kept)).row?.state).toBe('planned');
    });

    it('locks nothing when it meets existing rows, in any order', async () => {
      const rows = [planned(), planned()];
      for (const row of rows) await opened.store.write(row);
      await within(client =>
        within(async other => {
          for (const each of [client, other]) await each.query(`set local lock_timeout = '2s'`);
          for (const step of [0, 1]) {
            expect((await opened.store.write(rows[step] as StoreRow, client)).isWritten).toBe(false);
            expect((await opened.store.write(rows[1 - step] as StoreRow, other)).isWritten).toBe(false);
          }
        }),
      );
    });

    it('waits for another transaction with the same reference, and sees its row', async () => {
      const row = planned();
      const second = await pool.connect();
      await second.query('begin');
      let writing: ReturnType<Store['write']> | undefined;
      await within(async client => {
        await opened.store.write(row, client);
        writing = opened.store.write({ ...row, data: {} }, second);
        expect(await Promise.race([writing, new Promise(resolve => setTimeout(resolve, 50, 'waits'))])).toBe('waits');
      });
      expect(await writing).toMatchObject({ isWritten: false, row: { data: row.data } });
      await second.query('commit');
      second.release();
    });

    it('wakes watchers at its commit, through any spelling of the table, and not without one', async () => {
      const stop = new AbortController();
      let woken = 0;
      const spelled = opened.storeOf(pool, { tablePrefix: `public.${opened.tablePrefix}` });
      const watching = spelled.watch?.(() => (woken += 1), stop.signal);
      const LISTENING = `select 1 from pg_stat_activity where query = 'LISTEN "${table}"'`;
      await expect.poll(async () => (await pool.query(LISTENING)).rowCount).toBe(1);
      await within(async client => void (await opened.store.write(planned(), client)), 'rollback');
      await within(async client => void (await opened.store.write(newRow(), client)));
      await within(async client => {
        await opened.store.write(planned(), client);
        expect(woken).toBe(0);
      });
      await expect.poll(() => woken).toBe(1);
      stop.abort();
      await watching;
      await expect.poll(async () => (await pool.query(LISTENING)).rowCount).toBe(0);
    });
  });

  describe('migrate', () => {
    const versionOf = async (name: string): Promise<string> => {
      const { rows } = await pool.query(`select obj_description($1::regclass, 'pg_class') as comment`, [name]);
      return rows[0].comment;
    };
    const indexesOf = async (name: string): Promise<string[]> => {
      const { rows } = await pool.query('select indexname from pg_indexes where tablename = $1 order by 1', [name]);
      return rows.map(({ indexname }) => indexname);
    };
    const INDEXES = ['due', 'open', 'payment', 'pkey', 'planned'];

    it('creates the table in its own schema, on many replicas concurrently, and again', async () => {
      const [schema, name] = [uniqueName('schema'), uniqueName('billing')];
      await pool.query(`create schema ${schema}`);
      const replicas = Array.from({ length: 8 }, () => opened.storeOf(pool, { tablePrefix: `${schema}.${name}` }));
      for (let round = 0; round < 2; round++) await Promise.all(replicas.map(store => store.migrate()));
      expect(await versionOf(`${schema}.${name}_rows`)).toBe('payment-gateway-sdk, version 5');
      expect(await indexesOf(`${name}_rows`)).toEqual(INDEXES.map(index => `${name}_rows_${index}`));
      expect((await replicas[0]?.write(newRow()))?.isWritten).toBe(true);
      await pool.query(`drop schema ${schema} cascade`);
    });

    it('is unnecessary after the SQL of ddl()', async () => {
      const tablePrefix = uniqueName('tool');
      const store = opened.storeOf(pool, { tablePrefix });
      await pool.query(store.ddl());
      expect(await versionOf(`${tablePrefix}_rows`)).toBe('payment-gateway-sdk, version 5');
      expect(await indexesOf(`${tablePrefix}_rows`)).toEqual(INDEXES.map(name => `${tablePrefix}_rows_${name}`));
      await store.migrate();
      expect((await store.write(newRow())).isWritten).toBe(true);
      await pool.query(`drop table ${tablePrefix}_rows`);
    });

    it('is named in the error of a missing table', async () => {
      const store = opened.storeOf(pool, { tablePrefix: 'nowhere' });
      const forgotten = {
        message: 'relation "nowhere_rows" does not exist: call migrate(), or correct tablePrefix',
        code: '42P01',
      };
      const asked = [store.read(newRow()), store.write(newRow()), store.effect(EFFECT, async () => [])];
      expect(await Promise.all(asked.map(errorOf))).toMatchObject([forgotten, forgotten, forgotten]);
    });
    const EFFECT = { id: 'none', about: {}, reads: [] };

    it('changes nothing if a step fails, and says why', async () => {
      const tablePrefix = uniqueName('broken');
      await pool.query(`create table ${tablePrefix}_rows (scope text)`);
      await expect(opened.storeOf(pool, { tablePrefix }).migrate()).rejects.toThrow(
        'column "payment_id" does not exist',
      );
      expect(await versionOf(`${tablePrefix}_rows`)).toBeNull();
      await pool.query(`drop table ${tablePrefix}_rows`);
    });
  });
});
