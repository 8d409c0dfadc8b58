// What a store takes for its database, and what it reads of a library's answers.
import { expect, it } from 'vitest';
import { databaseIn, driverRows, poolWith, sizeOf } from '../../src/sql/database.ts';

it('a pool has the connections that its driver was given, or ten', () => {
  expect([undefined, 3, '20', '', 'x', Number.NaN].map(sizeOf)).toEqual([10, 3, 20, 10, 10, 10]);
});

it('an adapter names a database that does not exist yet', () => {
  const message = 'fromKnex: the database is undefined. Create it before this call.';
  expect(() => poolWith('fromKnex', undefined, {})).toThrow(message);
  expect(poolWith('fromKnex', { own: 1 }, { poolSize: 1 })).toEqual({ identity: { own: 1 }, max: 1 });
});

it('rows have plain names, and a write of mysql2 has none', () => {
  expect(driverRows('postgres', [{ BegunAt: '1' }])).toEqual([{ begunat: '1' }]);
  expect([{ affectedRows: 1 }, [1]].map(answer => driverRows('mysql', [answer]))).toEqual([[], [1]]);
});

it('a store refuses a database of the other dialect, and takes anything else for a pool', () => {
  const given = { dialect: 'mysql', transaction() {}, queryIn() {} };
  const inMysql = (each: unknown, isPool = true) => databaseIn('mysql', each, isPool);
  const others = [{ ...given, queryIn: 7 }, { ...given, transaction: 7 }, undefined];
  expect([given, ...others].map(each => inMysql(each))).toEqual([given, undefined, undefined, undefined]);
  for (const each of others) expect(() => inMysql(each, false)).toThrow('mysqlStore takes a pool of mysql2');
  const mistaken = () => databaseIn('postgres', given, true);
  expect(mistaken).toThrow('and this one is of mysql. Import the adapter');
});
