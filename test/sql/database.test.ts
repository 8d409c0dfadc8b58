// What is read of the errors that libraries make of a database's answer.
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { databaseIn, mysqlRows, poolOf, sqlCodeOf, withoutValues, withPlainNames } from '../../src/sql/database.ts';

const VALUES = 'params: zoe@customer.example';
const error = (message: string, details: object) => Object.assign(new Error(message), details);
const CHECK = 'violates check constraint "c"';
const DUPLICATE = "Duplicate entry 'a'";
/** An error as `pg` throws it, and one as `mysql2` does. */
const ofPg = () =>
  error(CHECK, { code: '23514', constraint: 'c', detail: 'Failing row contains (zoe@customer.example).' });
const ofMysql2 = (message = DUPLICATE) =>
  error(message, {
    ...{ code: 'ER_DUP_ENTRY', errno: 1062, sqlState: '23000', sqlMessage: DUPLICATE },
    sql: "insert into t values ('zoe@customer.example')",
  });
const originally = { cause: { originalCode: '1062', originalMessage: DUPLICATE } };
const closed = error('Transaction already closed', { code: 'P2028', meta: { timeout: 5_000 } });
const twofold = Object.assign(new Error(VALUES, { cause: { model: 'Order' } }), { driverError: ofPg() });

const ERRORS: [library: string, error: Error, code: string, message: string][] = [
  ['pg', ofPg(), '23514', CHECK],
  ['mysql2', ofMysql2(), '1062', DUPLICATE],
  ['Drizzle', new Error(VALUES, { cause: ofPg() }), '23514', CHECK],
  ['Knex', ofMysql2(VALUES), '1062', DUPLICATE],
  ['Prisma', error(VALUES, { code: 'P2010', meta: { driverAdapterError: originally } }), '1062', DUPLICATE],
  ['Prisma itself', closed, 'P2028', 'Transaction already closed'],
  ['a library that keeps something else beside the answer', twofold, '23514', CHECK],
];

it.each(ERRORS)(
  "an error of %s has its database's code and words, without what was written",
  (_, error, code, words) => {
    const told = withoutValues(error) as Error;
    expect([sqlCodeOf(error), sqlCodeOf(told), told.message]).toEqual([code, code, words]);
    expect(inspect(told, { showHidden: true })).not.toContain('zoe');
  },
);

it('an error of a connection keeps its words and its code, but for what was written', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(withoutValues(refused)).toBe(refused);
  expect(withoutValues(new Error(VALUES, { cause: refused }))).toMatchObject({
    message: 'connect ECONNREFUSED',
    code: 'ECONNREFUSED',
  });
});

const LOST = { code: 'PROTOCOL_CONNECTION_LOST' };
const connection = () => error('Connection lost', LOST);
it.each<[library: string, error: Error]>([
  ['TypeORM', Object.assign(connection(), { parameters: ['zoe@customer.example'], driverError: connection() })],
  ['Knex over MySQL', error("update t set a = 'zoe@customer.example - and more' - Connection lost", LOST)],
])('an error of a connection under %s keeps its words without the statement and its values', (_, error) => {
  const told = withoutValues(error);
  expect(told).toMatchObject({ message: 'Connection lost', code: 'PROTOCOL_CONNECTION_LOST' });
  expect(inspect(told, { showHidden: true })).not.toContain('zoe');
});

it('a dash in the words of a database, or of an error without a code, cuts nothing off', () => {
  const answer = Object.assign(new Error("Duplicate entry 'a - b'"), { code: 'ER_DUP_ENTRY', errno: 1062 });
  expect(withoutValues(answer)).toMatchObject({ message: "Duplicate entry 'a - b'", errno: 1062 });
  const plain = new Error('pool - closed');
  expect(withoutValues(plain)).toBe(plain);
});

it('an error has the code of what it keeps up to six deep', () => {
  const nested = (depth: number): object => (depth === 0 ? ofPg() : { cause: nested(depth - 1) });
  expect([sqlCodeOf(nested(6)), sqlCodeOf(nested(7))]).toEqual(['23514', undefined]);
});

it('an error in a ring, or of nothing, is told as it is', () => {
  const ring = Object.assign(new Error('ring'), { cause: undefined as unknown });
  ring.cause = ring;
  expect(sqlCodeOf(ring)).toBeUndefined();
  expect((withoutValues(ring) as Error).message).toBe('ring');
  for (const nothing of [undefined, null, 'text', 7]) expect(withoutValues(nothing)).toBe(nothing);
});

it('a pool has the connections that its driver was given, or ten', () => {
  const given = [{}, ...[3, '20', '', 'x', Number.NaN].map(max => ({ options: { max } }))];
  expect(given.map(each => poolOf(each).max)).toEqual([10, 3, 20, 10, 10, 10]);
});

it('rows have plain names, and a write of mysql2 the number of changed rows', () => {
  expect(withPlainNames([{ BegunAt: '1' }])).toEqual([{ begunat: '1' }]);
  expect([mysqlRows({ affectedRows: 1 }), mysqlRows([1])]).toEqual([[{ affected: '1' }], [1]]);
});

it('a store refuses a database of the other dialect, and takes anything else for a pool', () => {
  const given = { dialect: 'mysql', transaction() {}, queryIn() {} };
  const inMysql = (each: unknown, isPool = true) => databaseIn('mysqlStore', 'mysql', each, isPool);
  const others = [{ ...given, queryIn: 7 }, { ...given, transaction: 7 }, undefined];
  expect([given, ...others].map(each => inMysql(each))).toEqual([given, undefined, undefined, undefined]);
  for (const each of others) expect(() => inMysql(each, false)).toThrow('mysqlStore takes a pool of mysql2');
  const mistaken = () => databaseIn('postgresStore', 'postgres', given, true);
  expect(mistaken).toThrow('and this one is of mysql. Import the adapter');
});
