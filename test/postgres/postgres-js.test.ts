// fromPostgresJs over a double of postgres.js, by itself and under Drizzle: what becomes of its handles at their end.
import { fromDrizzle, fromPostgresJs } from 'payment-gateway-sdk/postgres';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withPlainNames } from '../../src/postgres/postgres-js.ts';
import type { SqlQuery } from '../../src/sql/database.ts';
import { dialectOf } from '../support/drizzle.ts';
import { errorOf } from '../support/fixtures.ts';

const ENDED = 'The transaction has ended: onPayment has returned';

interface Sql {
  (...args: unknown[]): Promise<unknown>;
  unsafe(sql: string, values?: unknown[], options?: object): Promise<unknown[]>;
  savepoint(...args: unknown[]): Promise<unknown>;
  marker: string;
}

/** What postgres() returns: a function with methods, which keeps what it was asked. */
function postgres(options: object = { max: 4 }) {
  const asked: unknown[][] = [];
  const handle = (name: string): Sql =>
    Object.assign(async (...args: unknown[]) => void asked.push([name, ...args]), {
      unsafe: async (sql: string, values?: unknown[], given?: object) => {
        asked.push([name, sql, values, given]);
        return [{ Sql: sql }];
      },
      async savepoint(...args: unknown[]) {
        asked.push([name, 'savepoint', ...args.slice(0, -1)]);
        return (args.at(-1) as (inner: Sql) => unknown)(handle(`${name}, within`));
      },
      marker: name,
    });
  const begin = async (level: string, work: (tx: Sql) => Promise<unknown>) => {
    asked.push(['begin', level]);
    const value = await work(handle('tx'));
    asked.push(['commit']);
    return value;
  };
  const { savepoint, ...root } = handle('root');
  const sql = Object.assign(async (..._: unknown[]) => {}, root, { begin, options });
  return { sql, asked };
}
const open = (sql: object) => fromPostgresJs<Sql>(sql as never);
const PREPARED = { prepare: true };

