// How the stores use a database: never more than half of its pool, never without an end, and again after a deadlock.
import { ConfigurationError } from 'payment-gateway-sdk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { boundedTransaction, inTime, isUndone, limitsOf, repeated } from '../../src/sql/bounded.ts';
import type { SqlDatabase, SqlQuery } from '../../src/sql/database.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const ROWS = [{ a: '1' }];
const rows: SqlQuery = async () => ROWS;
const never = () => new Promise<never>(() => {});
/** The error of what waits for nothing but its limits. */
const lateError = (waiting: Promise<unknown>) => whileTimePasses(errorOf(waiting), 1_000);
const LATE = new Error('The database did not answer within 5000 ms.');

/** A database whose transactions only call back. */
const database = (changes: Partial<SqlDatabase<string>> = {}): SqlDatabase<string> => ({
  dialect: 'postgres',
  query: rows,
  transaction: work => work('tx'),
  queryIn: () => rows,
  pool: { identity: {}, max: 4 },
  ...changes,
});

describe('works over one pool', () => {
  /** How many works of these stores run at once. */
  async function mostAtOnce(...databases: SqlDatabase<string>[]) {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    let running = 0;
    const works = databases.flatMap(each => {
      return Array.from({ length: 8 }, () =>
        boundedTransaction(each, async () => {
          running += 1;
          await isOver;
        }),
      );
    });
    await new Promise(setImmediate);
    const most = running;
    end();
    await Promise.all(works);
    expect(running).toBe(8 * databases.length);
    return most;
  }

  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [11, 5],
  ])('are, of %d connections, %d at a time', async (max, most) => {
    expect(await mostAtOnce(database({ pool: { identity: {}, max } }))).toBe(most);
  });

  it('share that half, whichever stores they are of, and another pool has its own', async () => {
    const pool = { identity: {}, max: 4 };
    expect(await mostAtOnce(database({ pool }), database({ pool: { ...pool } }))).toBe(2);
    expect(await mostAtOnce(database({ pool }), database())).toBe(4);
  });

  it('wait for a place for five seconds, and say then what to do', async () => {
    fakeTimers();
    const small = database({ pool: { identity: {}, max: 2 } });
    const first = boundedTransaction(small, never);
    const second = vi.fn(async () => {});
    expect(await lateError(boundedTransaction(small, second))).toEqual(
      new Error(
        'Half of the pool was in use for 5000 ms by effects of other payments. Check the database and its locks, or increase the `max` of the pool (of mysql2: `connectionLimit`).',
      ),
    );
    expect(second).not.toHaveBeenCalled();
    first.catch(() => {});
  });

  it('whose caller was told that it takes too long keeps its place until the library has ended it', async () => {
    fakeTimers();
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const transaction: SqlDatabase<string>['transaction'] = work => isFree.then(() => work('tx'));
    const slow = database({ pool: { identity: {}, max: 2 }, transaction });
    expect(String(await lateError(boundedTransaction(slow, async () => {})))).toMatch(/within 5000 ms/);
    const next = vi.fn(async () => {});
    await lateError(boundedTransaction(slow, next));
    expect(next).not.toHaveBeenCalled();
    free();
    await new Promise(setImmediate);
    await boundedTransaction(slow, next);
    expect(next).toHaveBeenCalled();
  });
});

describe('single statements over one pool', () => {
  it('take at most half of it, and at least one connection, apart from the works', async () => {
    for (const [max, most] of [
      [1, 1],
      [2, 1],
      [5, 2],
    ] as const) {
      const over = { pool: { identity: {}, max } };
      const begun = vi.fn(never);
      const { statements } = limitsOf(database(over));
      for (let count = 0; count < 4; count++) statements(begun).catch(() => {});
      await boundedTransaction(database(over), async () => {});
      expect(begun).toHaveBeenCalledTimes(most);
    }
  });

  it('wait for their turn for four seconds, and say then what to look at', async () => {
    fakeTimers();
    const { statements: inTurn } = limitsOf(database({ pool: { identity: {}, max: 2 } }));
    inTurn(never).catch(() => {});
    expect(await lateError(inTurn(async () => {}))).toEqual(
      new Error(
        'Half of the pool was in use for 4000 ms by statements of the SDK. Check the database and its locks, or increase the `max` of the pool (of mysql2: `connectionLimit`).',
      ),
    );
  });
});

