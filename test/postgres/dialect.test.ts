// What a store in Postgres makes of answers that a real server rarely gives.
import { expect, it } from 'vitest';
import { postgresDialect } from '../../src/postgres/dialect.ts';
import type { SqlDatabase, SqlQuery, SqlRow } from '../../src/sql/database.ts';
import { sqlStore } from '../../src/sql/store.ts';
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
  const database: SqlDatabase<object> = {
    ...{ dialect: 'postgres', query, queryIn: () => query },
    transaction: work => work({}),
  };
  return sqlStore(database, postgresDialect('rows'), { scope: 'eu' });
}

const ROW = newRow({ state: 'begun' });
const ROW_ANSWER = {
  ...{ scope: 'eu', kind: 'create', id: 'a', state: 'begun', revision: 3, begun_at: '1970-01-01T00:00:05+00:00' },
  ...{ due_at: null, leased_until: null, payment_id: null, data: {}, about: null, was: null, writer: '77' },
};
/** A line of an answer. */
const lineOf = (changes: object = {}): SqlRow => ({
  answer: JSON.stringify({ clock: '1970-01-01T00:00:05+00:00', replica: false, xid: null, row: null, ...changes }),
});
const LINE = lineOf({ xid: 77, row: ROW_ANSWER });
const OPEN = { kind: 'create', states: ['begun'] } as const;

it('resolves its table again after a failure', async () => {
  const names: (SqlRow[] | Error)[] = [[{ name: 'public.rows' }], Object.assign(new Error('gone'), { code: '57P01' })];
  const query: SqlQuery = async text => {
    const answer = text.includes('pg_identify_object') ? (names.pop() ?? []) : [lineOf()];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const store = sqlStore({ query } as SqlDatabase<object>, postgresDialect('rows'), { scope: 'eu' });
  await expect(store.owner('p')).rejects.toThrow('gone');
  expect(await store.owner('p')).toEqual({ row: undefined, now: 5000 });
});

it('refuses a create that is not committed, and one of which it could not learn that, without the code', async () => {
  // That code would say that nothing was written.
  const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const cases: [SqlRow[] | Error, string][] = [
    [[{ status: 'in progress' }], 'released to the pool inside an open transaction'],
    [gone, 'connect ECONNREFUSED (after a write)'],
  ];
  for (const [answer, message] of cases) {
    const store = opened([
      ['txid_status', answer],
      ['INSERT', [LINE]],
      ['UPDATE', [LINE]],
    ]);
    for (const revision of [0, 1]) {
      const error = (await errorOf(store.write({ ...ROW, revision }))) as Error;
      expect(error.message).toContain(message);
      expect(error).not.toHaveProperty('code', 'ECONNREFUSED');
    }
  }
});

it('refuses the rows of a replica', async () => {
  const store = opened([['pg_is_in_recovery', [lineOf({ replica: true })]]]);
  for (const reading of [store.read(ROW), store.owner('p'), store.list(OPEN), store.due(OPEN, 1, 1)])
    await expect(reading).rejects.toThrow('The store was read from a replica: it needs the primary.');
});

const EFFECT = { id: 'payment', about: {}, reads: [] };
const PAYMENT = newRow({ kind: 'payment', id: 'payment', state: 'done' });

it.each([
  ['renamed columns', [{ ANSWER: '{}', XID: '1', NAME: 'a' }]],
  ['no rows', []],
])('refuses %s', async (_, answer) => {
  const store = opened([
    ['SELECT', answer],
    ['INSERT', answer],
  ]);
  for (const asking of [
    opened([], answer).read(ROW),
    store.read(ROW),
    store.list(OPEN),
    store.write(ROW, {}),
    store.effect(EFFECT, async () => [PAYMENT]),
  ])
    await expect(asking).rejects.toThrow('must return an array of rows');
});

it.each<[string, object | null, string | undefined]>([
  ['done', { ...ROW_ANSWER, state: 'paid' }, undefined],
  ['begun', ROW_ANSWER, 'ended before your function returned'],
  ['rolled back', null, 'was rolled back'],
  ['rolled back, and another one ran', { ...ROW_ANSWER, writer: '78' }, 'was rolled back'],
  ['done, and another one ran after it', { ...ROW_ANSWER, writer: '78', revision: 4 }, undefined],
])('finds after the commit that an effect is %s', async (_, row, message) => {
  const mark = { ...ROW_ANSWER, kind: 'payment', id: 'payment', was: 'paid' };
  const begun = { answer: JSON.stringify({ mark, others: [] }) };
  const run = (line: SqlRow) =>
    opened([
      ['pg_try_advisory_xact_lock', [begun]],
      ['INSERT', [{ one: '1' }]],
      ['LEFT JOIN', [line]],
    ]).effect(EFFECT, async () => [PAYMENT]);
  if (message) await expect(run(lineOf({ row }))).rejects.toThrow(message);
  else expect(await run(lineOf({ row }))).toBe('done');
  await expect(run(LINE)).rejects.toThrow('inside an open transaction');
});
