// What a store in MySQL makes of answers that a real server rarely gives.
import { describe, expect, it } from 'vitest';
import { mysqlDialect } from '../../src/mysql/dialect.ts';
import type { SqlDatabase, SqlQuery, SqlRow } from '../../src/sql/database.ts';
import { sqlStore } from '../../src/sql/store.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';

const mysqlError = (errno: number) => Object.assign(new Error(`ERROR ${errno}`), { errno });
const LINE = {
  ...{ open: '0', replica: '0', durable: '1', clock: '5000' },
  ...{ kind: 'create', id: '61', state: 'begun', revision: '3', begun: '1000', data: '{}' },
  ...{ due: null, leased: null, payment: null, about: null, writer: null },
};
const MARKED = { id: 'id', writer: 'own', payment: undefined, rows: [] };
const row = newRow({ id: 'payout-1' });

/** Statements with a text get its answer, and an empty one otherwise. */
const answering =
  (answers: [has: string, answer: SqlRow[] | Error][]): SqlQuery =>
  async text => {
    const [, answer = []] =
      [['DATABASE()', [{ name: '`shop`.`own_rows`' }]] as const, ...answers].find(([has]) => text.includes(has)) ?? [];
    if (answer instanceof Error) throw answer;
    return [...answer];
  };

function opened(answers: [has: string, answer: SqlRow[] | Error][]) {
  const query = answering(answers);
  const database: SqlDatabase<object> = {
    ...{ dialect: 'mysql', query, queryIn: () => query },
    transaction: work => work({}),
  };
  return sqlStore(database, mysqlDialect('own_rows'), { scope: 'eu' });
}

it.each<[string, object]>([
  ['the time', { clock: undefined }],
  ['the revision', { revision: undefined }],
  ['the data as text', { data: {} }],
])('an answer without %s is refused', async (_, changes) => {
  const store = opened([['UTC_TIMESTAMP', [{ ...LINE, ...changes }]]]);
  for (const answer of [store.read(row), store.list({ kind: 'create', states: ['begun'] })])
    await expect(answer).rejects.toThrow('must return an array of rows');
});

it('the time of a replica is refused, where it has no row', async () => {
  const store = opened([['`own_rows`', [{ ...LINE, replica: '1', revision: null }]]]);
  await expect(store.owner('id')).rejects.toThrow('it needs the primary');
});

it('a failure after a write is reported without its code, which may mean that nothing was written', async () => {
  const gone = Object.assign(mysqlError(2006), { code: 'ECONNREFUSED' });
  for (const tx of [undefined, {}]) {
    for (const revision of [0, 1]) {
      const store = opened([
        ['LEFT JOIN', gone],
        ['SET TRANSACTION', mysqlError(1568)],
      ]);
      const error = await errorOf(store.write({ ...row, revision }, tx));
      expect(error).toMatchObject({ message: 'ERROR 2006 (after a write)', cause: gone });
      expect(error).not.toHaveProperty('code');
    }
  }
});

describe('an effect', () => {
  it.each<[string, Error | SqlRow[], Error | SqlRow[], boolean]>([
    ['the savepoint exists', [], [], false],
    ['the savepoint is missing', [], mysqlError(1305), true],
    ['it is missing, and the last statement met a deadlock', [{ Code: 1213 }], mysqlError(1305), false],
    ['it is missing after a lock wait', [{ Code: 1205 }], mysqlError(1305), true],
    ['it is missing, and SHOW ERRORS fails', mysqlError(1064), mysqlError(1305), true],
    ['Prisma sends no more queries', [], Object.assign(new Error('closed'), { code: 'P2028' }), true],
  ])('knows whether its transaction has ended if %s', async (_, shown, rolledBack, isEnded) => {
    const query = answering([
      ['SHOW', shown],
      ['ROLLBACK', rolledBack],
    ]);
    expect(await mysqlDialect('own_rows').over('own_rows', 'eu').isEnded(query, MARKED)).toBe(isEnded);
  });

  it('is kept as begun if its transaction ended early, unless the session would not commit that', async () => {
    const kept = (line: SqlRow) =>
      opened([
        ['SKIP LOCKED', [{ ...LINE, state: 'paid' }]],
        ['RELEASE', mysqlError(1305)],
        ['LEFT JOIN', [line]],
      ]).effect({ id: 'id', about: {}, reads: [] }, async () => [newRow({ kind: 'payment', id: 'id' })]);
    await expect(kept(LINE)).rejects.toThrow('ended before your function returned');
    await expect(kept({ ...LINE, state: 'paid' })).rejects.toThrow('inside an open transaction');
  });
});