describe('fromPostgresJs', () => {
  it.each([
    ['nothing', undefined, 'fromPostgresJs takes what postgres() returns.'],
    ['something else', {}, 'fromPostgresJs takes what postgres() returns.'],
    [
      'the sql of a transaction',
      { unsafe() {}, savepoint() {} },
      'fromPostgresJs takes what postgres() returns, and neither the sql of a transaction nor a reserved one.',
    ],
    ['a reserved one', { unsafe() {}, begin() {} }, 'and neither the sql of a transaction nor a reserved one.'],
    ['a part of one', { begin() {}, options: {} }, 'fromPostgresJs takes what postgres() returns.'],
  ])('refuses %s', (_, given, message) => {
    expect(() => open(given as never)).toThrow(message);
  });

  it('sends prepared statements, unless the merchant prepares none', async () => {
    const { sql, asked } = postgres();
    expect(await open(sql).query('select $1', ['a'])).toEqual([{ sql: 'select $1' }]);
    await open(sql).query('select 1');
    expect(asked).toEqual([
      ['root', 'select $1', ['a'], PREPARED],
      ['root', 'select 1', [], PREPARED],
    ]);
    const other = postgres({ prepare: false });
    await open(other.sql).query('select 1');
    expect(other.asked).toEqual([['root', 'select 1', [], { prepare: false }]]);
    expect([open(sql).dialect, open(sql).pool]).toEqual(['postgres', { identity: sql, max: 4 }]);
  });

  describe('in a transaction of the merchant’s', () => {
    afterEach(() => void vi.useRealTimers());

    /** A query of postgres.js, which has no state until it is sent. */
    class Query {
      state: object | null = null;
      readonly #settling = Promise.withResolvers<object[]>();
      /** Milliseconds from now. */
      constructor({ sentAfter, answeredAfter }: { sentAfter?: number; answeredAfter?: number }) {
        if (sentAfter !== undefined) setTimeout(() => Object.assign(this, { state: {} }), sentAfter);
        if (answeredAfter !== undefined) setTimeout(() => this.#settling.resolve([{ a: '1' }]), answeredAfter);
      }
      // biome-ignore lint/suspicious/noThenProperty: postgres.js sends a query as soon as somebody awaits it
      then(...given: Parameters<Promise<object[]>['then']>) {
        return this.#settling.promise.then(...given);
      }
    }
    const queryOver = (...queries: Query[]) => {
      const { sql } = postgres();
      const tx = { savepoint() {}, unsafe: () => queries.shift() };
      return open(sql).queryIn?.(tx as never) as SqlQuery;
    };
    it('sends a statement before anybody awaits it', () => {
      const execute = vi.fn();
      void queryOver(Object.assign(new Query({}), { execute }))('first');
      expect(execute).toHaveBeenCalledTimes(1);
    });

    const both = (query: SqlQuery) => Promise.all([errorOr(query('first')), errorOr(query('second'))]);
    const errorOr = (promise: Promise<unknown>) => promise.catch(error => error);

    it.each([
      ['that was sent with the first one', { sentAfter: 0, answeredAfter: 60_000 }],
      ['that is sent a moment after the first one was answered', { sentAfter: 1_009, answeredAfter: 60_000 }],
    ])('waits for a statement %s as long as it takes', async (_, second) => {
      vi.useFakeTimers();
      const answers = both(queryOver(new Query({ sentAfter: 0, answeredAfter: 10 }), new Query(second)));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await answers).toEqual([[{ a: '1' }], [{ a: '1' }]]);
    });

    it('tells within a second of one that is never sent, because the transaction has ended', async () => {
      vi.useFakeTimers();
      const answers = both(queryOver(new Query({ sentAfter: 0, answeredAfter: 10 }), new Query({})));
      await vi.advanceTimersByTimeAsync(1_010);
      expect(await answers).toEqual([
        [{ a: '1' }],
        expect.objectContaining({
          name: 'ConfigurationError',
          message: expect.stringContaining('no open transaction'),
        }),
      ]);
    });

    it('tells so of a third one as well, which was asked while the second one ran', async () => {
      vi.useFakeTimers();
      const second = new Query({ sentAfter: 0, answeredAfter: 5_000 });
      const query = queryOver(new Query({ sentAfter: 0, answeredAfter: 10 }), second, new Query({}));
      const answers = both(query);
      await vi.advanceTimersByTimeAsync(10);
      const third = errorOf(query('third'));
      await vi.advanceTimersByTimeAsync(6_000);
      expect(await third).toHaveProperty('name', 'ConfigurationError');
      expect(await answers).toEqual([[{ a: '1' }], [{ a: '1' }]]);
    });

    it('waits for one that comes behind statements of the merchant’s, whatever was asked before', async () => {
      vi.useFakeTimers();
      const behind = { sentAfter: 30_000, answeredAfter: 30_001 };
      const query = queryOver(new Query({ sentAfter: 0, answeredAfter: 10 }), new Query(behind));
      const first = query('first');
      await vi.advanceTimersByTimeAsync(10);
      await first;
      const second = query('second');
      await vi.advanceTimersByTimeAsync(30_001);
      expect(await second).toEqual([{ a: '1' }]);
    });
  });

  it('plans only in a transaction', async () => {
    const { sql, asked } = postgres();
    await sql.begin('', tx => open(sql).queryIn?.(tx)('select 1') as Promise<unknown>);
    expect(asked[1]).toEqual(['tx', 'select 1', [], PREPARED]);
    for (const wrong of [undefined, {}, sql]) {
      expect(() => open(sql).queryIn?.(wrong as never)).toThrow(
        'plan takes as its tx the sql of sql.begin(async sql => …). Nothing was planned.',
      );
    }
  });

  it('listens until the signal, also if that comes first', async () => {
    const { sql } = postgres();
    const calls: unknown[] = [];
    const listening = Promise.withResolvers<void>();
    const listen = async (channel: string, onNotice: () => void) => {
      calls.push(channel, onNotice);
      await listening.promise;
      return { unlisten: async () => void calls.push('unlisten') };
    };
    const onNotice = () => {};
    for (const isEarly of [false, true]) {
      calls.length = 0;
      const stop = new AbortController();
      let isOver = false;
      const running = open(Object.assign(sql, { listen }))
        .listen?.('plans', onNotice, stop.signal)
        .then(() => {
          isOver = true;
        });
      if (isEarly) stop.abort();
      listening.resolve();
      await new Promise(setImmediate);
      expect(isOver).toBe(isEarly);
      stop.abort();
      await running;
      await new Promise(setImmediate);
      expect(calls).toEqual(['plans', onNotice, 'unlisten']);
    }
  });

  it('leaves it to postgres.js to listen again after a failure, and goes on where there is no listening', async () => {
    const { sql } = postgres();
    let listeners = 0;
    // postgres.js keeps the listener all the same, and listens for it again once it has a connection.
    const listen = async () => {
      listeners += 1;
      throw new Error('connect ECONNREFUSED');
    };
    for (const one of [{ ...sql, listen }, sql]) {
      const stop = new AbortController();
      let isOver = false;
      const listening = open(one)
        .listen?.('plans', () => {}, stop.signal)
        .then(() => {
          isOver = true;
        });
      await new Promise(setImmediate);
      expect(isOver).toBe(false);
      stop.abort();
      expect(await listening).toBeUndefined();
    }
    expect(listeners).toBe(1);
  });
});

