// What is behind fromDrizzle, over a double of Drizzle: its handles, which believe that they begin and commit a transaction.
import { describe, expect, it } from 'vitest';
import { checkTransaction, open, overClients, type Session, send } from '../../src/adapters/drizzle.ts';
import type { SqlDatabase, SqlQuery } from '../../src/sql/database.ts';
import { dialectOf } from '../support/drizzle.ts';
import { errorOf } from '../support/fixtures.ts';

interface Sender {
  query(...args: unknown[]): Promise<unknown>;
  execute(...args: unknown[]): Promise<unknown>;
}

/** As Drizzle's: sends BEGIN, runs the work, sends COMMIT or ROLLBACK. */
class DoubleSession {
  readonly given: unknown[];
  constructor(...given: unknown[]) {
    this.given = given;
  }
  get client() {
    return this.given[0] as Sender;
  }
  get dialect() {
    return this.given[1] as object;
  }
  get schema() {
    return this.given[2];
  }
  get options() {
    return this.given[3];
  }
  async transaction<T>(work: (tx: object) => Promise<T>): Promise<T> {
    const { client } = this;
    const answers = [await client.query({ text: 'begin' })];
    try {
      const value = await work({ client, nestedIndex: 0, answers });
      answers.push(await client.execute({ sql: 'commit' }));
      return value;
    } catch (error) {
      answers.push(await client.query({ text: 'rollback' }));
      throw error;
    }
  }
}

const CLIENT = {};
const SCHEMA = {};
const OPTIONS = {};
const drizzle = (dialect: object, changes: object = {}) =>
  ({
    $client: CLIENT,
    dialect,
    session: new DoubleSession(CLIENT, dialect, SCHEMA, OPTIONS),
    execute() {},
    ...changes,
  }) as never;

