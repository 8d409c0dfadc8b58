// What a store in MySQL makes of answers that a real server rarely gives.
import { describe, expect, it } from 'vitest';
import { mysqlDialect } from '../../src/mysql/dialect.ts';
import type { SqlQuery, SqlRow } from '../../src/sql/database.ts';
import { Rows } from '../../src/sql/rows.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';

const mysqlError = (errno: number) => Object.assign(new Error(`ERROR ${errno}`), { errno });
const LINE = {
  ...{ open: '0', replica: '0', durable: '1', clock: '5000' },
  ...{ kind: 'create', id: '61', state: 'begun', revision: '3', begun: '1000', data: '{}' },
  ...{ due: null, leased: null, payment: null, about: null, writer: null },
};
const BEGUN = { id: 'id', writer: 'own', revision: 3 };
const row = newRow({ id: 'payout-1' });

/** A store whose statements with a text get its answer, and an empty one otherwise. */
function opened(answers: [has: string, answer: SqlRow[] | Error][]) {
  const sent: string[] = [];
  const query: SqlQuery = async text => {
    sent.push(text);
    const [, answer = []] =
      [['DATABASE()', [{ name: '`shop`.`own_rows`' }]] as const, ...answers].find(([has]) => text.includes(has)) ?? [];
    if (answer instanceof Error) throw answer;
    return [...answer];
  };
  return { query, sent, sql: new Rows(mysqlDialect('own_rows'), 'eu') };
}

it.each<[string, object]>([
  ['the time', { clock: undefined }],
  ['the revision', { revision: undefined }],
  ['the data as text', { data: {} }],
])('an answer without %s is refused', async (_, changes) => {
  const { sql, query } = opened([['UTC_TIMESTAMP', [{ ...LINE, ...changes }]]]);
  for (const answer of [sql.read(query, row), sql.list(query, { kind: 'create', states: ['begun'] })])
    await expect(answer).rejects.toThrow('must return rows as objects');
});

it('the time of a replica is refused, where it has no row', async () => {
  const { sql, query } = opened([['`own_rows`', [{ ...LINE, replica: '1', revision: null }]]]);
  await expect(sql.owner(query, 'id')).rejects.toThrow('it needs the primary');
});

it('a failure after a write is reported without its code, which may mean that nothing was written', async () => {
  const gone = Object.assign(mysqlError(2006), { code: 'ECONNREFUSED' });
  const changed = [{ affected: '1' }];
  for (const write of ['write', 'writeIn'] as const) {
    for (const revision of [0, 1]) {
      const { sql, query } = opened([
        ['LEFT JOIN', gone],
        ['INSERT', changed],
        ['UPDATE', changed],
        ['SET TRANSACTION', mysqlError(1568)],
      ]);
      const error = await errorOf(sql[write](query, { ...row, revision }));
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
    const { sql, query } = opened([
      ['SHOW', shown],
      ['ROLLBACK', rolledBack],
    ]);
    expect(await sql.isEnded(query, BEGUN)).toBe(isEnded);
  });

  it.each<[string, object, string | undefined]>([
    ['done', { writer: 'own', state: 'paid' }, 'done'],
    ['begun', { writer: 'own' }, 'begun'],
    ['rolled back, and another one ran', { writer: 'other' }, undefined],
    ['done, and another one ran after it', { writer: 'other', revision: '4' }, 'done'],
  ])('is found as committed: %s', async (_, changes, found) => {
    const { sql, query } = opened([['UTC_TIMESTAMP', [{ ...LINE, ...changes }]]]);
    expect(await sql.find(query, BEGUN)).toBe(found);
    const inside = opened([['UTC_TIMESTAMP', [{ ...LINE, open: '1' }]]]);
    await expect(inside.sql.find(inside.query, BEGUN)).rejects.toThrow('inside an open transaction');
  });

  it('is kept as begun, and what the session would not commit is refused', async () => {
    const kept = (line: SqlRow) =>
      opened([
        ['UPDATE', [{ affected: '0' }]],
        ['HEX(id)', [line]],
      ]);
    const effect = { id: 'id', about: {}, reads: [] };
    const [another, open] = [kept(LINE), kept({ ...LINE, state: 'paid' })];
    expect(await another.sql.markUncertain(another.query, effect)).toBeUndefined();
    await expect(open.sql.markUncertain(open.query, effect)).rejects.toThrow('inside an open transaction');
  });
});

it('a write over a library that does not report changed rows is refused', async () => {
  for (const answer of [[], [{}], [{ affectedRows: 1 }]]) {
    const { sql, query } = opened([['UPDATE', answer]]);
    const writing = sql.write(query, { ...row, revision: 1 });
    await expect(writing).rejects.toThrow('must return one row for a write over MySQL: { affected }');
  }
});