describe('a transaction of postgres.js', () => {
  it('begins at READ COMMITTED, and answers as postgres.js does', async () => {
    const { sql, asked } = postgres();
    const value = await open(sql).transaction(async (tx, query) => {
      await tx('credit');
      expect([tx.marker, await query('ours')]).toEqual(['tx', [{ sql: 'ours' }]]);
      await tx.savepoint('name', async (inner: Sql) => {
        await inner('part');
        await inner.savepoint(async (innermost: Sql) => innermost('part of it'));
      });
      return 'done';
    });
    expect([value, asked]).toEqual([
      'done',
      [
        ['begin', 'isolation level read committed read write'],
        ['tx', 'credit'],
        ['tx', 'ours', [], PREPARED],
        ['tx', 'savepoint', 'name'],
        ['tx, within', 'part'],
        ['tx, within', 'savepoint'],
        ['tx, within, within', 'part of it'],
        ['commit'],
      ],
    ]);
  });

  it('takes nothing after its end, also by what was begun within it', async () => {
    const { sql, asked } = postgres();
    const left: Sql[] = [];
    await open(sql).transaction(async tx => {
      left.push(tx);
      await tx.savepoint(async (inner: Sql) => void left.push(inner));
    });
    const sent = asked.length;
    for (const handle of left) {
      expect(() => handle('late')).toThrow(ENDED);
      expect(() => handle.unsafe('late')).toThrow(ENDED);
      expect(() => handle.savepoint(async () => {})).toThrow(ENDED);
    }
    const failing = open(sql).transaction(async tx => {
      left.push(tx);
      throw new Error('of the shop');
    });
    await expect(failing).rejects.toThrow('of the shop');
    expect(() => left.at(-1)?.('late')).toThrow(ENDED);
    expect(asked.slice(sent)).toEqual([['begin', 'isolation level read committed read write']]);
  });

  it('takes nothing after its end by a method that was taken out before, and sends nothing that was only written then', async () => {
    const sent: string[] = [];
    const query = (name: string) => ({
      handler: Object.assign((_query: unknown) => void sent.push(name), { debug: true }),
      reject: (error: Error) => void sent.push(error.message),
    });
    const handle = Object.assign(() => query('tag'), {
      unsafe: () => query('unsafe'),
      file: () => query('file'),
      savepoint: async () => {},
    });
    const begin = async (_: string, work: (tx: unknown) => Promise<unknown>) => work(handle);
    const { sql } = postgres();
    type Lazy = ReturnType<typeof query>;
    const made = await open(Object.assign(sql, { begin })).transaction(async tx => {
      const { unsafe, file, savepoint } = tx as unknown as Record<'unsafe' | 'file' | 'savepoint', () => Lazy>;
      const lazy = [tx('insert'), unsafe(), file()] as unknown as Lazy[];
      for (const each of lazy) each.handler(each);
      return { unsafe, file, savepoint, lazy };
    });
    expect([sent.splice(0), made.lazy.every(({ handler }) => handler.debug)]).toEqual([
      ['tag', 'unsafe', 'file'],
      true,
    ]);
    for (const each of made.lazy) each.handler(each);
    expect(sent).toEqual([
      expect.stringContaining(ENDED),
      expect.stringContaining(ENDED),
      expect.stringContaining(ENDED),
    ]);
    for (const late of [made.unsafe, made.file, made.savepoint]) expect(() => late()).toThrow(ENDED);
  });

  it('passes on what is no query, such as the name of a column', async () => {
    const { sql } = postgres();
    const name = Object.freeze({ value: 'amount' });
    const begin = async (_: string, work: (tx: unknown) => Promise<unknown>) => work(() => name);
    expect(await open(Object.assign(sql, { begin })).transaction(async tx => tx('amount'))).toBe(name);
  });

  it('never settles a work behind its end, whose connection is somebody else’s by then', async () => {
    const { sql } = postgres();
    const lost = new Error('CONNECTION_CLOSED');
    const works: Promise<unknown>[] = [];
    const begin = (_: string, work: (tx: Sql) => Promise<unknown>) => {
      works.push(
        work(
          Object.assign(async () => {}, {
            savepoint: (inner: (tx: Sql) => unknown) => works.push(Promise.resolve(inner({} as Sql))),
          }) as never,
        ),
      );
      return Promise.reject(lost);
    };
    const failing = open({ ...sql, unsafe: sql.unsafe, options: {}, begin }).transaction(async tx => {
      tx.savepoint(async () => 'part');
      return 'done';
    });
    expect(await errorOf(failing)).toBe(lost);
    let settled = 0;
    const settle = () => {
      settled += 1;
    };
    for (const work of works) work.then(settle, settle);
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
    expect([works.length, settled]).toEqual([2, 0]);
  });

  it('is lent until the work returns, or fails', async () => {
    const { sql, asked } = postgres();
    const db = open(sql);
    await db.transaction(async (tx, query) => {
      for (const fails of [false, true]) {
        let left: Sql | undefined;
        const lending = db.lend(tx, async lent => {
          left = lent;
          await lent('credit');
          if (fails) throw new Error('of the shop');
        });
        if (fails) await expect(lending).rejects.toThrow('of the shop');
        else await lending;
        expect(() => left?.('late')).toThrow(ENDED);
      }
      await query('ours');
    });
    expect(asked.map(([, text]) => text)).toEqual([expect.any(String), 'credit', 'credit', 'ours', undefined]);
  });
});