describe('a Drizzle', () => {
  it('is opened, with a session like its own over another client', () => {
    const dialect = dialectOf('PgDialect');
    const { client, sessionOver } = open(drizzle(dialect), 'PgDialect', 'PostgreSQL');
    expect(client).toBe(CLIENT);
    const other = {};
    const session = sessionOver(other) as Session & DoubleSession;
    expect(session).toBeInstanceOf(DoubleSession);
    expect(session.given).toEqual([other, dialect, SCHEMA, OPTIONS]);
    expect([session.given[0] === other, session.given[1] === dialect, session.given[2] === SCHEMA]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('has a client of its own if it tells one', () => {
    const dialect = dialectOf('PgDialect');
    expect(open(drizzle(dialect, { $client: undefined }), 'PgDialect', 'PostgreSQL').client).toEqual({});
    // One of them is enough to be one.
    expect(open(drizzle(dialect, { execute: undefined }), 'PgDialect', 'PostgreSQL').client).toBe(CLIENT);
  });

  it.each([
    ['nothing', undefined, 'fromDrizzle takes what drizzle() returns.'],
    ['something else', {}, 'fromDrizzle takes what drizzle() returns.'],
    [
      'something without a session',
      drizzle(dialectOf('PgDialect'), { session: undefined }),
      'fromDrizzle takes what drizzle() returns.',
    ],
    [
      'something with a session of its own',
      drizzle({}, { execute: undefined }),
      'fromDrizzle takes what drizzle() returns.',
    ],
    [
      'a transaction',
      drizzle(dialectOf('PgDialect'), { nestedIndex: 0 }),
      'fromDrizzle takes what drizzle() returns, and none of its transactions.',
    ],
    [
      'one over MySQL',
      drizzle(dialectOf('MySqlDialect')),
      'fromDrizzle takes a Drizzle over PostgreSQL, and this one has a MySqlDialect: it is for fromDrizzle() of payment-gateway-sdk/mysql.',
    ],
    [
      'one over SQLite',
      drizzle(dialectOf('SQLiteSyncDialect')),
      'fromDrizzle takes a Drizzle over PostgreSQL, and this one has a SQLiteSyncDialect.',
    ],
    ['one without a dialect', drizzle(undefined as never), 'over PostgreSQL, and this one has a undefined.'],
  ])('is refused if it is %s', (_, given, message) => {
    expect(() => open(given as never, 'PgDialect', 'PostgreSQL')).toThrow(message);
  });

  it('over Postgres is for the other entry point where MySQL is wanted', () => {
    expect(() => open(drizzle(dialectOf('PgDialect')), 'MySqlDialect', 'MySQL')).toThrow(
      'over MySQL, and this one has a PgDialect: it is for fromDrizzle() of payment-gateway-sdk/postgres.',
    );
  });

  it('plans only in a transaction', () => {
    for (const wrong of [
      undefined,
      {},
      { nestedIndex: undefined },
      drizzle(dialectOf('PgDialect'), { execute() {} }),
    ]) {
      expect(() => checkTransaction(wrong)).toThrow(
        'plan takes as its tx that of db.transaction(async tx => …). Nothing was planned.',
      );
    }
    expect(checkTransaction({ nestedIndex: 0 })).toBeUndefined();
  });

  it('is sent a text with its values as a query of its own, before anybody awaits it', () => {
    const sent: unknown[] = [];
    const handle = {
      execute: (query: { getSQL(): { toQuery(): unknown } }) => ({
        // biome-ignore lint/suspicious/noThenProperty: Drizzle sends a query as soon as somebody awaits it
        then: () => void sent.push(query.getSQL().toQuery()),
      }),
    };
    send(handle as never, 'select $1', ['x']);
    send(handle as never, 'select 1');
    expect(sent).toEqual([
      { sql: 'select $1', params: ['x'] },
      { sql: 'select 1', params: [] },
    ]);
  });
});

describe('a transaction of ours with handles of Drizzle', () => {
  interface Tx {
    client: Sender;
    answers: unknown[];
  }
  const ANSWER = { rows: [] };

  function opened() {
    const sent: string[] = [];
    const client = {
      query: async (...args: unknown[]) => {
        sent.push(String(args[0]), ...args.slice(1).map(String));
        return 'of the client';
      },
    };
    const lentClient = { query: async (text: unknown) => void sent.push(`lent ${text}`) };
    const query: SqlQuery = async sql => [{ sql }];
    const database: SqlDatabase<typeof client> = {
      dialect: 'postgres',
      query,
      checksCommit: true,
      async transaction(work) {
        sent.push('BEGIN');
        const value = await work(client, query);
        sent.push('COMMIT');
        return value;
      },
      lend: async (_, work) => {
        await work(lentClient as never);
        return 'the first error';
      },
    };
    const { sessionOver } = open(drizzle(dialectOf('PgDialect')), 'PgDialect', 'PostgreSQL');
    const queryIn = () => query;
    const db = overClients<Tx, typeof client>(database, sessionOver, queryIn, ANSWER);
    return { db, sent, queryIn, query };
  }

  it('is begun and committed by us, and Drizzle believes that it was it', async () => {
    const { db, sent, queryIn, query } = opened();
    let answers: unknown[] = [];
    const value = await db.transaction(async (tx, given) => {
      answers = tx.answers;
      expect(given).toBe(query);
      expect(await tx.client.query('credit', 'x')).toBe('of the client');
      expect(await tx.client.execute('credit')).toBe('of the client');
      return 'done';
    });
    expect([value, sent, answers]).toEqual(['done', ['BEGIN', 'credit', 'x', 'credit', 'COMMIT'], [ANSWER, ANSWER]]);
    expect([db.dialect, db.checksCommit, db.queryIn]).toEqual(['postgres', true, queryIn]);
  });

  it('passes on what its work throws, and its handle takes nothing after that', async () => {
    const { db, sent } = opened();
    const thrown = new Error('of the shop');
    let left: Tx | undefined;
    const failing = db.transaction(async tx => {
      left = tx;
      throw thrown;
    });
    expect(await errorOf(failing)).toBe(thrown);
    for (const text of ['late', 'begin; late', 'late; commit', 'rollback to a']) {
      await expect(left?.client.query({ text })).rejects.toThrow('The transaction has ended');
    }
    await expect(left?.client.query({})).rejects.toThrow('The transaction has ended');
    expect(sent).toEqual(['BEGIN']);
  });

  it('sends, while it is lent, by the client that was lent, and then takes nothing', async () => {
    const { db, sent } = opened();
    await db.transaction(async tx => {
      const answer = await db.lend?.(tx, async lent => {
        expect(lent).toBe(tx);
        await lent.client.query('credit');
      });
      expect(answer).toBe('the first error');
      await expect(tx.client.query({ text: 'late' })).rejects.toThrow('The transaction has ended');
    });
    await db.transaction(async tx => {
      await errorOf(Promise.resolve(db.lend?.(tx, () => Promise.reject(new Error('of the shop')))));
      await expect(tx.client.query({ text: 'late' })).rejects.toThrow('The transaction has ended');
    });
    expect(sent).toEqual(['BEGIN', 'lent credit', 'COMMIT', 'BEGIN', 'COMMIT']);
  });
});
