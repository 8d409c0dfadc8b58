// fromKnex over a double of it: what is asked of it, and who may end its transactions.
import { fromKnex } from 'payment-gateway-sdk/postgres';
import { describe, expect, it, vi } from 'vitest';
import { RolledBack } from '../../src/sql/bounded.ts';
import { errorOf } from '../support/fixtures.ts';

type Callback = (error: unknown, ...answer: unknown[]) => void;

/** A Knex that keeps what it was asked. @param answer what raw() answers */
function knex(client: object | undefined, answer: unknown = { rows: [{ a: '1' }] }) {
  const asked: unknown[][] = [];
  const connection = {
    query: (...args: unknown[]) => {
      asked.push(['connection', args[0]]);
      (args.at(-1) as Callback)(args[0] === 'deadlock' ? Object.assign(new Error('deadlock'), { errno: 1213 }) : null);
    },
    execute: (..._: unknown[]) => {},
  };
  const { query } = connection;
  const raw = async (...args: unknown[]) => {
    asked.push(args);
    return answer;
  };
  const ended: string[] = [];
  const tx = {
    isTransaction: true,
    raw,
    transaction() {},
    client: { acquireConnection: async () => connection },
    commit: async () => void ended.push('commit'),
    rollback: async () => void ended.push('rollback'),
    /** As the query builder of Knex would. */
    send: (sql: string) =>
      new Promise<void>((resolve, reject) =>
        connection.query(sql, (error: unknown) => (error ? reject(error) : resolve())),
      ),
  };
  type Tx = typeof tx;
  const options: unknown[] = [];
  const db = {
    raw,
    client,
    async transaction<T>(work: (tx: Tx) => Promise<T>, given: unknown): Promise<T> {
      options.push(given);
      const value = await work(tx);
      connection.query('COMMIT', () => {});
      return value;
    },
    transactionProvider: () => async () => tx,
  };
  return { db, tx, asked, options, connection, query, ended };
}
const PG = { dialect: 'postgresql', driverName: 'pg' };
const MYSQL = { dialect: 'mysql', driverName: 'mysql2' };