describe('columns that a transform has renamed', () => {
  it('have the names of our statements', () => {
    expect(withPlainNames([{ Revision: 1 }, { Revision: 2 }])).toEqual([{ revision: 1 }, { revision: 2 }]);
    const plain = [{ revision: 1 }];
    expect(withPlainNames(plain)).toBe(plain);
    expect(withPlainNames([{ scope: 'eu', dueAt: 1 }])).toEqual([{ scope: 'eu', dueat: 1 }]);
    expect(withPlainNames([])).toEqual([]);
  });
});

describe('fromDrizzle over postgres.js', () => {
  const dialect = dialectOf('PgDialect');
  /** As Drizzle's over postgres.js: its handle sends by the client of its session. */
  class Session {
    client: { begin(work: (sql: Sql) => unknown): Promise<unknown> };
    dialect = dialect;
    schema = undefined;
    options = {};
    constructor(client: Session['client']) {
      this.client = client;
    }
    transaction(work: (tx: object) => unknown) {
      return this.client.begin(sql => {
        const session = new Session(sql as never);
        const execute = (query: { getSQL(): { toQuery(): { sql: string; params: unknown[] } } }) => {
          const { sql: text, params } = query.getSQL().toQuery();
          return (session.client as unknown as Sql).unsafe(text, params);
        };
        return work({ nestedIndex: 0, session, execute });
      });
    }
  }
  interface Tx {
    session: { client: Sql };
    execute(query: object): Promise<unknown>;
  }

  it('lends the handle, whose statements end with the work', async () => {
    const { sql, asked } = postgres();
    const db = fromDrizzle<Tx>({ $client: sql, dialect, session: new Session(sql as never), execute() {} } as never);
    await db.transaction(async (tx, query) => {
      expect(await db.queryIn?.(tx)('planned', ['a'])).toEqual([{ sql: 'planned' }]);
      await db.lend?.(tx, async lent => {
        expect(lent).toBe(tx);
        await lent.session.client('credit');
      });
      expect(() => tx.session.client('late')).toThrow(ENDED);
      await query('ours');
      expect(() => db.queryIn?.({} as never)).toThrow('plan takes as its tx that of db.transaction(async tx => …)');
    });
    expect(asked.map(part => part.slice(0, 3))).toEqual([
      ['begin', 'isolation level read committed read write'],
      ['tx', 'planned', ['a']],
      ['tx', 'credit'],
      ['tx', 'ours', []],
      ['commit'],
    ]);
  });

  it.each([
    [
      'a single client',
      { escapeIdentifier() {}, connect() {}, query() {} },
      'fromDrizzle takes a database over a pool, as of drizzle({ client: new pg.Pool() }): over one client',
    ],
    ['another driver', {}, 'fromDrizzle takes a database over a pool of pg, or over postgres.js.'],
    ['half a pool', { connect() {} }, 'fromDrizzle takes a database over a pool of pg, or over postgres.js.'],
  ])('refuses one over %s', (_, $client, message) => {
    const session = new Session(undefined as never);
    expect(() => fromDrizzle({ $client, dialect, session, execute() {} } as never)).toThrow(message);
  });

  it('takes rows as pg answers them, and plans only in a transaction', async () => {
    const $client = { connect() {}, query() {} };
    const db = fromDrizzle<Tx>({ $client, dialect, session: new Session(undefined as never), execute() {} } as never);
    const tx = { nestedIndex: 0, execute: async () => ({ rows: [{ Revision: '1' }] }) };
    expect(await db.queryIn?.(tx as never)('select 1')).toEqual([{ revision: '1' }]);
    expect(() => db.queryIn?.({} as never)).toThrow('plan takes as its tx that of db.transaction(async tx => …)');
  });
});
