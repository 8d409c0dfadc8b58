// What a store in Postgres makes of answers that a real server rarely gives.
import { expect, it } from 'vitest';
import { postgresDialect } from '../../src/postgres/dialect.ts';
import type { SqlQuery, SqlRow } from '../../src/sql/database.ts';
import { Rows } from '../../src/sql/rows.ts';
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
  return { query, sql: new Rows(postgresDialect('rows'), 'eu') };
}

const ROW = newRow({ state: 'begun' });
const CLOCK = { clock: '5000', replica: '0', open: '0' };
const LINE = {
  ...{ ...CLOCK, kind: 'create', id: 'a', state: 'begun', revision: '3', begun: '5000', data: '{}' },
  ...{ due: null, leased: null, payment: null, about: null, writer: '77', xid: '77' },
};
const OPEN = { kind: 'create', states: ['begun'] } as const;

it('resolves its table again after a failure', async () => {
  const { sql, query } = opened([], Object.assign(new Error('57P01'), { code: '57P01' }));
  await expect(sql.owner(query, 'p')).rejects.toThrow('57P01');
  const { query: mended } = opened([['LEFT JOIN', [{ ...CLOCK, revision: null }]]]);
  expect(await sql.owner(mended, 'p')).toEqual({ row: undefined, now: 5000 });
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
      ['INSERT', [LINE]],
      ['UPDATE', [LINE]],
    ]);
    for (const revision of [0, 1]) {
      const error = (await errorOf(sql.write(query, { ...ROW, revision }))) as Error;
      expect(error.message).toContain(message);
      expect(error).not.toHaveProperty('code', 'ECONNREFUSED');
    }
  }
});

it('refuses the rows of a replica', async () => {
  const { sql, query } = opened([['pg_is_in_recovery', [{ ...CLOCK, replica: '1', revision: null }]]]);
  const database = { queryIn: () => query, transaction: (work: (tx: object) => unknown) => work({}) };
  for (const reading of [
    sql.read(query, ROW),
    sql.owner(query, 'p'),
    sql.list(query, OPEN),
    sql.due(database as never, OPEN, 1, 1),
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

it.each<[string, object, string | undefined]>([
  ['done', { state: 'paid' }, 'done'],
  ['begun', {}, 'begun'],
  ['rolled back', { revision: null, writer: null }, undefined],
  ['rolled back, and another one ran', { writer: '78' }, undefined],
  ['done, and another one ran after it', { writer: '78', revision: '4' }, 'done'],
])('finds an effect that is %s', async (_, changes, expected) => {
  const { sql, query } = opened([['LEFT JOIN', [{ ...LINE, ...changes }]]]);
  expect(await sql.find(query, { id: 'payment', writer: '77', revision: 3 })).toBe(expected);
  const inside = opened([['LEFT JOIN', [{ ...LINE, open: '1' }]]]);
  await expect(inside.sql.find(inside.query, { id: 'payment', writer: '77', revision: 3 })).rejects.toThrow(
    'inside an open transaction',
  );
});
