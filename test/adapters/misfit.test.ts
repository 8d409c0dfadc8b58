// What is said of something that is passed where a database or a transaction belongs. misfits.test.ts passes the real libraries.
import { ConfigurationError } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { databaseIn, misfit, noTransactionOf } from '../../src/adapters/misfit.ts';

const work = () => {};
const POOL = 'new pg.Pool()';
const ANYTHING =
  'a pool, such as new pg.Pool(), what an adapter such as fromDrizzle() makes of your library, or a SqlDatabase of your own';

/** What only things of each library have. */
const OWN: [adapter: string, given: unknown][] = [
  ['fromPrisma', { $queryRawUnsafe: work }],
  ['fromDrizzle', { execute: work, dialect: {}, session: {} }],
  ['fromKysely', { selectFrom: work, executeQuery: work }],
  ['fromKnex', Object.assign(() => {}, { raw: work })],
  ['fromPostgresJs', Object.assign(() => {}, { unsafe: work })],
  ['fromTypeOrm', { createQueryRunner: work }],
  ['fromTypeOrm', { getRepository: work }],
];
/** What is like them. */
const LIKE: unknown[] = [
  ...[undefined, null, 0, 1, '', 'postgres://h/db', true, Symbol('a')],
  ...[{}, [], () => {}, { $queryRawUnsafe: 'text' }],
  ...[
    { execute: work, dialect: {} },
    { execute: work, session: {} },
    { dialect: {}, session: {} },
  ],
  ...[{ selectFrom: work }, { executeQuery: work }],
  ...[{ raw: work }, { unsafe: work }, Object.assign(() => {}, { raw: 1, unsafe: 1 })],
];

describe.each(OWN)('of %s', (adapter, given) => {
  it('the error names the adapter, unless that was called', () => {
    const error = misfit('postgresJournal', ANYTHING, given);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toBe(`postgresJournal takes ${ANYTHING}. What was passed is for ${adapter}().`);
    expect(misfit(adapter, 'a database', given).message).toBe(`${adapter} takes a database.`);
  });

  it('a transaction is not planned in, and its adapter is named, unless it has one', () => {
    const error = noTransactionOf('a client', given);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toBe(
      `plan takes as its tx a client, and what was passed is for ${adapter}(). Nothing was planned.`,
    );
    expect(noTransactionOf('a client', given, adapter).message).toBe(
      'plan takes as its tx a client. Nothing was planned.',
    );
  });

  it('nothing is a database, nor a pool', () => {
    expect(() => databaseIn('postgresInbox', 'postgres', given, POOL)).toThrow(
      `postgresInbox takes ${ANYTHING}. What was passed is for ${adapter}().`,
    );
  });
});

it.each(LIKE)('no adapter is named for %o', given => {
  expect(misfit('postgresJournal', 'a pool', given).message).toBe('postgresJournal takes a pool.');
  expect(noTransactionOf('a client', given).message).toBe('plan takes as its tx a client. Nothing was planned.');
  expect(databaseIn('postgresInbox', 'postgres', given, POOL)).toBeUndefined();
});

describe('a database', () => {
  const databaseOf = (dialect: unknown) => ({ dialect, query: work, transaction: work });

  it.each(['postgres', 'mysql'] as const)('of %s is taken as it is', dialect => {
    const database = databaseOf(dialect);
    expect(databaseIn('store', dialect, database, POOL)).toBe(database);
  });

  it.each<[string, 'postgres' | 'mysql', string, string]>([
    [
      'postgresJournal',
      'postgres',
      'mysql',
      'postgresJournal takes a database over PostgreSQL, and this one speaks mysql: it is for mysqlJournal() of payment-gateway-sdk/mysql.',
    ],
    [
      'mysqlInbox',
      'mysql',
      'postgres',
      'mysqlInbox takes a database over MySQL, and this one speaks postgres: it is for postgresInbox() of payment-gateway-sdk/postgres.',
    ],
    ['mysqlInbox', 'mysql', 'oracle', 'mysqlInbox takes a database over MySQL, and this one speaks oracle.'],
  ])('is refused by %s if it speaks another dialect than %s: %s', (owner, dialect, other, message) => {
    expect(() => databaseIn(owner, dialect, databaseOf(other), POOL)).toThrow(new ConfigurationError(message));
  });

  it('is what has all of one', () => {
    for (const part of [
      { dialect: 'mysql', query: work },
      { dialect: 'mysql', transaction: work },
      { query: work, transaction: work },
      databaseOf(5),
    ])
      expect(databaseIn('postgresInbox', 'postgres', part, POOL)).toBeUndefined();
  });
});

describe('a pool', () => {
  const ofMysql = { getConnection: work };
  const ofPostgres = { idleCount: 0, connect: work };

  it('may be one of the dialect, or one that nobody knows', () => {
    expect(databaseIn('mysqlInbox', 'mysql', ofMysql, POOL)).toBeUndefined();
    expect(databaseIn('postgresInbox', 'postgres', ofPostgres, POOL)).toBeUndefined();
    expect(databaseIn('mysqlInbox', 'mysql', {}, POOL)).toBeUndefined();
  });

  it('of the other dialect is for the other store', () => {
    expect(() => databaseIn('postgresJournal', 'postgres', ofMysql, POOL)).toThrow(
      `postgresJournal takes ${ANYTHING}: this pool is for mysqlJournal() of payment-gateway-sdk/mysql.`,
    );
    expect(() => databaseIn('mysqlInbox', 'mysql', ofPostgres, 'mysql.createPool()')).toThrow(
      `mysqlInbox takes ${ANYTHING.replace(POOL, 'mysql.createPool()')}: this pool is for postgresInbox() of payment-gateway-sdk/postgres.`,
    );
  });
});
