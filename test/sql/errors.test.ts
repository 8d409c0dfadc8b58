// What is read of the errors that libraries make of a database's answer.
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { advise, sqlCodeOf } from '../../src/sql/errors.ts';

const VALUES = 'params: zoe@customer.example';
const advised = (error: unknown): unknown => {
  try {
    return advise(error);
  } catch (told) {
    return told;
  }
};
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
    const told = advised(error) as Error;
    expect([sqlCodeOf(error), sqlCodeOf(told), told.message]).toEqual([code, code, words]);
    expect(inspect(told, { showHidden: true })).not.toContain('zoe');
  },
);

it('an error of a connection keeps its words and its code, but for what was written', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(advised(refused)).toBe(refused);
  expect(advised(new Error(VALUES, { cause: refused }))).toMatchObject({
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
  const told = advised(error);
  expect(told).toMatchObject({ message: 'Connection lost', code: 'PROTOCOL_CONNECTION_LOST' });
  expect(inspect(told, { showHidden: true })).not.toContain('zoe');
});

it('a dash in the words of a database, or of an error without a code, cuts nothing off', () => {
  const answer = Object.assign(new Error("Duplicate entry 'a - b'"), { code: 'ER_DUP_ENTRY', errno: 1062 });
  expect(advised(answer)).toMatchObject({ message: "Duplicate entry 'a - b'", errno: 1062 });
  const plain = new Error('pool - closed');
  expect(advised(plain)).toBe(plain);
});

it('an error has the code of what it keeps up to six deep', () => {
  const nested = (depth: number): object => (depth === 0 ? ofPg() : { cause: nested(depth - 1) });
  expect([sqlCodeOf(nested(6)), sqlCodeOf(nested(7))]).toEqual(['23514', undefined]);
});

it('an error in a ring, or of nothing, is told as it is', () => {
  const ring = Object.assign(new Error('ring'), { cause: undefined as unknown });
  ring.cause = ring;
  expect(sqlCodeOf(ring)).toBeUndefined();
  expect((advised(ring) as Error).message).toBe('ring');
  for (const nothing of [undefined, null, 'text', 7]) expect(advised(nothing)).toBe(nothing);
});

const POOLER =
  ': a pooler in transaction mode does not keep prepared statements. Turn them off in your library, or use PgBouncer 1.21 or later.';
const PRIMARY = ': this is a read replica, or a read-only session. The store needs the primary.';
it.each<[code: string | number, message: string, advice: string]>([
  ['42P01', 'relation "marks" does not exist', ': call migrate(), or correct tablePrefix'],
  ['25006', 'cannot execute INSERT in a read-only transaction', PRIMARY],
  ['0A000', 'cannot set transaction read-write mode during recovery', PRIMARY],
  ['26000', 'prepared statement "a" does not exist', POOLER],
  ['42P05', 'prepared statement "a" already exists', POOLER],
  ['0A000', 'cursors are not supported', ''],
  ['23505', 'in recovery', ''],
  // https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
  [1146, "Table 'marks' doesn't exist", ': call migrate(), or correct tablePrefix'],
  ...[1290, 1792, 1836].map((errno): [number, string, string] => [errno, 'read-only', PRIMARY]),
  [1062, 'taken', ''],
])('the error %s, %s, is advised on: "%s"', (code, message, advice) => {
  const given = Object.assign(new Error(message), typeof code === 'string' ? { code } : { errno: code });
  const name = code === 1146 ? 'ER_NO_SUCH_TABLE' : String(code);
  expect(advised(given)).toMatchObject({ message: message + advice, ...(advice && { code: name }) });
});

it.each([new Error('recovery'), 'recovery', undefined])('what is no error of a database stays: %s', given => {
  expect(advised(given)).toBe(given);
});
