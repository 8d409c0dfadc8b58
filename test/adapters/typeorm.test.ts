// fromTypeOrm over a double of its DataSource: which connection a statement takes, and what becomes of a manager at its end.
import { ConfigurationError } from 'payment-gateway-sdk';
import { fromTypeOrm } from 'payment-gateway-sdk/postgres';
import { describe, expect, it } from 'vitest';
import { RolledBack } from '../../src/sql/bounded.ts';
import { errorOf } from '../support/fixtures.ts';

type Callback = (error: unknown, ...answer: unknown[]) => void;
const ANSWER = { records: [{ a: '1' }] };
const DEADLOCK = Object.assign(new Error('deadlock'), { errno: 1213 });

/** A DataSource whose runners keep what they were asked. */
function source(options?: object, { answer = ANSWER as object, isInitialized = true as boolean | undefined } = {}) {
  const asked: unknown[][] = [];
  const connection = {
    query: (...args: unknown[]) => {
      asked.push(['connection', args[0]]);
      (args.at(-1) as Callback)(args[0] === 'deadlock' ? DEADLOCK : null);
    },
    execute: (..._: unknown[]) => {},
  };
  const { query } = connection;
  class Runner {
    async query(...args: unknown[]): Promise<{ records: unknown[]; affected?: number }> {
      asked.push(args);
      return answer as typeof ANSWER;
    }
    async release() {
      asked.push(['release']);
    }
    async connect() {
      return connection;
    }
  }
  const runner = new Runner();
  const manager = {
    queryRunner: runner as Runner | undefined,
    /** As a repository of TypeORM would, over mysql2. */
    send: (sql: string) =>
      new Promise<void>((resolve, reject) =>
        connection.query(sql, (error: unknown) => (error ? reject(error) : resolve())),
      ),
  };
  type Manager = typeof manager;
  const dataSource = {
    options,
    isInitialized,
    manager: { ...manager, queryRunner: undefined } as Manager,
    createQueryRunner(mode?: string) {
      asked.push(['runner', mode]);
      return new Runner();
    },
    async transaction<T>(level: string, work: (tx: Manager) => Promise<T>): Promise<T> {
      asked.push([level]);
      const value = await work(manager);
      await runner.query('COMMIT');
      return value;
    },
  };
  return { dataSource, manager, runner, asked, connection, query };
}
const open = (given: ReturnType<typeof source>) => fromTypeOrm(given.dataSource);

describe('fromTypeOrm', () => {
  it.each([
    ['postgres', 'postgres'],
    ['aurora-postgres', 'postgres'],
    [undefined, 'postgres'],
    ['mysql', 'mysql'],
    ['mariadb', 'mysql'],
  ])('speaks, over a type %s, %s', (type, dialect) => {
    expect(open(source({ type })).dialect).toBe(dialect);
  });

  it('takes one that does not tell its options', () => {
    expect(open(source())).toMatchObject({ dialect: 'postgres', pool: { max: 10 } });
  });

  it.each(['sqlite', 'aurora-mysql', 'mysql2'])('refuses the type %s', type => {
    expect(() => open(source({ type }))).toThrow(
      `fromTypeOrm takes a DataSource over PostgreSQL or MySQL, and this one is of type ${type}.`,
    );
  });

  it.each([
    ['nothing', undefined],
    ['an EntityManager', { transaction() {} }],
    ['a part of a DataSource', { createQueryRunner() {} }],
  ])('refuses %s', (_, given) => {
    expect(() => fromTypeOrm(given as never)).toThrow(
      'fromTypeOrm takes a new DataSource(), and neither its EntityManager nor a QueryRunner.',
    );
  });

  it.each([
    [{ extra: { max: 3, connectionLimit: 4 }, poolSize: 5 }, 3],
    [{ extra: { connectionLimit: 4 }, poolSize: 5 }, 4],
    [{ extra: {}, poolSize: 5 }, 5],
    [{ poolSize: 5 }, 5],
    [{}, 10],
  ])('takes the size of its pool from %o', (options, max) => {
    const given = source(options);
    expect(open(given).pool).toEqual({ identity: given.dataSource, max });
    expect(open(given).pool?.identity).toBe(given.dataSource);
  });

  it('sends a statement by a runner of the primary, and gives that back, also after an error', async () => {
    const given = source();
    expect(await open(given).query('select $1', ['x'])).toEqual([{ a: '1' }]);
    expect(await open(given).query('select 1')).toEqual([{ a: '1' }]);
    expect(given.asked).toEqual([
      ['runner', 'master'],
      ['select $1', ['x'], true],
      ['release'],
      ['runner', 'master'],
      ['select 1', [], true],
      ['release'],
    ]);
    const failing = source(undefined, { answer: undefined as never });
    Object.defineProperty(failing.dataSource, 'createQueryRunner', {
      value: () => ({ query: () => Promise.reject(DEADLOCK), release: failing.runner.release.bind(failing.runner) }),
    });
    expect([await errorOf(open(failing).query('select 1')), failing.asked]).toEqual([DEADLOCK, [['release']]]);
  });

  it('tells over MySQL how many rows a write has changed', async () => {
    const write = source({ type: 'mysql' }, { answer: { records: [], affected: 0 } });
    expect(await open(write).query('update a')).toEqual([{ affected: '0' }]);
    expect(await open(source({ type: 'mysql' })).query('select 1')).toEqual([{ a: '1' }]);
    const other = source(undefined, { answer: { records: [{ a: '2' }], affected: 1 } });
    expect(await open(other).query('update a returning a')).toEqual([{ a: '2' }]);
  });

  it('asks to be initialised first, also for a transaction', async () => {
    const later = source(undefined, { isInitialized: false });
    for (const asked of [open(later).query('select 1'), open(later).transaction(async () => {})]) {
      const error = await errorOf(asked);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toHaveProperty(
        'message',
        'The DataSource is not connected: await dataSource.initialize() before the first payment.',
      );
    }
    expect(later.asked).toEqual([]);
    // One that does not tell may be.
    const { dataSource } = source(undefined, { isInitialized: undefined });
    expect(await fromTypeOrm(dataSource).query('select 1')).toEqual([{ a: '1' }]);
  });

  it('plans in no manager but that of a transaction', async () => {
    const given = source();
    await open(given).queryIn?.(given.manager)('select 2', ['x']);
    expect(given.asked).toEqual([['select 2', ['x'], true]]);
    for (const wrong of [undefined, {}, given.dataSource, given.dataSource.manager]) {
      expect(() => open(given).queryIn?.(wrong as never)).toThrow(
        'plan takes as its tx the EntityManager of dataSource.transaction(async manager => …). Nothing was planned.',
      );
    }
  });
});

