// A table of MySQL: its name in SQL, its migrations, and what its statements have in common.
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.ts';
import { advised, hasChanged, insertedAlone, migrate } from '../../src/mysql/table.ts';
import type { SqlDatabase, SqlQuery } from '../../src/sql/database.ts';
import { errorOf } from '../support/fixtures.ts';

const mysqlError = (errno: number, message = `ERROR ${errno}`) => Object.assign(new Error(message), { errno });
const failing =
  (error: unknown): SqlQuery =>
  () =>
    Promise.reject(error);

/** A database whose table has this comment. @param locked what GET_LOCK answers */
function database(comment?: string, { locked = '1' as string | null, fails = '' } = {}) {
  const asked: unknown[][] = [];
  const query = async (sql: string, values?: unknown[]) => {
    asked.push(values ? [sql.replace(/\s+/g, ' '), values] : [sql]);
    if (sql === fails) throw mysqlError(1064);
    if (sql.includes('GET_LOCK')) return [{ locked }];
    return sql.includes('table_comment') && comment !== undefined ? [{ comment }] : [];
  };
  const transaction: SqlDatabase<unknown>['transaction'] = work => work({});
  return {
    db: { dialect: 'mysql', query, queryIn: () => query, transaction } as unknown as SqlDatabase<unknown>,
    asked,
  };
}

describe('a table of MySQL', () => {
  it('runs what it lacks behind a lock, which is given back', async () => {
    const { db, asked } = database('payment-gateway-sdk, version 1');
    await migrate(db, 'shop.marks', ['one', 'two']);
    const lock = [expect.stringMatching(/^payment-gateway-sdk [\da-f]{32}$/)];
    expect(asked).toEqual([
      ['SELECT CAST(GET_LOCK(?, 60) AS CHAR) AS locked', lock],
      [
        'SELECT CAST(table_comment AS CHAR) AS comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?',
        ['shop', 'marks'],
      ],
      ['two'],
      ["ALTER TABLE `shop`.`marks` COMMENT = 'payment-gateway-sdk, version 2'"],
      ['SELECT CAST(RELEASE_LOCK(?) AS CHAR) AS released', lock],
    ]);
    expect(asked[0]?.[1]).toEqual(asked.at(-1)?.[1]);
  });

  it('gives the lock back after an error, and asks for none that another process has', async () => {
    const broken = database(undefined, { fails: 'one' });
    expect(await errorOf(migrate(broken.db, 'marks', ['one', 'two']))).toMatchObject({ errno: 1064 });
    expect(broken.asked.at(-1)?.[0]).toContain('RELEASE_LOCK');
    const silent: SqlQuery = async () => [];
    const mute = { transaction: (work: (tx: object) => unknown) => work({}), queryIn: () => silent };
    expect(await errorOf(migrate(mute as never, 'marks', ['one']))).toMatchObject({
      message: 'Another process has migrated marks for 60 seconds.',
    });
    for (const locked of ['0', null]) {
      const { db, asked } = database(undefined, { locked });
      expect(await errorOf(migrate(db, 'marks', ['one']))).toEqual(
        new Error('Another process has migrated marks for 60 seconds.'),
      );
      expect(asked).toHaveLength(1);
    }
  });
});

describe('an answer of MySQL', () => {
  it('tells whether a write has changed a row', () => {
    expect([hasChanged([{ affected: '1' }]), hasChanged([{ affected: '0' }])]).toEqual([true, false]);
    for (const answer of [[], [{}], [{ affectedRows: 1 }]]) {
      expect(() => hasChanged(answer)).toThrow(ConfigurationError);
      expect(() => hasChanged(answer)).toThrow('must return one row for a write over MySQL: { affected }');
    }
  });

  it('tells whether a key was free, and that nothing would have been committed', async () => {
    const answering =
      (affected: string): SqlQuery =>
      async () => [{ affected }];
    expect(await insertedAlone(answering('1'), 'insert', ['a'])).toBe(true);
    expect(await insertedAlone(failing(mysqlError(1062)), 'insert', [])).toBe(false);
    await expect(insertedAlone(answering('0'), 'insert', ['a'])).rejects.toThrow(
      'released to the pool inside an open transaction',
    );
    const other = mysqlError(1064);
    expect(await errorOf(insertedAlone(failing(other), 'insert', []))).toBe(other);
  });
});

describe('an error of MySQL', () => {
  it('of a table that is not there asks for migrate()', () => {
    const given = mysqlError(1146, "Table 'test.marks' doesn't exist");
    const told = advised(given);
    expect(told).toMatchObject({
      message: "Table 'test.marks' doesn't exist: was migrate() called?",
      code: 'ER_NO_SUCH_TABLE',
      cause: given,
    });
  });

  // https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
  it.each([1290, 1792, 1836])('of a replica asks for the primary: %s', errno => {
    const given = mysqlError(errno, 'read-only');
    expect(advised(given)).toMatchObject({
      message: 'read-only: this is a replica, or a read-only session. The store needs the primary.',
      cause: given,
    });
  });

  it.each([mysqlError(1062), new Error('read-only')])('of another kind is told as it is: %s', given => {
    expect(advised(given)).toBe(given);
  });
});