describe('fromKnex', () => {
  it.each([{ dialect: 'postgresql' }, { dialect: 'mysql', driverName: 'mysql2' }])(
    'sends a statement before anybody awaits it: %o',
    client => {
      const then = vi.fn(() => new Promise(() => {}));
      const raw = () => ({ then });
      void fromKnex({ ...knex(client).db, raw } as never).query('select 1');
      expect(then).toHaveBeenCalledTimes(1);
    },
  );

  it.each([
    ['pg', PG, 'postgres'],
    ['mysql2', MYSQL, 'mysql'],
    ['nothing that it tells', undefined, 'postgres'],
  ])('takes a Knex over %s', (_, client, dialect) => {
    expect(fromKnex(knex(client).db).dialect).toBe(dialect);
  });

  it.each([
    ['mysql', { dialect: 'mysql', driverName: 'mysql' }],
    ['better-sqlite3', { dialect: 'sqlite3', driverName: 'better-sqlite3' }],
    ['oracledb', { dialect: 'oracledb' }],
  ])('refuses one over %s', (driver, client) => {
    expect(() => fromKnex(knex(client).db)).toThrow(
      `fromKnex takes a Knex over PostgreSQL or mysql2, and this one is over ${driver}.`,
    );
  });

  it.each([
    ['nothing', undefined, 'fromKnex takes what knex({ client: "pg", … }), or "mysql2", returns.'],
    ['a part of one', { raw() {} }, 'fromKnex takes what knex('],
    ['another part of one', { transaction() {} }, 'fromKnex takes what knex('],
    ['a transaction', knex(PG).tx, 'fromKnex takes what knex() returns, and none of its transactions.'],
  ])('refuses %s', (_, given, message) => {
    expect(() => fromKnex(given as never)).toThrow(message);
  });

  it('knows its pool by the client, or by itself', () => {
    const sized = { ...PG, config: { pool: { max: 4 } } };
    expect(fromKnex(knex(sized).db).pool).toEqual({ identity: sized, max: 4 });
    expect(fromKnex(knex({ ...PG, config: {} }).db).pool?.max).toBe(10);
    const { db } = knex(undefined);
    expect(fromKnex(db).pool).toEqual({ identity: db, max: 10 });
    expect(fromKnex(db).pool?.identity).toBe(db);
  });

  it('sends statements over Postgres with the placeholders of Knex', async () => {
    const { db, asked } = knex(PG);
    const { query } = fromKnex(db);
    expect(await query('select $2, $1, $2, $10', [...'abcdefghij'])).toEqual([{ a: '1' }]);
    expect(await query('select 1')).toEqual([{ a: '1' }]);
    expect(asked).toEqual([
      ['select ?, ?, ?, ?', ['b', 'a', 'b', 'j']],
      ['select 1', []],
    ]);
  });

  it('takes rows that a postProcessResponse has taken out, and nothing else', async () => {
    expect(await fromKnex(knex(PG, [{ a: '2' }]).db).query('select 1')).toEqual([{ a: '2' }]);
    for (const answer of [null, { rows: 'none' }, {}, 'text']) {
      await expect(fromKnex(knex(PG, answer).db).query('select 1')).rejects.toThrow(
        'The postProcessResponse of this Knex changes answers of raw(): let it leave them as they are.',
      );
    }
    await expect(fromKnex(knex(MYSQL, {}).db).query('select 1')).rejects.toThrow(
      'The postProcessResponse of this Knex',
    );
  });

  it('tells over MySQL the rows, or how many a write has changed', async () => {
    const { db, asked } = knex(MYSQL, [[{ a: '1' }], ['fields']]);
    expect(await fromKnex(db).query('select ?', ['x'])).toEqual([{ a: '1' }]);
    expect(await fromKnex(db).query('select 1')).toEqual([{ a: '1' }]);
    expect(asked).toEqual([
      ['select ?', ['x']],
      ['select 1', []],
    ]);
    const write = knex(MYSQL, [{ affectedRows: 3 }, undefined]);
    expect(await fromKnex(write.db).query('update a')).toEqual([{ affected: '3' }]);
    expect(write.asked).toEqual([['update a', []]]);
  });

  it('begins transactions at READ COMMITTED, and plans in none but a transaction', async () => {
    const { db, tx, asked, options, connection, query: own } = knex(PG);
    const adapted = fromKnex(db);
    await adapted.transaction(async (given, query) => {
      expect(given).toBe(tx);
      // It has no gate: Postgres refuses by itself.
      expect(connection.query).toBe(own);
      await query('select 1');
    });
    await adapted.queryIn?.(tx)('select 2');
    expect([options, asked.slice(0, 2), adapted.lend]).toEqual([
      [{ isolationLevel: 'read committed' }],
      [
        ['select 1', []],
        ['connection', 'COMMIT'],
      ],
      undefined,
    ]);
    for (const wrong of [undefined, {}, db, Object.assign(() => {}, db)]) {
      expect(() => adapted.queryIn?.(wrong as never)).toThrow(
        'plan takes as its tx that of knex.transaction(async trx => …). Nothing was planned.',
      );
    }
  });
});

describe('a transaction of Knex over MySQL', () => {
  it('is lent behind a gate, and nobody ends it meanwhile', async () => {
    const { db, tx, asked, connection, query, ended } = knex(MYSQL, [[], []]);
    const { commit, rollback } = tx;
    const adapted = fromKnex(db);
    await adapted.transaction(async given => {
      await adapted.lend?.(given, async (lent: typeof tx) => {
        for (const end of [lent.commit, lent.rollback]) {
          await expect(end()).rejects.toThrow(
            'onPayment cannot end its transaction by itself: leave commit() and rollback() to the inbox.',
          );
        }
        await expect(lent.send('commit')).rejects.toThrow('COMMIT and ROLLBACK are refused');
        await lent.send('credit');
      });
      await expect(tx.send('late')).rejects.toThrow('The transaction has ended');
    });
    expect([asked, ended]).toEqual([
      [
        ['connection', 'credit'],
        ['connection', 'COMMIT'],
      ],
      [],
    ]);
    expect([tx.commit === commit, tx.rollback === rollback, connection.query === query]).toEqual([true, true, true]);
  });

  it('can be ended again after a work that failed, and is undone whole by a deadlock', async () => {
    const { db, tx } = knex(MYSQL, [[], []]);
    const { commit } = tx;
    const adapted = fromKnex(db);
    const failing = adapted.transaction(given =>
      Promise.resolve(adapted.lend?.(given, (lent: typeof tx) => lent.send('deadlock').catch(() => {}))),
    );
    expect(await errorOf(failing)).toBeInstanceOf(RolledBack);
    expect(tx.commit).toBe(commit);
  });
});