describe('a transaction of TypeORM over Postgres', () => {
  it('takes nothing of the work once it was lent, but our own statements and its end', async () => {
    const given = source();
    const db = open(given);
    await db.transaction(async (tx, query) => {
      await query('ours');
      await db.lend?.(tx, async lent => void (await lent.queryRunner?.query('credit')));
      await expect(tx.queryRunner?.query('late')).rejects.toThrow('The transaction has ended');
      await expect(tx.queryRunner?.query('COMMIT; late')).rejects.toThrow('The transaction has ended');
      await expect(tx.queryRunner?.query('late; ROLLBACK')).rejects.toThrow('The transaction has ended');
      await query('ours again');
      await tx.queryRunner?.query('ROLLBACK', [], true);
    });
    expect(given.asked).toEqual([
      ['READ COMMITTED'],
      ['ours', [], true],
      ['credit'],
      ['ours again', [], true],
      ['ROLLBACK', [], true],
      ['COMMIT'],
    ]);
  });

  it('takes nothing after a work that failed', async () => {
    const given = source();
    await expect(open(given).lend?.(given.manager, () => Promise.reject(new Error('of the shop')))).rejects.toThrow(
      'of the shop',
    );
    await expect(given.runner.query('late')).rejects.toThrow('The transaction has ended');
  });

  it('is not ended by us where its work fails', async () => {
    const given = source();
    await errorOf(open(given).transaction(() => Promise.reject(new Error('of the shop'))));
    expect(given.asked).toEqual([['READ COMMITTED']]);
  });
});

describe('a transaction of TypeORM over MySQL', () => {
  it('is lent behind a gate, and ended where TypeORM has left it open', async () => {
    const given = source({ type: 'mysql' });
    const db = open(given);
    await db.transaction(async tx => {
      await db.lend?.(tx, async lent => {
        await expect(lent.send('commit')).rejects.toThrow('COMMIT and ROLLBACK are refused');
        await lent.send('credit');
      });
      await expect(tx.send('late')).rejects.toThrow('The transaction has ended');
    });
    // Its COMMIT has come by no connection here.
    expect(given.asked).toEqual([['READ COMMITTED'], ['connection', 'credit'], ['COMMIT'], ['connection', 'ROLLBACK']]);
    expect(given.connection.query).toBe(given.query);
  });

  it('is ended at once where its work fails, and undone whole by a deadlock', async () => {
    const given = source({ type: 'mariadb' });
    const db = open(given);
    const failing = db.transaction(tx => Promise.resolve(db.lend?.(tx, lent => lent.send('deadlock').catch(() => {}))));
    expect(await errorOf(failing)).toBeInstanceOf(RolledBack);
    expect(given.asked).toEqual([['READ COMMITTED'], ['connection', 'deadlock'], ['connection', 'ROLLBACK']]);
  });
});
