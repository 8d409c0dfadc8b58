// A table of Postgres: its name in SQL, its migrations, and what an error of a replica says.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { advised, indexName, migrate, quoted } from '../../src/postgres/table.ts';
import type { SqlDatabase } from '../../src/sql/database.ts';

const LOCK = 'SELECT pg_advisory_xact_lock($1::text::bigint)::text AS locked';
const COMMENT = `SELECT obj_description(to_regclass($1::text), 'pg_class') AS comment`;

/** A database whose table has this comment. */
function database(comment: string | null | undefined) {
  const asked: unknown[][] = [];
  const query = async (...args: unknown[]) => {
    asked.push(args);
    return args[0] === COMMENT && comment !== undefined ? [{ comment }] : [];
  };
  const transaction: SqlDatabase<unknown>['transaction'] = async work => {
    asked.push(['BEGIN']);
    const value = await work({});
    asked.push(['COMMIT']);
    return value;
  };
  return {
    db: { dialect: 'postgres', query, queryIn: () => query, transaction } as unknown as SqlDatabase<unknown>,
    asked,
  };
}

describe('a table of Postgres', () => {
  it('has a name in quotes, and indexes that no name is cut of', () => {
    expect([quoted('marks'), quoted('shop.marks')]).toEqual(['"marks"', '"shop"."marks"']);
    expect([indexName('marks', 'due'), indexName('shop.marks', 'due')]).toEqual(['"marks_due"', '"marks_due"']);
    const long = indexName('x'.repeat(63), 'due');
    // Postgres keeps 63 bytes of a name.
    expect(long).toBe(`"${'x'.repeat(59)}_due"`);
    expect(long.length - 2).toBe(63);
  });

  it.each([
    ['that is new', undefined, ['one', 'two']],
    ['without a comment', null, ['one', 'two']],
    ['of an older version', 'payment-gateway-sdk, version 1', ['two']],
  ])('%s runs what it lacks in one transaction, behind a lock, and says so', async (_, comment, steps) => {
    const { db, asked } = database(comment);
    await migrate(db, 'shop.marks', ['one', 'two']);
    const key = createHash('sha256').update('migrate shop.marks').digest().readBigInt64BE();
    expect(asked).toEqual([
      ['BEGIN'],
      [LOCK, [String(key)]],
      [COMMENT, ['"shop"."marks"']],
      ...steps.map(step => [step]),
      [`COMMENT ON TABLE "shop"."marks" IS 'payment-gateway-sdk, version 2'`],
      ['COMMIT'],
    ]);
  });

  it.each([2, 3])('of version %s is left as it is', async version => {
    const { db, asked } = database(`payment-gateway-sdk, version ${version}`);
    await migrate(db, 'marks', ['one', 'two']);
    expect(asked.map(([text]) => text)).toEqual(['BEGIN', LOCK, COMMENT, 'COMMIT']);
  });
});

describe('an error of Postgres', () => {
  const error = (code: string, message: string) => Object.assign(new Error(message), { code });

  it('of a table that is not there asks for migrate()', () => {
    const given = error('42P01', 'relation "marks" does not exist');
    const told = { message: 'relation "marks" does not exist: was migrate() called?', code: '42P01', cause: given };
    expect(advised(given)).toMatchObject(told);
  });

  it.each([
    error('25006', 'cannot execute INSERT in a read-only transaction'),
    error('0A000', 'cannot set transaction read-write mode during recovery'),
  ])('of a replica asks for the primary: %s', given => {
    const told = advised(given) as Error;
    expect([told.message, told.cause]).toEqual([
      `${given.message}: this is a read replica, or a read-only session. The store needs the primary.`,
      given,
    ]);
    const nested = new Error('Failed query', { cause: given });
    if (given.code === '25006') expect(advised(nested)).toHaveProperty('cause', nested);
  });

  it.each(['26000', '42P05'])('of a pooler that mixes prepared statements asks to prepare none: %s', code => {
    const given = error(code, 'prepared statement "a"');
    expect(advised(given)).toMatchObject({
      cause: given,
      message: expect.stringContaining('Leave out `prepare: true`'),
    });
  });

  it.each([
    error('0A000', 'cursors are not supported'),
    error('23505', 'in recovery'),
    new Error('recovery'),
    'recovery',
    undefined,
    { code: '0A000' },
    { code: '25006' },
  ])('of another kind is told as it is: %s', given => {
    expect(advised(given)).toBe(given);
  });
});
