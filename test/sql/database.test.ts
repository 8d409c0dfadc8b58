// What is read of the errors that libraries make of a database's answer.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sqlCodeOf, withoutValues } from '../../src/sql/database.ts';

/** An error as `pg` throws it, and one as `mysql2` does. */
const ofPg = () =>
  Object.assign(new Error('violates check constraint "c"'), {
    code: '23514',
    constraint: 'c',
    detail: 'Failing row contains (zoe@customer.example).',
  });
const ofMysql2 = () =>
  Object.assign(new Error("Duplicate entry 'a'"), {
    code: 'ER_DUP_ENTRY',
    errno: 1062,
    sqlState: '23000',
    sqlMessage: "Duplicate entry 'a'",
    sql: "insert into t values ('zoe@customer.example')",
  });
const VALUES = 'params: zoe@customer.example';

const ERRORS: [library: string, error: Error, code: string, message: string][] = [
  ['pg', ofPg(), '23514', 'violates check constraint "c"'],
  ['mysql2', ofMysql2(), '1062', "Duplicate entry 'a'"],
  ['Drizzle', new Error(VALUES, { cause: ofPg() }), '23514', 'violates check constraint "c"'],
  ['Knex', Object.assign(ofMysql2(), { message: VALUES }), '1062', "Duplicate entry 'a'"],
  [
    'Prisma',
    Object.assign(new Error(VALUES), {
      code: 'P2010',
      meta: { driverAdapterError: { cause: { originalCode: '1062', originalMessage: "Duplicate entry 'a'" } } },
    }),
    '1062',
    "Duplicate entry 'a'",
  ],
  [
    'Prisma itself',
    Object.assign(new Error('Transaction already closed'), { code: 'P2028', meta: { timeout: 5_000 } }),
    'P2028',
    'Transaction already closed',
  ],
  [
    'a library that keeps something else beside the answer',
    Object.assign(new Error(VALUES, { cause: { model: 'Order' } }), { driverError: ofPg() }),
    '23514',
    'violates check constraint "c"',
  ],
];

describe.each(ERRORS)('an error of %s', (_, error, code, message) => {
  it('has the code of the database', () => {
    expect(sqlCodeOf(error)).toBe(code);
  });

  it("is told in the database's own words, with its code, and without what was written", () => {
    const told = withoutValues(error) as Error;
    expect(told.message).toBe(message);
    expect(sqlCodeOf(told)).toBe(code);
    expect(inspect(told, { showHidden: true })).not.toContain('zoe');
  });
});

it('an error of a connection keeps its words and its code, but for what was written', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(withoutValues(refused)).toBe(refused);
  expect(withoutValues(new Error(VALUES, { cause: refused }))).toMatchObject({
    message: 'connect ECONNREFUSED',
    code: 'ECONNREFUSED',
  });
});

it.each<[library: string, error: Error]>([
  [
    'TypeORM',
    Object.assign(new Error('Connection lost'), {
      code: 'PROTOCOL_CONNECTION_LOST',
      parameters: ['zoe@customer.example'],
      driverError: Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST' }),
    }),
  ],
  [
    'Knex over MySQL',
    Object.assign(new Error("update t set a = 'zoe@customer.example - and more' - Connection lost"), {
      code: 'PROTOCOL_CONNECTION_LOST',
    }),
  ],
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
