// A table of MySQL: its migrations, and what an error of a replica says.
import { expect, it } from 'vitest';
import { advised, migrate, quoted, quotedPart } from '../../src/mysql/table.ts';
import { errorOf } from '../support/fixtures.ts';

const mysqlError = (errno: number, message = `ERROR ${errno}`) => Object.assign(new Error(message), { errno });

/** A new table. @param locked what GET_LOCK answers */
function database(locked: string | null) {
  const asked: string[] = [];
  const query = async (sql: string) => {
    asked.push(sql);
    if (sql === 'fails') throw mysqlError(1064);
    return sql.includes('GET_LOCK') ? [{ locked }] : [];
  };
  const db = { queryIn: () => query, transaction: (work: (tx: object) => unknown) => work({}) };
  return { db: db as never, asked };
}

it('a name of a database is quoted, also with a quote in it', () => {
  expect([quoted('billing.own_rows'), quotedPart('it`s.odd')]).toEqual(['`billing`.`own_rows`', '`it``s.odd`']);
});

it('a migration gives its lock back after an error, and asks for none that another process has', async () => {
  const broken = database('1');
  expect(await errorOf(migrate(broken.db, 'marks', ['one', 'fails', 'two']))).toMatchObject({ errno: 1064 });
  expect(broken.asked.slice(2)).toEqual(['one', 'fails', expect.stringContaining('RELEASE_LOCK')]);
  for (const locked of ['0', null]) {
    const { db, asked } = database(locked);
    const refusal = 'Another process has migrated marks for 60 seconds.';
    expect([await errorOf(migrate(db, 'marks', ['one'])), asked.length]).toEqual([new Error(refusal), 1]);
  }
});

const PRIMARY = ': this is a replica, or a read-only session. The store needs the primary.';
// https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
it.each<[errno: number, advice: string]>([
  [1146, ': call migrate(), or correct tablePrefix'],
  ...[1290, 1792, 1836].map((code): [number, string] => [code, PRIMARY]),
  [1062, ''],
])('the error %i is advised on: "%s"', (errno, advice) => {
  const error = mysqlError(errno);
  expect(advised(error)).toHaveProperty('message', `ERROR ${errno}${advice}`);
  if (advice) expect(advised(error)).toHaveProperty('cause', error);
});
