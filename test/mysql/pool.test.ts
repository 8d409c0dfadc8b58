// A pool of mysql2 as a database, over a double of it, by itself and under Drizzle: what is sent, lent, and given back.
import { EventEmitter } from 'node:events';
import { fromDrizzle, mysqlInbox } from 'payment-gateway-sdk/mysql';
import { describe, expect, it } from 'vitest';
import { mysqlPoolOf } from '../../src/adapters/mysql2.ts';
import { fromPool } from '../../src/mysql/pool.ts';
import { RolledBack } from '../../src/sql/bounded.ts';
import { dialectOf } from '../support/drizzle.ts';
import { errorOf } from '../support/fixtures.ts';

type Callback = (error: unknown, ...answer: unknown[]) => void;
const DEADLOCK = Object.assign(new Error('deadlock'), { errno: 1213 });
const PLAIN = { rowsAsArray: false, nestTables: false, namedPlaceholders: false, typeCast: true };
const ENDED = 'The transaction has ended: onPayment has returned';
const KEPT = 'tx is lent to onPayment, and the inbox ends its transaction and releases it itself';

/** A pool whose connections keep what they were asked: with callbacks inside, as mysql2 makes those with promises. */
function pool(answer: unknown = [{ a: '1' }]) {
  const asked: unknown[][] = [];
  const ends: string[] = [];
  const cores: (EventEmitter & { query: unknown })[] = [];
  class Connection {
    connection = Object.assign(new EventEmitter(), {
      query: (...args: unknown[]) => this.#answer('query', args),
      execute: (...args: unknown[]) => this.#answer('execute', args),
    });
    threadId = 7;
    #answer(method: string, args: unknown[]) {
      asked.push([method, ...args.slice(0, -1)]);
      const text = String((args[0] as { sql?: string }).sql ?? args[0]);
      (args.at(-1) as Callback)(text.includes('deadlock') ? DEADLOCK : null, answer, ['fields']);
    }
    #promised(method: 'query' | 'execute', args: unknown[]) {
      return new Promise<[unknown, unknown]>((resolve, reject) => {
        this.connection[method](...args, (error: unknown, ...all: [unknown, unknown]) =>
          error ? reject(error) : resolve(all),
        );
      });
    }
    query(...args: unknown[]) {
      return this.#promised('query', args);
    }
    execute(...args: unknown[]) {
      return this.#promised('execute', args);
    }
    release() {
      ends.push('release');
    }
    destroy() {
      ends.push('destroy');
    }
    commit() {}
    prepare() {}
    whoami() {
      return this.threadId;
    }
  }
  const getConnection = async () => {
    const own = new Connection();
    cores.push(own.connection);
    return own;
  };
  return { pool: { getConnection, config: { connectionLimit: 4 } }, asked, ends, cores, Connection };
}
type Connection = InstanceType<ReturnType<typeof pool>['Connection']>;
const open = (given: object) => fromPool<Connection>(given as never);