describe('a transaction', () => {
  const lost = new Error('COMMIT was not answered');
  const ofShop = new Error('of the shop');
  const REFUSED = new ConfigurationError('transaction() of the SqlDatabase resolved without running its work.');
  const reject = (error: Error) => () => Promise.reject(error);
  it.each<[string, (work: (tx: string) => Promise<unknown>) => Promise<unknown>, () => Promise<unknown>, Error]>([
    ['the library rejects after the work', work => work('tx').then(reject(lost)), async () => {}, lost],
    ['the work fails, and the library differently', work => work('tx').catch(reject(lost)), reject(ofShop), ofShop],
    ['the work fails, and the library resolves', work => work('tx').catch(() => {}), reject(ofShop), ofShop],
    ['the library resolves without the work', async () => {}, async () => {}, REFUSED],
  ])('rejects where %s', async (_, transaction, work, expected) => {
    expect(await errorOf(boundedTransaction(database({ transaction: transaction as never }), work))).toEqual(expected);
  });

  it('runs its work once, even if the library repeats it', async () => {
    const work = vi.fn(reject(ofShop));
    const transaction = ((run: (tx: string) => Promise<unknown>) => run('tx').catch(() => run('tx'))) as never;
    expect(await errorOf(boundedTransaction(database({ transaction }), work))).toBe(ofShop);
    expect(work).toHaveBeenCalledOnce();
  });

  it.each([
    ['goes on and fails', { cause: new Error('of the shop') }],
    ['goes on and succeeds', {}],
  ])('that resolves while its work %s settles as the work does', async (_, { cause }: { cause?: Error }) => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const transaction = (async (work: (tx: string) => Promise<unknown>) => {
      work('tx').catch(() => {});
    }) as never;
    let told = false;
    const work = async () => {
      await isOver;
      if (cause) throw cause;
    };
    const ended = boundedTransaction(database({ transaction }), work)
      .catch((error: unknown) => error)
      .finally(() => {
        told = true;
      });
    await new Promise(setImmediate);
    // The work may still write: nobody may take the payment for untouched before that has ended.
    expect(told).toBe(false);
    end();
    expect(await ended).toBe(cause);
  });

  it('that does not begin within five seconds is given up, and does nothing later', async () => {
    fakeTimers();
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    let late: unknown;
    const transaction: SqlDatabase<string>['transaction'] = async work => {
      await isFree;
      return work('tx').catch(error => {
        late = error;
        throw error;
      });
    };
    const work = vi.fn(async () => {});
    const error = await lateError(boundedTransaction(database({ transaction }), work));
    expect(error).toHaveProperty(
      'message',
      'No transaction began within 5000 ms: increase the `max` of the pool (of mysql2: `connectionLimit`), or check whether the database answers.',
    );
    free();
    await new Promise(setImmediate);
    expect(late).toEqual(error);
    expect(work).not.toHaveBeenCalled();
  });

  it('may take its time while it works, and five seconds to end', async () => {
    fakeTimers();
    const thrown = new Error('of the shop');
    const hanging: SqlDatabase<string>['transaction'] = async work => {
      await work('tx').catch(() => {});
      return never();
    };
    const stuck = database({ transaction: hanging, pool: { identity: {}, max: 20 } });
    const slow = () => new Promise<void>(resolve => setTimeout(resolve, 60_000));
    expect(await lateError(boundedTransaction(stuck, slow))).toEqual(LATE);
    expect(await lateError(boundedTransaction(stuck, () => slow().then(() => Promise.reject(thrown))))).toBe(thrown);
    expect(await whileTimePasses(boundedTransaction(database(), slow), 1_000)).toBeUndefined();
  });

  it('sends no statement of ours after the library has ended it, and then never settles the work', async () => {
    let settled = false;
    const lost = new Error('connection lost');
    const broken = Promise.withResolvers<never>();
    const sent = vi.fn(rows);
    const transaction: SqlDatabase<string>['transaction'] = work => {
      const settle = () => {
        settled = true;
      };
      work('tx').then(settle, settle);
      return broken.promise;
    };
    const running = boundedTransaction(database({ transaction, queryIn: () => sent }), async (_, query) => {
      broken.reject(lost);
      await new Promise(setImmediate);
      await query('rollback to savepoint');
    });
    expect(await errorOf(running)).toBe(lost);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect([settled, sent.mock.calls]).toEqual([false, []]);
  });
});

it('a statement is given up after five seconds', async () => {
  fakeTimers();
  expect(await lateError(inTime(never)('one'))).toEqual(LATE);
});

describe('a transaction that the database undid', () => {
  const DEADLOCK = Object.assign(new Error('deadlock'), { code: '40P01' });

  it.each([
    // https://www.postgresql.org/docs/current/errcodes-appendix.html
    ['a serialisation failure of Postgres', { code: '40001' }, true],
    ['a deadlock of Postgres', { code: '40P01' }, true],
    ['a prepared statement that is missing', { code: '26000' }, true],
    ['a prepared statement of another client', { code: '42P05' }, true],
    ['a write conflict of Prisma', { code: 'P2034' }, true],
    // https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
    ['a deadlock of MySQL', { errno: 1213 }, true],
    ['a conflict in a group of MySQL', { errno: 3101 }, true],
    ['a row that is newer than the snapshot', { errno: 1020 }, true],
    ['a lock that was not released in time', { errno: 1205 }, false],
    ['a value that is there already', { code: '23505' }, false],
  ])('is repeated after %s: %o, %s', (_, shape, has) => {
    expect(isUndone(Object.assign(new Error('met'), shape))).toBe(has);
  });

  it('is given up after ten tries, with ever longer pauses between them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const tried: number[] = [];
    const failing = errorOf(
      repeated(async () => {
        tried.push(Date.now());
        throw DEADLOCK;
      }),
    );
    expect(await whileTimePasses(failing, 5)).toBe(DEADLOCK);
    expect(tried).toEqual([0, 5, 15, 30, 50, 75, 105, 140, 180, 225]);
  });
});
