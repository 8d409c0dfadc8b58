// fromKysely over a double of it: what is asked of it, and what becomes of a transaction's handle at its end.
import { fromKysely } from 'payment-gateway-sdk/postgres';
import { describe, expect, it } from 'vitest';
import { RolledBack } from '../../src/sql/bounded.ts';
import { errorOf } from '../support/fixtures.ts';

interface Compiled {
  sql: string;
  parameters?: readonly unknown[];
}
interface Plugin {
  transformQuery(asked: { node: unknown }): unknown;
  transformResult(given: { result: unknown }): Promise<unknown>;
}

/** What the dialects of Kysely can do, by their adapters. */
class PostgresAdapter {
  supportsTransactionalDdl = true;
  supportsReturning = true;
}
class MysqlAdapter {
  supportsTransactionalDdl = false;
  supportsReturning = false;
}
class SqliteAdapter {
  supportsTransactionalDdl = false;
  supportsReturning = true;
}
class MssqlAdapter {
  supportsTransactionalDdl = true;
  supportsReturning = false;
  supportsOutput = true;
}

/** A Kysely that keeps what it was asked. */
function kysely({
  adapter = new PostgresAdapter() as object | undefined,
  answer = { rows: [{ a: '1' }] } as object,
  fail = (_: string): unknown => undefined,
  hasAccessMode = true,
} = {}) {
  const asked: string[] = [];
  const compiled: Compiled[] = [];
  const connection = {
    async executeQuery(query: Compiled) {
      const error = fail(query.sql);
      if (error) throw error;
      asked.push(query.sql);
      compiled.push(query);
      return answer;
    },
    streamQuery: () => 'a stream',
  };
  const { executeQuery } = connection;
  const handleOf = (plugins: Plugin[], isTransaction?: boolean) => {
    const handle = {
      isTransaction,
      selectFrom() {},
      async executeQuery(query: Compiled) {
        for (const plugin of plugins) expect(plugin.transformQuery({ node: query })).toBe(query);
        let result: unknown = await connection.executeQuery(query);
        for (const plugin of plugins) result = await plugin.transformResult({ result });
        return result as { rows: unknown[] };
      },
      withoutPlugins: () => handleOf([], isTransaction),
      withPlugin: (plugin: Plugin) => handleOf([...plugins, plugin], isTransaction),
      getExecutor: () => ({
        adapter,
        provideConnection: <T>(work: (given: typeof connection) => Promise<T>) => work(connection),
      }),
      stream: () => connection.streamQuery(),
      transaction() {
        const ask = (what: string) => {
          asked.push(what);
          return builder;
        };
        const builder = {
          setIsolationLevel: ask,
          ...(hasAccessMode && { setAccessMode: ask }),
          async execute<T>(work: (tx: Handle) => Promise<T>): Promise<T> {
            const value = await work(handleOf(plugins, true));
            await connection.executeQuery({ sql: 'commit' });
            return value;
          },
        };
        return builder;
      },
    };
    return handle;
  };
  type Handle = ReturnType<typeof handleOf>;
  return { db: handleOf([]), asked, compiled, connection, executeQuery, adapter };
}
type Double = ReturnType<typeof kysely>['db'];
const sql = (text: string) => ({ sql: text });
const open = (db: Double, options?: object) => fromKysely<Double>(db as never, options);