describe('a pool of mysql2', () => {
  it('is taken with promises, and with callbacks', async () => {
    const { pool: given } = pool();
    const withCallbacks = { promise: () => given };
    for (const each of [given, withCallbacks]) {
      expect(await open(each).query('select 1')).toEqual([{ a: '1' }]);
      expect(open(each)).toMatchObject({ dialect: 'mysql', checksCommit: true, pool: { max: 4 } });
    }
    expect(mysqlPoolOf(undefined)).toBeUndefined();
    const core = { config: { connectionLimit: '4' } };
    // With promises, the pool within is the one.
    expect(mysqlPoolOf({ pool: core })).toEqual({ identity: core, max: 4 });
    expect(mysqlPoolOf({ pool: core })?.identity).toBe(core);
    expect(mysqlPoolOf(given)?.identity).toBe(given);
    expect(mysqlPoolOf({})?.max).toBe(10);
  });

  it('sends statements prepared, if they have values, on a connection that it gives back', async () => {
    const { pool: given, asked, ends } = pool();
    const { query } = open(given);
    await query('select ?', ['a']);
    await query('select 1');
    expect([asked, ends]).toEqual([
      [
        ['execute', { sql: 'select ?', ...PLAIN, values: ['a'] }],
        ['query', { sql: 'select 1', ...PLAIN }],
      ],
      ['release', 'release'],
    ]);
    await errorOf(query('deadlock'));
    expect(ends).toHaveLength(3);
  });

  it('tells how many rows a write has changed', async () => {
    expect(await open(pool({ affectedRows: 3 }).pool).query('update a')).toEqual([{ affected: '3' }]);
  });

  it('runs transactions at READ COMMITTED that can write', async () => {
    const { pool: given, asked, ends } = pool();
    const value = await open(given).transaction(async (_, query) => {
      await query('insert ?', ['a']);
      return 'done';
    });
    expect([value, asked, ends]).toEqual([
      'done',
      [
        ['query', 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'],
        ['query', 'START TRANSACTION READ WRITE'],
        ['execute', { sql: 'insert ?', ...PLAIN, values: ['a'] }],
        ['query', 'COMMIT'],
      ],
      ['release'],
    ]);
  });

  it('ends a connection that broke', async () => {
    const { pool: given, ends, cores } = pool();
    const failing = open(given).transaction(async () => {
      cores[0]?.emit('error', new Error('PROTOCOL_CONNECTION_LOST'));
      throw new Error('of the shop');
    });
    await expect(failing).rejects.toThrow('of the shop');
    expect(ends).toEqual(['destroy']);
  });

  it('plans in a connection with promises, and in nothing else', async () => {
    const { pool: given, asked, Connection } = pool();
    await open(given).queryIn?.(new Connection())('select 1');
    expect(asked).toHaveLength(1);
    const withCallbacks = Object.assign(new Connection(), { promise() {} });
    const aPool = { query() {}, getConnection() {} };
    for (const wrong of [undefined, {}, { query: 1 }, withCallbacks, aPool]) {
      expect(() => open(given).queryIn?.(wrong as never)).toThrow(
        'plan takes as its tx a connection with promises, as of await pool.promise().getConnection(), after its START TRANSACTION. Nothing was planned.',
      );
    }
  });
});

describe('a connection of mysql2 that is lent', () => {
  it('sends by its gate, and takes nothing once it was lent', async () => {
    const { pool: given, asked } = pool();
    const db = open(given);
    let left: Connection | undefined;
    await db.transaction(async (tx, query) => {
      await db.lend?.(tx, async lent => {
        left = lent;
        expect([await lent.query('credit', ['a']), lent.threadId, lent.whoami()]).toEqual([
          [[{ a: '1' }], ['fields']],
          7,
          7,
        ]);
        await lent.execute('credit', ['b']);
        await expect(lent.query('commit')).rejects.toThrow('BEGIN, COMMIT and ROLLBACK are refused');
      });
      await expect(left?.query('late')).rejects.toThrow(ENDED);
      await expect(left?.execute('late')).rejects.toThrow(ENDED);
      await query('/* payment-gateway-sdk */ ours');
    });
    expect(asked.slice(2).map(([method, text]) => [method, (text as { sql?: string }).sql ?? text])).toEqual([
      ['query', 'credit'],
      ['execute', 'credit'],
      ['query', '/* payment-gateway-sdk */ ours'],
      ['query', 'COMMIT'],
    ]);
    // What sends nothing goes on.
    expect(left?.whoami()).toBe(7);
    // Somebody else may have the connection by now.
    await expect(left?.query('late')).rejects.toThrow(ENDED);
  });

  it('stays the inbox’s', async () => {
    const { pool: given, ends } = pool();
    const db = open(given);
    const owners = ['beginTransaction', 'changeUser', 'commit', 'destroy', 'end', 'release', 'reset', 'rollback'];
    await db.transaction(async tx => {
      await db.lend?.(tx, async lent => {
        for (const name of [...owners, Symbol.asyncDispose]) {
          await expect((lent as never as Record<PropertyKey, () => unknown>)[name]?.()).rejects.toThrow(KEPT);
        }
        await expect(lent.prepare()).rejects.toThrow(
          'tx takes query() and execute(), which prepares by itself: leave out prepare().',
        );
      });
    });
    expect(ends).toEqual(['release']);
  });

  it('takes nothing after a work that failed, and is undone whole by a deadlock', async () => {
    const { pool: given, asked } = pool();
    const db = open(given);
    let left: Connection | undefined;
    const failing = db.transaction(async tx => {
      await db.lend?.(tx, async lent => {
        left = lent;
        await lent.query('deadlock').catch(() => {});
      });
    });
    expect(await errorOf(failing)).toBeInstanceOf(RolledBack);
    await expect(left?.query('late')).rejects.toThrow(ENDED);
    expect(asked.at(-1)).toEqual(['query', 'ROLLBACK']);
  });
});

describe('fromDrizzle over mysql2', () => {
  const dialect = dialectOf('MySqlDialect');
  class Session {
    client: { query(...args: unknown[]): Promise<unknown> };
    constructor(client: Session['client']) {
      this.client = client;
    }
    async transaction(work: (tx: object) => Promise<unknown>) {
      const begun = await this.client.query({ sql: 'begin' });
      const execute = (query: { getSQL(): { toQuery(): { sql: string } } }) =>
        this.client.query(query.getSQL().toQuery().sql);
      const value = await work({ nestedIndex: 0, begun, execute });
      await this.client.query({ sql: 'commit' });
      return value;
    }
  }
  const drizzle = ($client: object) =>
    ({ $client, dialect, session: new Session(undefined as never), execute() {} }) as never;
  interface Tx {
    begun: unknown;
    execute(query: object): Promise<unknown>;
  }

  it('has one transaction, which is ours', async () => {
    const { pool: given, asked } = pool();
    const db = fromDrizzle<Tx>(drizzle(given));
    await db.transaction(async tx => {
      expect(tx.begun).toEqual([[]]);
      expect(await db.queryIn?.(tx)('planned')).toEqual([{ a: '1' }]);
    });
    expect(asked.map(([, text]) => text).slice(2)).toEqual(['planned', 'COMMIT']);
    expect(() => db.queryIn?.({} as never)).toThrow('plan takes as its tx that of db.transaction(async tx => …)');
  });

  it.each([
    [
      'one connection',
      { beginTransaction() {}, getConnection() {} },
      'fromDrizzle takes a database over a pool, as of drizzle({ client: mysql.createPool() }): over one connection',
    ],
    ['another driver', {}, 'fromDrizzle takes a database over a pool of mysql2.'],
  ])('refuses one over %s', (_, client, message) => {
    expect(() => fromDrizzle(drizzle(client))).toThrow(message);
  });
});

it('a pool that is none is refused by the stores', () => {
  for (const neither of [undefined, {}, { getConnection: 1 }]) {
    expect(() => mysqlInbox(neither as never)).toThrow('mysqlInbox takes a pool, such as ');
  }
});
