// What a store in Postgres makes of answers that a real server rarely gives.
import { expect, it } from 'vitest';
import { postgresStoreSql } from '../../src/postgres/store-sql.ts';
import type { SqlQuery, SqlRow } from '../../src/sql/database.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';

/** A store whose statements with a text get its answer, and an empty one otherwise. */
function opened(
  answers: [has: string, answer: SqlRow[] | Error][],
  table: SqlRow[] | Error = [{ name: 'public.rows' }],
) {
  const query: SqlQuery = async text => {
    const [, answer = []] =
      [['pg_identify_object', table] as const, ...answers].find(([has]) => text.includes(has)) ?? [];
    if (answer instanceof Error) throw answer;
    return [...answer];
  };
  return { query, sql: postgresStoreSql({ table: 'rows', scope: 'eu' }) };
}

const ROW = newRow({ state: 'begun' });
const WRITTEN = { now: '5000', begun: '5000', due: null, xid: '77' };
const OPEN = { kind: 'create', states: ['begun'] } as const;

it('resolves its table again after a failure', async () => {
  const { sql, query } = opened([], Object.assign(new Error('57P01'), { code: '57P01' }));
  await expect(sql.owner(query, 'p')).rejects.toThrow('57P01');
  const { query: mended } = opened([['LEFT JOIN', [{ now: '1', replica: 'false', revision: null }]]]);
  expect(await sql.owner(mended, 'p')).toEqual({ row: undefined, now: 1 });
});

it('refuses a create that is not committed, and one of which it could not learn that, without the code', async () => {
  // That code would say that nothing was written.
  const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const cases: [SqlRow[] | Error, string][] = [
    [[{ status: 'in progress' }], 'released to the pool inside an open transaction'],
    [gone, 'connect ECONNREFUSED (after a write)'],
  ];
  for (const [answer, message] of cases) {
    const { sql, query } = opened([
      ['txid_status', answer],
      ['INSERT', [WRITTEN]],
      ['UPDATE', [WRITTEN]],
    ]);
    for (const revision of [0, 1]) {
      const error = (await errorOf(sql.write(query, { ...ROW, revision }))) as Error;
      expect(error.message).toContain(message);
      expect(error).not.toHaveProperty('code', 'ECONNREFUSED');
    }
  }
});

it('refuses the rows of a replica', async () => {
  const { sql, query } = opened([['LEFT JOIN', [{ now: '1', replica: 'true', revision: null }]]]);
  for (const reading of [
    sql.read(query, ROW),
    sql.owner(query, 'p'),
    sql.list(query, OPEN),
    sql.due({ query } as never, OPEN, 1, 1),
  ])
    await expect(reading).rejects.toThrow('The store was read from a replica: it needs the primary.');
});

it.each([
  ['renamed columns', [{ NOW: '1', OPEN: null, XID: '1', NAME: 'a' }]],
  ['no rows', []],
])('refuses %s', async (_, answer) => {
  const { sql, query } = opened([
    ['SELECT', answer],
    ['INSERT', answer],
    ['WITH', answer],
  ]);
  const unnamed = opened([], answer);
  for (const asking of [
    unnamed.sql.read(unnamed.query, ROW),
    sql.read(query, ROW),
    sql.list(query, OPEN),
    sql.writeIn(query, ROW),
    sql.begin(query, { id: 'payment', about: {}, reads: [] }),
  ])
    await expect(asking).rejects.toThrow('must return rows as objects');
});

it.each([
  ['committed', 'false', 'done'],
  ['committed', 'true', 'begun'],
  // A nested transaction that was rolled back.
  ['committed', null, undefined],
  ['aborted', 'false', undefined],
])('finds a mark whose transaction is %s: begun %s', async (status, begun, expected) => {
  const { sql, query } = opened([['txid_status', [{ status, begun }]]]);
  expect(await sql.find(query, { id: 'payment', xid: '77', revision: '1' })).toBe(expected);
});