describe('fromKysely', () => {
  it.each([
    ['Postgres', new PostgresAdapter(), 'postgres'],
    ['MySQL', new MysqlAdapter(), 'mysql'],
    ['what it does not know', {}, 'postgres'],
  ])('takes an adapter of %s', (_, adapter, dialect) => {
    expect(open(kysely({ adapter }).db).dialect).toBe(dialect);
  });

  it('takes one that does not tell its adapter, and knows its pool by itself', () => {
    const { getExecutor, ...db } = kysely().db;
    expect(open(db as Double)).toMatchObject({ dialect: 'postgres', pool: { max: 10 } });
    expect(open(db as Double).pool?.identity).toBe(db);
  });

  it.each([
    ['SqliteAdapter', new SqliteAdapter()],
    ['MssqlAdapter', new MssqlAdapter()],
  ])('refuses a %s', (name, adapter) => {
    expect(() => open(kysely({ adapter }).db)).toThrow(
      `fromKysely takes a Kysely over PostgreSQL or MySQL, and this one has a ${name}.`,
    );
  });

  it.each([
    ['nothing', undefined, 'fromKysely takes a new Kysely().'],
    ['something else', { transaction() {} }, 'fromKysely takes a new Kysely().'],
    ['a part of one', { executeQuery() {} }, 'fromKysely takes a new Kysely().'],
    [
      'a transaction',
      { transaction() {}, executeQuery() {}, isTransaction: true },
      'fromKysely takes a new Kysely(), and none of its transactions.',
    ],
  ])('refuses %s', (_, given, message) => {
    expect(() => fromKysely(given as never)).toThrow(message);
  });

  it('knows its pool by its adapter, which all that is derived from it share', () => {
    const { db, adapter } = kysely();
    expect(open(db).pool).toEqual({ identity: adapter, max: 10 });
    expect(open(db).pool?.identity).toBe(adapter);
    expect(open(db, { poolSize: 3 }).pool?.max).toBe(3);
    expect(() => open(db, { poolSize: 1 })).toThrow('fromKysely: poolSize must be 2 or more');
    expect(() => open(db, { size: 3 })).toThrow('fromKysely: unknown option "size"');
  });

  it('begins transactions at READ COMMITTED that can write, if it can say so', async () => {
    for (const hasAccessMode of [true, false]) {
      const { db, asked } = kysely({ hasAccessMode });
      expect(await open(db).transaction(async () => 'done')).toBe('done');
      expect(asked).toEqual(['read committed', ...(hasAccessMode ? ['read write'] : []), 'commit']);
    }
  });

  it('sends statements without its plugins, each with an id of its own', async () => {
    const { db, compiled } = kysely();
    const plugin: Plugin = {
      transformQuery() {
        throw new Error('a plugin');
      },
      transformResult: async () => ({ rows: ['a plugin'] }),
    };
    const { query } = open(db.withPlugin(plugin));
    expect(await query('select $1', ['x'])).toEqual([{ a: '1' }]);
    expect(await query('select 2')).toEqual([{ a: '1' }]);
    const id = expect.stringMatching(/^[\da-f-]{36}$/);
    const of = (text: string, parameters: unknown[]) => ({
      sql: text,
      parameters,
      query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
      queryId: { queryId: id },
    });
    expect(compiled).toEqual([of('select $1', ['x']), of('select 2', [])]);
    const ids = compiled.map(each => (each as unknown as { queryId: { queryId: string } }).queryId.queryId);
    expect(new Set(ids).size).toBe(2);
  });

  it('tells over MySQL how many rows a write has changed', async () => {
    const adapter = new MysqlAdapter();
    const { db } = kysely({ adapter, answer: { rows: [], numAffectedRows: 3n } });
    expect(await open(db).query('update a')).toEqual([{ affected: '3' }]);
    expect(await open(kysely({ adapter }).db).query('select 1')).toEqual([{ a: '1' }]);
    // Over Postgres rows are rows.
    const other = kysely({ answer: { rows: [{ a: '2' }], numAffectedRows: 3n } });
    expect(await open(other.db).query('update a returning a')).toEqual([{ a: '2' }]);
  });

  it('plans only in a transaction', async () => {
    const { db, asked, connection, executeQuery } = kysely();
    for (const tx of [undefined, {}, db]) {
      expect(() => open(db).queryIn?.(tx as never)).toThrow(
        'plan takes as its tx that of db.transaction().execute(async trx => …). Nothing was planned.',
      );
    }
    await db.transaction().execute(async tx => open(db).queryIn?.(tx)('select 3'));
    // It has no gate: Postgres refuses by itself.
    await open(db).transaction(async () => expect(connection.executeQuery).toBe(executeQuery));
    expect(asked).toEqual(['select 3', 'commit', 'read committed', 'read write', 'commit']);
  });
});

describe('a transaction of Kysely over Postgres', () => {
  it('answers as Kysely does while it is lent, and takes nothing after that', async () => {
    const { db, asked } = kysely();
    const adapted = open(db);
    let left: Double | undefined;
    await adapted.transaction(async (tx, query) => {
      await adapted.lend?.(tx, async lent => {
        left = lent;
        expect(await lent.executeQuery(sql('credit'))).toEqual({ rows: [{ a: '1' }] });
      });
      await expect(left?.executeQuery(sql('late'))).rejects.toThrow('The transaction has ended');
      await query('ours');
    });
    expect(asked.slice(2)).toEqual(['credit', 'ours', 'commit']);
  });

  it('takes nothing after a work that failed', async () => {
    const { db } = kysely();
    let left: Double | undefined;
    const failing = open(db).lend?.(db, async lent => {
      left = lent;
      throw new Error('of the shop');
    });
    await expect(failing).rejects.toThrow('of the shop');
    await expect(left?.executeQuery(sql('late'))).rejects.toThrow('The transaction has ended');
  });
});

describe('a transaction of Kysely over MySQL', () => {
  const DEADLOCK = Object.assign(new Error('deadlock'), { errno: 1213 });

  it('is lent behind a gate, which goes with it', async () => {
    const { db, asked, connection, executeQuery } = kysely({ adapter: new MysqlAdapter() });
    const adapted = open(db);
    await adapted.transaction(async (tx, query) => {
      await query('ours');
      await adapted.lend?.(tx, async lent => {
        await expect(lent.executeQuery(sql('commit'))).rejects.toThrow('COMMIT and ROLLBACK are refused');
        expect(() => lent.stream()).toThrow('tx has no streams: read them with a connection of your own.');
        await lent.executeQuery(sql('credit'));
      });
      await expect(tx.executeQuery(sql('late'))).rejects.toThrow('The transaction has ended');
    });
    expect(asked.slice(2)).toEqual(['ours', 'credit', 'commit']);
    expect([connection.executeQuery, connection.streamQuery()]).toEqual([executeQuery, 'a stream']);
  });

  it('is undone whole by a deadlock', async () => {
    const { db } = kysely({ adapter: new MysqlAdapter(), fail: text => text === 'credit' && DEADLOCK });
    const adapted = open(db);
    const failing = adapted.transaction(tx =>
      Promise.resolve(adapted.lend?.(tx, lent => lent.executeQuery(sql('credit')).catch(() => {}))),
    );
    expect(await errorOf(failing)).toBeInstanceOf(RolledBack);
  });
});
